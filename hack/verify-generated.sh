#!/usr/bin/env bash
# Regenerates into place, then fails if a generated file differs from what is committed (or staged).
set -euo pipefail
cd "$(dirname "$0")/.."

generated=(
	api/v1alpha1/applyconfiguration
	api/v1alpha1/zz_generated.deepcopy.go
	config/crd/bases
	config/rbac/role.yaml
	docs/reference/api.md
)

make --no-print-directory generate

stale=0
git diff --exit-code --stat -p -- "${generated[@]}" || stale=1
untracked=$(git ls-files --others --exclude-standard -- "${generated[@]}")
if [ -n "$untracked" ]; then
	printf 'not in git: %s\n' $untracked
	stale=1
fi
if [ "$stale" -ne 0 ]; then
	echo "verify: generated files are stale. They are up to date now: commit them with the change that they come from." >&2
	exit 1
fi
