# `make` lists the targets. Everything runs from this folder; what a target needs, it installs or builds first.

SHELL := bash
.DEFAULT_GOAL := help
GOFILES = $(shell git ls-files --cached --others --exclude-standard '*.go')
TESTFLAGS ?=
FUZZTIME ?= 20000x
BENCH ?= .
WORLDS ?= 20000
VULNDB ?= latest

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-8s %s\n", $$1, $$2 }'

.PHONY: test
test: prereqs ## every module's tests, real brokers included (TESTFLAGS=…)
	go test -timeout 20m $(TESTFLAGS) linger/...

.PHONY: check
check: fmt vet lint tidy unit ## format, vet, lint, the tree's own laws, unit tests

.PHONY: unit
unit: ## the tests that need nothing installed
	go test -short -timeout 5m $(TESTFLAGS) linger/...

.PHONY: race
race: prereqs ## the unit tests and the whole producer under the race detector, in random order
	go test -short -race -shuffle=on -timeout 15m $(TESTFLAGS) linger/...

.PHONY: broker
broker: prereqs ## only the tests against real Kafka brokers
	go test -count=1 -timeout 20m $(TESTFLAGS) linger/test/...

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME (20000x; or a time such as 1m)
	@tools/fuzz.sh $(FUZZTIME)

.PHONY: sim
sim: ## WORLDS (20000) simulated worlds; SEED=n replays one and prints its trace
	go test -count=1 -timeout 30m -run 'TestWorlds$$' -v $(TESTFLAGS) ./internal/sim $(if $(SEED),-seed=$(SEED),-worlds=$(WORLDS))

.PHONY: bench
bench: ## the benchmarks (BENCH=pattern)
	go test -run '^$$' -bench '$(BENCH)' -benchmem linger/...

.PHONY: fmt
fmt: ## fail if gofmt would change a file
	@out=$$(gofmt -l $(GOFILES)); if [ -n "$$out" ]; then printf 'gofmt would change:\n%s\n' "$$out"; exit 1; fi

.PHONY: vet
vet: ## go vet
	go vet linger/...

# Each module by itself: golangci-lint reads the go.mod of the folder it runs in.
.PHONY: lint
lint: bin/.built ## golangci-lint (.golangci.yml) in each module
	@tools/each.sh $(CURDIR)/bin/golangci-lint run ./...

.PHONY: tidy
tidy: ## the laws of the tree (internal/tidy)
	go test -count=1 ./internal/tidy

.PHONY: build
build: ## build everything, each module by itself: what users get has no workspace
	@tools/each.sh GOWORK=off go build ./...

.PHONY: docs
docs: ## run the generators: error table, typed options, docs/CONFIG.md
	go generate ./...

# The vulnerability database is a Go module too; without it govulncheck would ask a server. Not part of the gate: a new
# entry must not break yesterday's commit.
.PHONY: vuln
vuln: bin/.built ## govulncheck with the newest vulnerability database
	@db=$$(cd /tmp && GOWORK=off go mod download -json golang.org/x/vulndb@$(VULNDB) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p') && \
		tools/each.sh $(CURDIR)/bin/govulncheck -db "file://$$db/data/osv" ./...

.PHONY: prereqs
prereqs: ## install what the tests with real brokers need: Java, Maven, kcat, Kerberos, a C compiler
	@tools/prereqs.sh

# The tools of tools/go.mod, all at once: they share most of what they compile.
bin/.built: tools/go.mod tools/go.sum
	GOWORK=off go build -C tools -o ../bin/ tool
	@touch $@
