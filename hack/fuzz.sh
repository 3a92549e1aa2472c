#!/usr/bin/env bash
# Runs every fuzz target of the repository for a few seconds, from its seeds and from what earlier runs found. What makes
# one fail is written to the package's testdata/fuzz and, committed, is a test from then on.
#   FUZZTIME    seconds for each target; default 5
#   FUZZBUDGET  seconds for all of them, without compiling; each gets less if there are many. Default 60
set -euo pipefail
cd "$(dirname "$0")/.."

budget="${FUZZBUDGET:-60}"
# Found and not listed, so that none is forgotten.
mapfile -t targets < <(git ls-files -co --exclude-standard '*_test.go' |
	xargs -r grep -EHo '^func Fuzz[A-Za-z0-9_]*\(f \*testing\.F\)' | sed -E 's/:func (Fuzz[A-Za-z0-9_]*).*/ \1/' | sort)
declared=$(git ls-files -co --exclude-standard '*_test.go' | xargs -r cat | grep -c '^func Fuzz' || true)
if [ "${#targets[@]}" -eq 0 ] || [ "${#targets[@]}" -ne "$declared" ]; then
	echo "fuzz: ${#targets[@]} targets of $declared were understood: write func FuzzX(f *testing.F)" >&2
	exit 1
fi

seconds="${FUZZTIME:-5}"
seconds="${seconds%s}"
if [ $((seconds * ${#targets[@]})) -gt "$budget" ]; then
	seconds=$((budget / ${#targets[@]}))
	[ "$seconds" -ge 1 ] || seconds=1
fi

# fuzz runs one target. Go may report the end of the time as a failure; then nothing was found, and it is run again.
fuzz() {
	local folder=$1 name=$2 output
	for _ in 1 2 3; do
		if output=$(cd "$folder" && go test -run '^$' -fuzz "^$name\$" -fuzztime "${seconds}s" -fuzzminimizetime 20x . 2>&1); then
			grep -E '^fuzz: elapsed' <<<"$output" | tail -1
			return
		fi
		if grep -q 'Failing input' <<<"$output" || ! grep -q 'context deadline exceeded' <<<"$output"; then
			break
		fi
	done
	printf '%s\n' "$output"
	return 1
}

failed=0
for target in "${targets[@]}"; do
	file="${target% *}" name="${target##* }"
	echo "$name in $(dirname "$file") (${seconds} s)"
	fuzz "$(dirname "$file")" "$name" || failed=1
done
exit "$failed"
