#!/usr/bin/env bash
# Makes the Crystal shard with the C library in it:  shard.sh PARTS DESTINATION
#
# PARTS is a folder of build.py, with a folder per platform. The archive holds what the root of a shard's repository would.
set -euo pipefail
parts=$(realpath "$1")
mkdir -p "$2"
to=$(realpath "$2")
cd "$(dirname "$0")/.."
source release/pack.sh
version=$(sed -n 's/^version: //p' bindings/crystal/shard.yml)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=sealane-crystal-$version
mkdir -p "$work/$name/native"
git ls-files -z bindings/crystal/src bindings/crystal/examples bindings/crystal/README.md bindings/crystal/shard.yml |
	xargs -0 tar c --transform 's|^bindings/crystal/||' | tar x -C "$work/$name"
for platform in "$parts"/{many,musl}linux-*; do
	[ -d "$platform/c" ] || continue
	case $platform in */musl*) libc=musl ;; *) libc=gnu ;; esac
	cp "$platform/c/lib/libsealane.a" "$work/$name/native/${platform##*-}-linux-$libc.a"
done
cp LICENSE-APACHE LICENSE-MIT "$work/$name/"
cat >>"$work/$name/shard.yml" <<END

scripts:
  postinstall: sh postinstall.sh
END
cat >"$work/$name/postinstall.sh" <<'END'
# Fetches nothing: the static libraries are in the folder native. Another system hears it now and not at the first build.
case $(ldd --version 2>&1) in *musl*) libc=musl ;; *) libc=gnu ;; esac
system=$(uname -m)-$(uname -s | tr A-Z a-z)-$libc
if [ -f "native/$system.a" ]; then
	exec ln -sf "$system.a" native/libsealane.a
fi
echo "expected a library for $system in this shard, found $(cd native && echo *); build it in a clone with" \
	"'make -C bindings lib-c' and name its folder in SEALANE_LIB_DIR" >&2
[ -n "$SEALANE_LIB_DIR" ]
END
archive "$work" "$name" "$to/$name.tar.gz"
ls -l "$to/$name.tar.gz"
