#!/usr/bin/env bash
# Fails when a Go file that people wrote has more than 400 lines: it is then about more than one thing.
set -euo pipefail
cd "$(dirname "$0")/.."

limit=400
failed=0
while read -r file; do
	[ -f "$file" ] || continue
	if head -n 10 "$file" | grep -q '^// Code generated .* DO NOT EDIT\.$'; then
		continue
	fi
	lines=$(wc -l <"$file")
	if [ "$lines" -gt "$limit" ]; then
		echo "$file: $lines lines, more than $limit: split it by topic" >&2
		failed=1
	fi
done < <(git ls-files --cached --others --exclude-standard -- '*.go')
exit "$failed"
