#!/bin/sh
# Makes the Debian package of a program built by program.py:  deb.sh PROGRAM DESTINATION
set -eu
program=$(realpath "$1") out=$2
cd "$(dirname "$0")/.."
mkdir -p target/deb "$out"
for shell in bash zsh fish; do
	"$program" completions "$shell" >"target/deb/sealane.$shell"
done
"$program" man target/deb/man1
# Time stamps in the package are the commit's.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
# The program is TARGET/TRIPLE/release/sealane.
triple=$(dirname "$(dirname "$program")")
CARGO_TARGET_DIR=$(dirname "$triple")
export SOURCE_DATE_EPOCH CARGO_TARGET_DIR
PATH="$PWD/target/tools/bin:$PATH" cargo deb --quiet --no-build --target "$(basename "$triple")" --package sealane-cli \
	--output "$out/" >/dev/null
ls -l "$out"/sealane_*.deb
