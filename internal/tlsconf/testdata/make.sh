#!/usr/bin/env bash
# Makes the stores of this folder anew with the JDK's keytool and with openssl: what users really have. The tests know the
# passwords: "store-secret", and "key-secret" where a key has its own. Names say what is inside.
set -euo pipefail
cd "$(dirname "$0")"
rm -f -- *.p12 *.jks *.jceks *.pem *.key
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

kt() { keytool "$@" 2>/dev/null; }
pass=(-storepass store-secret)
days=(-validity 20000)
ec=(-keyalg EC -groupname secp256r1 -sigalg SHA256withECDSA)

kt -genkeypair -alias ca "${ec[@]}" "${days[@]}" -dname CN=authority -ext bc:c -keystore "$work/ca.p12" "${pass[@]}"
kt -exportcert -rfc -alias ca -keystore "$work/ca.p12" "${pass[@]}" >ca.pem

# signed ALIAS STORE TYPE [KEYPASS…]: a key whose certificate the authority has signed.
signed() {
	local alias=$1 store=$2 type=$3
	shift 3
	kt -genkeypair -alias "$alias" "${ec[@]}" "${days[@]}" -dname "CN=$alias" -keystore "$store" -storetype "$type" "${pass[@]}" "$@"
	kt -certreq -alias "$alias" -keystore "$store" "${pass[@]}" "$@" |
		kt -gencert -rfc -alias ca "${days[@]}" -keystore "$work/ca.p12" "${pass[@]}" >"$work/$alias.pem"
	cat "$work/$alias.pem" ca.pem >"$work/$alias-chain.pem"
	kt -importcert -noprompt -alias "$alias" -file "$work/$alias-chain.pem" -keystore "$store" "${pass[@]}" "$@"
}
trusting() { kt -importcert -noprompt -alias "$1" -file ca.pem -keystore "$2" -storetype "$3" "${pass[@]}" "${@:4}"; }

signed one client.p12 PKCS12
signed one client.jks JKS
signed one client-keypass.jks JKS -keypass key-secret
signed one two-keys.p12 PKCS12
signed two two-keys.p12 PKCS12
signed one two-keys.jks JKS
signed two two-keys.jks JKS
signed one client.jceks JCEKS
signed one client-legacy.p12 PKCS12 -J-Dkeystore.pkcs12.legacy
trusting ca trust.p12 PKCS12
trusting ca trust.jks JKS
trusting ca trust-legacy.p12 PKCS12 -J-Dkeystore.pkcs12.legacy
cp client.p12 both.p12 && trusting ca both.p12 PKCS12
cp client.jks both.jks && trusting ca both.jks JKS

openssl pkcs12 -in client.p12 -passin pass:store-secret -nodes -nocerts 2>/dev/null | openssl pkcs8 -topk8 -nocrypt -out client.key
openssl pkcs12 -in client.p12 -passin pass:store-secret -nokeys -out "$work/chain.pem" 2>/dev/null
{ sed -n '/BEGIN/,/END/p' "$work/chain.pem"; } >client.pem
openssl pkcs12 -export -inkey client.key -in client.pem -passout pass:store-secret -out openssl.p12
openssl pkcs12 -export -nokeys -in ca.pem -passout pass:store-secret -out openssl-nokeys.p12
enc() { openssl pkcs8 -topk8 -in client.key -passout pass:key-secret -out "$1" "${@:2}"; }
enc encrypted.key -v2 aes-256-cbc
enc encrypted-scrypt.key -scrypt
enc encrypted-3des.key -v2 des3
enc encrypted-pbes1.key -v1 PBE-SHA1-3DES
enc encrypted-des.key -v1 PBE-MD5-DES -provider legacy -provider default
openssl ec -in client.key -aes256 -passout pass:key-secret -out encrypted-old.key 2>/dev/null
openssl ec -in client.key -out sec1.key 2>/dev/null
