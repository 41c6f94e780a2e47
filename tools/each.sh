#!/usr/bin/env bash
# Runs a command in the folder of each module of the workspace that has packages, all of them even if one fails; fails if
# any did. With GOWORK=off in front of the command the module stands alone.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD failed=0

for module in $(go list -m -f '{{.Dir}}'); do
	cd "$module" || exit 1
	[ -n "$(go list ./... 2>/dev/null)" ] || continue
	echo "$(realpath --relative-to "$root" "$module"): $*"
	env "$@" || failed=1
done
exit $failed
