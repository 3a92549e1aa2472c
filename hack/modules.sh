#!/usr/bin/env bash
# Runs a command in the folder of every Go module of the repository, or of those under a folder or with Go code of ours;
# fails at the end if it failed in any of them.
#
#   hack/modules.sh [--under FOLDER] [--with-code] go mod tidy -diff
set -euo pipefail
cd "$(dirname "$0")/.."

under=.
with_code=false
while [ $# -gt 0 ]; do
	case "$1" in
	--under) under=$2 && shift 2 ;;
	--with-code) with_code=true && shift ;;
	*) break ;;
	esac
done

# has_code says whether a module has Go files of its own; some only pin the versions of tools.
has_code() {
	[ -n "$(cd "$1" && go list -e ./... 2>/dev/null)" ]
}

failed=()
while read -r file; do
	folder=$(dirname "$file")
	if $with_code && ! has_code "$folder"; then
		continue
	fi
	echo "module $folder" >&2
	if ! (cd "$folder" && "$@"); then
		failed+=("$folder")
	fi
done < <(git ls-files --cached --others --exclude-standard -- "$under" | grep -E '(^|/)go\.mod$' | grep -v '/testdata/')

if [ ${#failed[@]} -gt 0 ]; then
	echo "failed in: ${failed[*]}" >&2
	exit 1
fi
