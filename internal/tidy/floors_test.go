package tidy

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// floors is the house: a package may import packages of lower floors. The root package stands on top.
var floors = map[string]int{
	"internal/backoff": 0, "internal/charset": 0, "internal/clock": 0, "internal/inside": 0, "internal/invariant": 0, "internal/kerr": 0, "internal/metrics": 0,
	"internal/compress": 1, "internal/link": 1, "internal/logs": 1, "internal/wire": 1,
	"internal/config": 2, "internal/metadata": 2, "internal/partition": 2, "internal/record": 2,
	"internal/bufferpool": 3, "internal/oauth": 3, "internal/seal": 3, "internal/txn": 3,
	"internal/accumulator": 4, "internal/sasl": 4, "internal/tlsconf": 4,
	"internal/client": 5, "internal/transport": 5,
	"internal/deliver": 6, "internal/sender": 6,
	"internal/engine": 7,
	".":               8,
}

// beside are packages that stand beside the house: they may look into every room, and no room knows of them.
var beside = []string{"internal/faultdriver", "internal/sim", "internal/tidy", "internal/tlstest", "internal/telemetry", "internal/inspect", "lingertest"}

// sameFloor are the imports between neighbours that are meant, "from → to".
var sameFloor = []string{}

// floorLaw holds the imports of the root module's code, not of its tests, against the table.
func floorLaw(r tree) (complaints []string) {
	for _, name := range r.names(isCode, inRootModule(r)) {
		from := path.Dir(name)
		floor, known := floors[from]
		stands := slices.Contains(beside, from)
		if !known && !stands && strings.HasPrefix(from, "internal/") {
			complaints = append(complaints, name+": its package has no floor; give it one in internal/tidy/floors_test.go")
			continue
		}
		if !known {
			continue
		}
		for _, to := range r.siblings(name) {
			target, known := floors[to]
			switch {
			case !known:
				complaints = append(complaints, fmt.Sprintf("%s imports %s, which is no room of the house", name, to))
			case target > floor, target == floor && !slices.Contains(sameFloor, from+" → "+to):
				complaints = append(complaints, fmt.Sprintf("%s (floor %d) imports %s (floor %d)", name, floor, to, target))
			}
		}
	}
	return complaints
}

// siblings are the packages of the root module that a file imports, as folders.
func (r tree) siblings(name string) []string {
	var found []string
	for _, imported := range r.imports(name) {
		if imported == "linger" {
			found = append(found, ".")
		} else if rest, ok := strings.CutPrefix(imported, "linger/"); ok {
			found = append(found, rest)
		}
	}
	return found
}

func (r tree) imports(name string) []string {
	_, f := r.parse(name)
	var found []string
	for _, spec := range f.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			found = append(found, p)
		}
	}
	return found
}

// inRootModule is true for files that no nested go.mod claims.
func inRootModule(r tree) func(string) bool {
	nested := r.names(func(name string) bool { return path.Base(name) == "go.mod" && name != "go.mod" })
	return func(name string) bool {
		return !slices.ContainsFunc(nested, func(mod string) bool { return strings.HasPrefix(name, path.Dir(mod)+"/") })
	}
}

var floorPlants = []planted{
	{"one floor up", tree{"internal/record/a.go": "package record\nimport _ \"linger/internal/sender\"\n", "internal/sender/a.go": "package sender\nimport _ \"linger/internal/record\"\n"},
		[]string{"internal/record/a.go (floor 2) imports internal/sender (floor 6)"}},
	{"a neighbour", tree{"internal/sender/a.go": "package sender\nimport _ \"linger/internal/deliver\"\n"},
		[]string{"internal/sender/a.go (floor 6) imports internal/deliver (floor 6)"}},
	{"the root", tree{"internal/engine/a.go": "package engine\nimport _ \"linger\"\n"},
		[]string{"internal/engine/a.go (floor 7) imports . (floor 8)"}},
	{"what stands beside", tree{"a.go": "package linger\nimport _ \"linger/internal/sim\"\n", "internal/sim/a.go": "package sim\nimport _ \"linger/internal/sender\"\n"},
		[]string{"a.go imports internal/sim, which is no room of the house"}},
	{"a room without a floor", tree{"internal/attic/a.go": "package attic\n"},
		[]string{"internal/attic/a.go: its package has no floor; give it one in internal/tidy/floors_test.go"}},
	{"tests and nested modules are free", tree{
		"internal/wire/a_test.go": "package wire_test\nimport _ \"linger/internal/sim\"\n",
		"plugin/go.mod":           "module linger/plugin\n", "plugin/internal/x/a.go": "package x\nimport _ \"linger\"\n",
	}, nil},
}

// owners says which rooms may import a package; the key is the import path or, with a slash at its end, its beginning.
// What is missing here is free for all.
var owners = map[string][]string{
	"net":                               {"internal/transport", "internal/oauth", "."},                // the root names net.Conn in WithDialer
	"net/":                              {"internal/transport", "internal/oauth", "internal/tlstest"}, // the token endpoint speaks HTTP
	"crypto/tls":                        {"internal/transport", "internal/oauth", "internal/tlsconf", "internal/tlstest", "."},
	"github.com/klauspost/compress/":    {"internal/compress"},
	"github.com/pierrec/lz4/":           {"internal/compress"},
	"github.com/twmb/franz-go/pkg/kerr": {}, // our own error table is generated; theirs checks it in tests
}

// deciding rooms get everything as values: they hold no lock and read nothing from outside.
var (
	deciding  = []string{"internal/backoff", "internal/client", "internal/link", "internal/metadata", "internal/sender", "internal/txn", "internal/wire"}
	forDoings = []string{"context", "log/slog", "os", "runtime", "sync", "sync/atomic"}
)

func ownerLaw(r tree) (complaints []string) {
	for _, name := range r.names(inHouse) {
		room := path.Dir(name)
		for _, imported := range r.imports(name) {
			for _, key := range slices.Sorted(maps.Keys(owners)) {
				match := imported == key || strings.HasSuffix(key, "/") && strings.HasPrefix(imported, key)
				if match && !slices.Contains(owners[key], room) {
					complaints = append(complaints, fmt.Sprintf("%s imports %s, which belongs to %v", name, imported, owners[key]))
				}
			}
			if slices.Contains(deciding, room) && slices.Contains(forDoings, imported) {
				complaints = append(complaints, fmt.Sprintf("%s imports %s, and the room decides", name, imported))
			}
		}
	}
	return complaints
}

var ownerPlants = []planted{
	{"a socket in the sender", tree{"internal/sender/a.go": "package sender\nimport \"net\"\n", "internal/transport/a.go": "package transport\nimport (\n\"net\"\n\"net/netip\"\n)\n"},
		[]string{"internal/sender/a.go imports net, which belongs to [internal/transport internal/oauth .]"}},
	{"a web server in the root", tree{"a.go": "package linger\nimport \"net/http\"\n"},
		[]string{"a.go imports net/http, which belongs to [internal/transport internal/oauth internal/tlstest]"}},
	{"a codec in the record room", tree{"internal/record/a.go": "package record\nimport \"github.com/klauspost/compress/zstd\"\n"},
		[]string{"internal/record/a.go imports github.com/klauspost/compress/zstd, which belongs to [internal/compress]"}},
	{"a lock in a deciding room", tree{"internal/txn/a.go": "package txn\nimport \"sync\"\n", "internal/txn/a_test.go": "package txn\nimport \"sync\"\n", "internal/engine/a.go": "package engine\nimport \"sync\"\n"},
		[]string{"internal/txn/a.go imports sync, and the room decides"}},
}
