#!/usr/bin/env bash
# Runs every fuzz target of the workspace for a while, one after the other. An input that fails is written by go test into
# the package's testdata/fuzz, to be committed with the fix. The default counts executions: with a time, go test now and then
# reports its own deadline as a failure ("context deadline exceeded") on a busy machine.
set -euo pipefail
cd "$(dirname "$0")/.."
fuzztime=${1:-20000x} ran=0

while IFS=: read -r file line; do
	name=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/' <<<"$line")
	echo "fuzz $(dirname "$file") $name"
	(cd "$(dirname "$file")" && go test -run '^$' -fuzz "^$name\$" -fuzztime "$fuzztime" .)
	ran=$((ran + 1))
done < <(git grep --untracked -E '^func Fuzz[A-Za-z0-9_]*\(' -- '*_test.go')

echo "$ran fuzz targets ran for $fuzztime each"
[ "$ran" -gt 0 ]
