#!/usr/bin/env bash
# Makes the Crystal shard with the C library in it:  shard.sh LIBRARY DESTINATION
#
# LIBRARY is a folder that bindings/c/link.sh has made. The archive holds what the root of a shard's repository would.
set -euo pipefail
library=$(realpath "$1")
mkdir -p "$2"
to=$(realpath "$2")
cd "$(dirname "$0")/.."
source release/pack.sh
version=$(sed -n 's/^version: //p' bindings/crystal/shard.yml)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=sealane-crystal-$version-linux-$(uname -m)
mkdir -p "$work/$name/native"
git ls-files -z bindings/crystal/src bindings/crystal/examples bindings/crystal/README.md bindings/crystal/shard.yml |
	xargs -0 tar c --transform 's|^bindings/crystal/||' | tar x -C "$work/$name"
cp "$library/lib/libsealane.a" "$work/$name/native/"
cp LICENSE-APACHE LICENSE-MIT "$work/$name/"
cat >>"$work/$name/shard.yml" <<END

scripts:
  postinstall: sh postinstall.sh
END
cat >"$work/$name/postinstall.sh" <<END
# Fetches nothing: the static library is in the folder native. Another system hears it now and not at the first build.
if [ "\$(uname -sm)" = "Linux $(uname -m)" ] && ldd --version 2>&1 | grep -qi "glibc\|gnu libc"; then
	exit 0
fi
echo "this shard holds the library for Linux with glibc on $(uname -m), found \$(uname -sm); build it in a clone with" \\
	"'make -C bindings lib-c' and name its folder in SEALANE_LIB_DIR" >&2
[ -n "\$SEALANE_LIB_DIR" ]
END
archive "$work" "$name" "$to/$name.tar.gz"
ls -l "$to/$name.tar.gz"
