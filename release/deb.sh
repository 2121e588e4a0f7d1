#!/bin/sh
# Makes the Debian package of the program in a folder of build.py:  deb.sh FOLDER DESTINATION
#
# The program for another processor runs emulated, so it needs qemu-user-static and the C library that Debian cross-builds with.
set -eu
machine=${1##*-} program=$(realpath "$1")/sealane out=$2 emulator=
if [ "$machine" != "$(uname -m)" ]; then
	emulator=qemu-$machine-static
	export QEMU_LD_PREFIX="/usr/$machine-linux-gnu"
fi
cd "$(dirname "$0")/.."
mkdir -p target/deb "$out"
for shell in bash zsh fish; do
	$emulator "$program" completions "$shell" >"target/deb/sealane.$shell"
done
$emulator "$program" man target/deb/man1
# Time stamps in the package are the commit's.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
# cargo-deb takes the program from here.
CARGO_TARGET_DIR=$PWD/target/deb/target
triple=$machine-unknown-linux-gnu
mkdir -p "$CARGO_TARGET_DIR/$triple/release"
cp "$program" "$CARGO_TARGET_DIR/$triple/release/"
export SOURCE_DATE_EPOCH CARGO_TARGET_DIR
PATH="$PWD/target/tools/bin:$PATH" cargo deb --quiet --no-build --target "$triple" --package sealane-cli \
	--output "$out/" >/dev/null
ls -l "$out"/sealane_*.deb
