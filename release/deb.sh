#!/bin/sh
# Makes the Debian package of a program that was built:  deb.sh PROGRAM DESTINATION
set -eu
program=$(realpath "$1") out=$2
cd "$(dirname "$0")/.."
mkdir -p target/deb "$out"
for shell in bash zsh fish; do
	"$program" completions "$shell" >"target/deb/sealane.$shell"
done
"$program" man target/deb/man1
# The time stamps in the package are those of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
PATH="$PWD/target/tools/bin:$PATH" cargo deb --quiet --no-build --package sealane-cli --output "$out/" >/dev/null
ls -l "$out"/sealane_*.deb
