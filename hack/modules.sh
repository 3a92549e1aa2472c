#!/usr/bin/env bash
# Runs a command in the folder of every Go module of the repository; fails at the end if it failed in any of them.
#
#   hack/modules.sh go mod tidy -diff
set -euo pipefail
cd "$(dirname "$0")/.."

failed=()
while read -r file; do
	folder=$(dirname "$file")
	echo "$folder: $*" >&2
	if ! (cd "$folder" && "$@"); then
		failed+=("$folder")
	fi
done < <(git ls-files --cached --others --exclude-standard -- go.mod '*/go.mod' | grep -v '/testdata/')

if [ ${#failed[@]} -gt 0 ]; then
	echo "failed in: ${failed[*]}" >&2
	exit 1
fi
