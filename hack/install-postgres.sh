#!/usr/bin/env bash
# Installs Debian's Postgres if the machine has none. Tests and the demo start their own servers from it; the package's
# own cluster is neither made nor started.
set -euo pipefail

if compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; then
	exit 0
fi

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		env "$@"
	else
		sudo -n env "$@"
	fi
}

if ! command -v apt-get >/dev/null; then
	echo "install-postgres: no Postgres under /usr/lib/postgresql, and this is not Debian: put Postgres 15 or later there" >&2
	exit 1
fi

echo "install-postgres: installing Debian's postgresql" >&2
as_root mkdir -p /etc/postgresql-common/createcluster.d
echo "create_main_cluster = false" | as_root tee /etc/postgresql-common/createcluster.d/hookonce.conf >/dev/null

for attempt in 1 2 3; do
	if as_root apt-get update -qq >&2 &&
		as_root DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >&2; then
		exit 0
	fi
	echo "install-postgres: attempt $attempt failed" >&2
	sleep $((attempt * 5))
done
echo "install-postgres: apt-get cannot install postgresql; install it by hand" >&2
exit 1
