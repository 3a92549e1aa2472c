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

case "${1:-}" in
fmt)
	hack/modules.sh --with-code "$linter" fmt --config "$root/.golangci.yml" ./...
	;;
run)
	shift
	failed=0
	hack/modules.sh --with-code "$linter" run --config "$root/.golangci.yml" "$@" ./... || failed=1
	# The API has a second configuration: kube-api-linter's rules are about nothing else.
	echo "api: kube-api-linter" >&2
	"$linter" run --config "$root/.golangci-kal.yml" "$@" ./api/... || failed=1
	exit "$failed"
	;;
*)
	echo "usage: hack/lint.sh run [arguments] | fmt" >&2
	exit 2
	;;
esac
