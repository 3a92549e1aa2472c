#!/usr/bin/env bash
# Runs the project's golangci-lint (hack/lint) over every module with Go code of our own.
#
#   hack/lint.sh run [arguments]      check
#   hack/lint.sh fmt                  format
#
# The binary is built once per version and user: its name is the digest of what it is built from.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

digest=$({ go version; cat hack/lint/go.mod hack/lint/go.sum hack/lint/main.go; } | sha256sum | cut -c1-16)
linter="${XDG_CACHE_HOME:-${HOME:?}/.cache}/hookonce/lint/golangci-lint-$digest"
if [ ! -x "$linter" ]; then
	echo "lint: building golangci-lint (about a minute, once)" >&2
	mkdir -p "$(dirname "$linter")"
	CGO_ENABLED=0 go build -C hack/lint -trimpath -o "$linter.$$" .
	mv "$linter.$$" "$linter"
fi

# The API has a second configuration: kube-api-linter's rules are about nothing else.
modules=(. hack/cluster hack/lint)
case "${1:-}" in
fmt)
	for module in "${modules[@]}"; do
		(cd "$module" && "$linter" fmt --config "$root/.golangci.yml" ./...)
	done
	;;
run)
	shift
	failed=0
	for module in "${modules[@]}"; do
		echo "lint: module $module" >&2
		(cd "$module" && "$linter" run --config "$root/.golangci.yml" "$@" ./...) || failed=1
	done
	echo "lint: the API's own rules" >&2
	"$linter" run --config "$root/.golangci-kal.yml" "$@" ./api/... || failed=1
	exit "$failed"
	;;
*)
	echo "usage: hack/lint.sh run [arguments] | fmt" >&2
	exit 2
	;;
esac
