#!/usr/bin/env bash
# Makes the archives and the Debian packages of the C library:  c_package.sh PARTS DESTINATION
#
# PARTS is a folder of build.py, with a folder per platform.
set -euo pipefail
parts=$(realpath "$1")
mkdir -p "$2"
to=$(realpath "$2")
cd "$(dirname "$0")/.."
source release/pack.sh
value() { sed -n "s/^$1 = \"\(.*\)\"/\1/p" "$2" | head -1; }
version=$(value version Cargo.toml)
maintainer=$(value maintainer cli/Cargo.toml)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Time stamps are the commit's.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

for platform in "$parts"/{many,musl}linux-*; do
	library=$platform/c
	[ -d "$library" ] || continue
	machine=${platform##*-}
	case $platform in */musl*) libc=-musl ;; *) libc= ;; esac
	name=sealane-c-$version-linux-$machine$libc
	mkdir "$work/$name"
	cp -r "$library/include" "$library/lib" "$work/$name/"
	cp LICENSE-APACHE LICENSE-MIT bindings/c/README.md "$work/$name/"
	system="Linux $machine ${libc:+musl}"
	sed "s/@SYSTEM@/${system% }/" >"$work/$name/Makefile" <<'END'
# Nothing is compiled: `make install` copies. PREFIX and DESTDIR as usual; the pkg-config file finds its own place.
PREFIX ?= /usr/local
SYSTEM := $(shell uname -sm)$(if $(findstring musl,$(shell ldd --version 2>&1)), musl)
install:
ifneq ($(SYSTEM),@SYSTEM@)
	$(if $(ANY),,$(error this library is for "@SYSTEM@", found "$(SYSTEM)"; take the archive for it, or add ANY=1 to prepare another machine))
endif
	mkdir -p $(DESTDIR)$(PREFIX)
	cp -R include lib $(DESTDIR)$(PREFIX)/
.PHONY: install
END
	archive "$work" "$name" "$to/$name.tar.gz"

	ls -l "$to/$name.tar.gz"
	[ -z "$libc" ] || continue # Debian has glibc

	deb=$work/deb
	rm -rf "$deb"
	case $machine in x86_64) architecture=amd64 ;; *) architecture=arm64 ;; esac
	mkdir -p "$deb/DEBIAN" "$deb/usr/lib/$machine-linux-gnu" "$deb/usr/share/doc/libsealane-dev"
	cp -r "$library/include" "$deb/usr/"
	cp -r "$library/lib/." "$deb/usr/lib/$machine-linux-gnu/"
	# The folder of libraries is one deeper than in the archive.
	sed -i -e 's|^prefix=.*|prefix=/usr|' -e "s|/lib |/lib/$machine-linux-gnu |" "$deb/usr/lib/$machine-linux-gnu/pkgconfig/sealane.pc"
	cat LICENSE-MIT LICENSE-APACHE >"$deb/usr/share/doc/libsealane-dev/copyright"
	cat >"$deb/DEBIAN/control" <<END
Package: libsealane-dev
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Section: libdevel
Priority: optional
Depends: libc6 (>= 2.28)
Installed-Size: $(du -sk "$deb/usr" | cut -f1)
Description: authenticated encryption of messages, files and streams
 The C library of sealane: header, static and shared library, and the file for
 pkg-config.
END
	printf '#!/bin/sh\nset -e\nldconfig\n' | tee "$deb/DEBIAN/postinst" >"$deb/DEBIAN/postrm"
	chmod 755 "$deb/DEBIAN/postinst" "$deb/DEBIAN/postrm"
	dpkg-deb --root-owner-group --build "$deb" "$to" >/dev/null
	ls -l "$to/libsealane-dev_$version-1_$architecture.deb"
done
