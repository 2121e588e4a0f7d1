#!/usr/bin/env bash
# Uses the C library from its archive, and from its Debian package if there is one:  test_c_package.sh ARCHIVE [PACKAGE]
#
# Both are unpacked in empty folders. Nothing of the repository is used. An archive for musl is used with musl-gcc.
set -euo pipefail
archive=$(realpath "$1") package=${2+$(realpath "$2")}
# The unwinder of Debian's GCC wants a function of glibc, and does without what it finds. A GCC for musl has an unwinder for musl.
case $archive in *-musl.tar.gz) cc=musl-gcc unwinder="-static shim.c -lgcc_eh" ;; *) cc=cc unwinder=-lgcc_s ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >message.c <<'END'
#include <sealane.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    unsigned char key[32] = {0}, sealed[100], opened[100];
    sealane_error error;
    sealane_aead *aead = sealane_aead_new("aes-256-gcm", key, 32, NULL, &error);
    int64_t len = sealane_aead_seal(aead, (const unsigned char *)"hello", 5, NULL, 0, sealed, sizeof sealed, &error);
    len = sealane_aead_open(aead, sealed, len, NULL, 0, opened, sizeof opened, &error);
    sealane_aead_free(aead);
    puts(len == 5 && memcmp(opened, "hello", 5) == 0 ? "opened" : (const char *)error.text);
    return 0;
}
END
echo 'int _dl_find_object(void *address, void *result) { return -1; }' >shim.c
use() { # use FOLDER OF LIBRARIES, FLAGS OF PKG-CONFIG
	export PKG_CONFIG_PATH=$1/pkgconfig
	shift
	# shellcheck disable=SC2046 # one word for each flag
	$cc message.c $(pkg-config "$@" --cflags --libs sealane) -o shared
	test "$(LD_LIBRARY_PATH=${PKG_CONFIG_PATH%/pkgconfig} ./shared)" = opened
	# shellcheck disable=SC2046,SC2086
	$cc message.c $(pkg-config "$@" --cflags sealane) "${PKG_CONFIG_PATH%/pkgconfig}/libsealane.a" $unwinder -lm -lpthread -ldl -o static
	test "$(./static)" = opened
}
tar xf "$archive"
install=(make --silent -C "$(basename "$archive" .tar.gz)" install DESTDIR="$work/root" PREFIX=/opt/sealane)
# Another system hears it while it installs.
if "${install[@]}" SYSTEM="Linux riscv64" 2>refused; then echo "test_c_package: installed on another system" >&2 && exit 1; fi
grep --quiet 'found "Linux riscv64"' refused || { cat refused >&2; exit 1; }
if [ $cc = musl-gcc ]; then install+=(ANY=1); fi # in a system with glibc
"${install[@]}"
use "$work/root/opt/sealane/lib"
if [ -n "$package" ]; then
	dpkg-deb --extract "$package" "$work/system"
	use "$(dirname "$(find "$work/system" -name libsealane.a)")" --define-variable=prefix="$work/system/usr"
	# The package depends on the library that it really needs.
	stated=$(dpkg-deb --field "$package" Depends | sed -n 's/.*libc6 (>= \(.*\)).*/\1/p')
	needed=$(objdump -T "$(find "$work/system" -name 'libsealane.so.*')" | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -V | tail -1)
	if [ "$(printf '%s\n' "$stated" "$needed" | sort -V | tail -1)" != "$stated" ]; then
		echo "test_c_package: the package depends on glibc $stated, but its library needs $needed" >&2
		exit 1
	fi
fi
echo "test_c_package: the library works from $(basename "$archive")${package:+ and $(basename "$package"), which needs glibc ${needed-}}"
