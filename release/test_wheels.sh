#!/bin/sh
# Tests the wheels in dist/ with test_wheel.sh, each in an interpreter for its platform; by default
# all four:
#     test_wheels.sh [PLATFORM...]
# manylinux-x86_64     PYTHON of this machine
# musllinux-x86_64     a CPython 3.13 that python.sh builds in target/python-musl-x86_64; needs the
#                      package musl
# manylinux-aarch64    the CPython of a new Debian 12 for arm64 in target/debian-arm64, emulated by
#                      QEMU; needs root, debootstrap and qemu-user-static
# musllinux-aarch64    a CPython 3.13 that python.sh builds for the same system
set -eu
cd "$(dirname "$0")/.."
arm64=target/debian-arm64 here=target/python-musl-x86_64 there=target/python-musl-aarch64

need() { # need FILE PACKAGE
	test -e "$1" || { echo "test_wheels: $platform needs the package $2" >&2 && exit 1; }
}

build_debian() {
	need /usr/sbin/debootstrap debootstrap
	need /usr/bin/qemu-aarch64-static qemu-user-static
	# The kernel starts the emulator for the system's programs; the system itself does not contain it.
	registered=/proc/sys/fs/binfmt_misc
	test -e $registered/register || mount -t binfmt_misc none $registered
	test -e $registered/qemu-aarch64 || cat /usr/lib/binfmt.d/qemu-aarch64.conf >$registered/register
	test -e $arm64/complete && return
	rm -rf $arm64
	debootstrap --arch=arm64 --variant=minbase --include=musl,python3,python3-venv bookworm $arm64
	touch $arm64/complete
}

in_debian() { # in_debian WHEEL PYTHON: with a copy of the files that test_wheel.sh needs
	rm -rf $arm64/sealane
	mkdir -p $arm64/sealane/release $arm64/sealane/vectors $arm64/sealane/tests
	cp README.md "$1" $arm64/sealane/
	cp release/test_wheel.sh release/installed.py $arm64/sealane/release/
	cp vectors/lines.txt $arm64/sealane/vectors/
	cp -r tests/golden $arm64/sealane/tests/
	chroot $arm64 /sealane/release/test_wheel.sh "/sealane/$(basename "$1")" "$2"
}

build_musl() { # build_musl PROCESSOR FOLDER [PYTHON]
	processor=$1 folder=$2
	shift 2
	test -x "$folder/bin/python3" || release/python.sh "$processor-linux-musl" "$folder" "$@"
}

if [ $# -eq 0 ]; then set -- manylinux-x86_64 musllinux-x86_64 manylinux-aarch64 musllinux-aarch64; fi
for platform; do
	case $platform in
	manylinux-x86_64) release/test_wheel.sh dist/sealane-*-manylinux_2_28_x86_64.whl "${PYTHON:-python3}" ;;
	musllinux-x86_64)
		need /lib/ld-musl-x86_64.so.1 musl
		build_musl x86_64 $here
		release/test_wheel.sh dist/sealane-*-musllinux_1_2_x86_64.whl $here/bin/python3
		;;
	manylinux-aarch64)
		build_debian
		in_debian dist/sealane-*-manylinux_2_28_aarch64.whl python3
		;;
	musllinux-aarch64)
		build_debian
		build_musl x86_64 $here
		build_musl aarch64 $there $here/bin/python3
		rm -rf $arm64/opt/python-musl
		cp -r $there $arm64/opt/python-musl
		in_debian dist/sealane-*-musllinux_1_2_aarch64.whl /opt/python-musl/bin/python3
		;;
	*) echo "test_wheels: expected a platform of wheels.py, found $platform" >&2 && exit 2 ;;
	esac
done
