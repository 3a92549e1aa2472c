#!/usr/bin/env bash
# Fails if a kustomization does not build, or if the operator is not told the image that it runs from.
set -euo pipefail
cd "$(dirname "$0")/.."

build() { go tool -modfile=hack/tools/go.mod kustomize build "$1"; }

build config/samples >/dev/null
images=$(build config/default | grep -A1 -E '^ +(- )?(image: |- name: RECEIVER_IMAGE)' | grep -oE '(image|value): .*' | cut -d' ' -f2 | sort -u)
if [ "$(wc -l <<<"$images")" -ne 1 ]; then
	echo "verify: RECEIVER_IMAGE in config/default is not the operator's image:" $images >&2
	exit 1
fi
