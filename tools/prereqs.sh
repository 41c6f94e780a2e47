#!/usr/bin/env bash
# Installs what the tests need and a bare machine may lack. As root on Debian and its kin it installs; elsewhere it says
# exactly what is missing and fails. Where everything is there it does nothing.
set -euo pipefail

missing=() packages=()
need() { # command, Debian package, why
	if ! command -v "$1" >/dev/null; then
		missing+=("$1 (Debian: $2): $3")
		packages+=("$2")
	fi
}

java_home_or_path() { if [ -n "${JAVA_HOME:-}" ]; then echo "$JAVA_HOME/bin/java"; else echo java; fi; }

need "$(java_home_or_path)" default-jre-headless "Java 17 or newer runs the real Kafka brokers"
need mvn maven "Maven brings Apache Kafka"
need kcat kcat "kcat reads back what the producer wrote"
PATH=$PATH:/usr/sbin:/usr/local/sbin # where Debian keeps Kerberos' servers, and a user's PATH may not look
need krb5kdc krb5-kdc "the tests of GSSAPI start a Kerberos KDC of their own"
need kadmin.local krb5-admin-server "it gives that KDC its principals"
need kinit krb5-user "it gets the ticket that a producer takes from a cache"
need make make "the targets of the Makefile"
need gcc gcc "the race detector needs a C compiler"

[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
	echo "installing: ${packages[*]}"
	export DEBIAN_FRONTEND=noninteractive
	[[ " ${packages[*]} " == *" gcc "* ]] && packages+=(libc6-dev)
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
	exit 0
fi

echo "The tests with real brokers need programs that are not on this machine:" >&2
printf '  %s\n' "${missing[@]}" >&2
echo "Install them, or run \`make unit\`, which leaves real brokers out." >&2
exit 1
