#!/usr/bin/env bash
# Builds the tests of the crates and of the program for Windows, and runs them under Wine without a display.
# Usage: tests/windows/run.sh [ARGUMENT of cargo test]...
set -euo pipefail
cd "$(dirname "$0")/../.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
wine=$(command -v wine64 || ls /usr/lib/wine/wine64) || { echo "test-windows needs wine64" >&2; exit 1; }
wineserver=$(command -v wineserver || ls "$(dirname "$wine")/wineserver") || { echo "test-windows needs wineserver" >&2; exit 1; }
# Drive C: with the temporary folder of the tests. mscoree and mshtml would ask to be installed.
export WINEPREFIX=$target/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml,winemenubuilder.exe=" DISPLAY=
export WINESERVER=$wineserver LC_ALL=C.UTF-8
mkdir -p "$WINEPREFIX"

log=$WINEPREFIX/tests.log
# One server for all programs, which would otherwise start anew for each. It has to be the first: a run that was killed leaves one.
"$wineserver" --kill || true
"$wineserver" --persistent
trap '"$wineserver" --kill' EXIT
"$wine" wineboot --init >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
system=$WINEPREFIX/drive_c/windows/system32
[ -e "$system/bcryptprimitives.dll" ] ||
	x86_64-w64-mingw32-gcc -O2 -shared -o "$system/bcryptprimitives.dll" tests/windows/bcryptprimitives.c -ladvapi32

export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=$wine
packages=(-p sealane-kernels -p sealane-providers -p sealane-base -p sealane-messages -p sealane-engine -p sealane-keys -p sealane-files
	-p sealane-folders -p sealane -p sealane-cli)
status=0
cargo test --locked --target x86_64-pc-windows-gnu "${packages[@]}" --lib --bins --tests --no-fail-fast "$@" 2>&1 | tee "$log" || status=$?
awk '
	/^ +Running / { program = $NF }
	/^test result: / { passed += $4; failed += $6; ignored += $8; print "== " program ": " $4 " passed, " $6 " failed" }
	/^NOT RUN: / { print "== " $0 }
	END { print "== Windows: " passed + failed " tests ran, " failed " failed, " ignored " ignored" }
' "$log"
exit "$status"
