#!/usr/bin/env bash
# Fails if a kustomization does not build.
set -euo pipefail
cd "$(dirname "$0")/.."

build() { go tool -modfile=hack/tools/go.mod kustomize build "$1"; }

build config/samples >/dev/null
build config/default >/dev/null
