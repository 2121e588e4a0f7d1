#!/bin/sh
# Tests the wheels in dist/ with test_wheel.sh, each in a new Debian 12 for its processor; by default all four:
#     test_wheels.sh [PLATFORM...]
# Those for musl run in a CPython 3.13 that python.sh builds in target/python-musl-...; this needs the package musl. Needs what
# fresh.sh needs.
set -eu
cd "$(dirname "$0")/../.."
here=$(uname -m)
given=$(mktemp -d)
trap 'rm -rf "$given"' EXIT
mkdir -p "$given/sealane/release/tests" "$given/sealane/vectors" "$given/sealane/tests"
cp README.md "$given/sealane/"
cp release/tests/installed.py "$given/sealane/release/tests/"
cp vectors/lines.txt "$given/sealane/vectors/"
cp -r tests/golden "$given/sealane/tests/"

build_musl() { # build_musl PROCESSOR [PYTHON]
	processor=$1
	shift
	test -x "target/python-musl-$processor/bin/python3" || release/python.sh "$processor-linux-musl" "target/python-musl-$processor" "$@"
}

if [ $# -eq 0 ]; then set -- manylinux-x86_64 musllinux-x86_64 manylinux-aarch64 musllinux-aarch64; fi
for platform; do
	machine=${platform#*-}
	case $machine in x86_64) system=bookworm-amd64 ;; *) system=bookworm-arm64 ;; esac
	case $platform in
	manylinux-*) release/fresh.sh $system "python3 python3-venv" release/tests/test_wheel.sh dist/sealane-*-manylinux_2_28_"$machine".whl "$given/sealane" ;;
	musllinux-*)
		build_musl "$here"
		[ "$machine" = "$here" ] || build_musl "$machine" "target/python-musl-$here/bin/python3"
		PYTHON=/given/python-musl-$machine/bin/python3 release/fresh.sh $system musl release/tests/test_wheel.sh \
			dist/sealane-*-musllinux_1_2_"$machine".whl "$given/sealane" "target/python-musl-$machine"
		;;
	*) echo "test_wheels: expected a platform of wheels.py, found $platform" >&2 && exit 2 ;;
	esac
done
