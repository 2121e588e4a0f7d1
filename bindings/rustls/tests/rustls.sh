#!/usr/bin/env bash
# Runs the tests of rustls itself with the cipher suites of sealane: those of its crate, and BoGo, the TLS tests of BoringSSL.
# usage: rustls.sh CHECKOUT
#
# CHECKOUT is a checkout of the repository of rustls. It is copied, and the copy is changed: its tests and the program that
# BoGo calls take their provider from `with_sealane`. Needs perl, and for BoGo also Go, git and cpp. The scripts of rustls fetch it from GitHub,
# unless CHECKOUT/bogo/bogo contains it.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
copy=$root/target/rustls/source
unset CARGO_TARGET_DIR # BoGo expects the program in the target folder of the copy

rm -rf "$copy"
mkdir -p "$copy" "$root/target/rustls/target"
tar -C "$1" --exclude=./target --exclude=./.git -c . | tar -C "$copy" -x
ln -s "$root/target/rustls/target" "$copy/target"
cd "$copy"

replace() { # replace FILE OLD NEW: exactly one line
	[ "$(grep -cF -- "$2" "$1")" = 1 ] || { echo "expected one line with '$2' in $1 of rustls" >&2; exit 1; }
	OLD=$2 NEW=$3 perl -pi -e 's/\Q$ENV{OLD}\E/$ENV{NEW}/' "$1"
}
# Between releases, the repository has the number of the last release or an older one.
needed=$(grep -A1 '^name = "rustls"$' "$root/Cargo.lock" | sed -n 's/version = "\(.*\)"/\1/p')
perl -pi -e "s/^version = .*/version = \"$needed\"/" rustls/Cargo.toml
cargo add --quiet --package rustls --dev --path "$root/bindings/rustls" sealane-rustls
cargo add --quiet --package bogo --path "$root/bindings/rustls" sealane-rustls
printf '\n[profile.dev.package.sealane-kernels]\nopt-level = 1\ndebug = false\n' >>Cargo.toml

sealane='sealane_rustls::with_sealane(rustls::crypto::ring::default_provider()).unwrap()'
replace rustls/tests/runners/macros.rs 'use rustls::crypto::ring as provider;' "mod provider {
            pub use rustls::crypto::ring::*;
            pub fn default_provider() -> rustls::crypto::CryptoProvider {
                $sealane
            }
        }"
replace bogo/src/main.rs 'Self::Ring => ring::default_provider(),' "Self::Ring => $sealane,"

cargo test -p rustls --features ring --no-fail-fast --test api --test api_ffdhe --test unbuffered \
	--test client_cert_verifier --test server_cert_verifier
log=$root/target/rustls/bogo.log
(cd bogo && BOGO_SHIM_PROVIDER=ring ./runme) >"$log" 2>&1 || { tail -n 50 "$log"; exit 1; }
echo "BoGo: $(grep -c '^PASSED' "$log") tests passed, $(grep -c '^FAILED' "$log" || true) failed," \
	"$(grep -c '^UNIMPLEMENTED' "$log" || true) are of what rustls does not have"
