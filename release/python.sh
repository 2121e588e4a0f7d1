#!/bin/sh
# Builds a CPython 3.13 for musl, for tests of wheels, from the sources of Debian 13; Debian 12 has an older zlib:
#     python.sh FOLDER
# The interpreter is FOLDER/bin/python3. Needs apt-get, a C compiler, make, and for musl the package musl-tools.
set -eu
mkdir -p "$1"
folder=$(realpath "$1") work=$(realpath "$1")/work
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/build"
cd "$work"

# The server and the keys of the system, with lists of their own: the configuration of the system does not change.
server=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/$')
keys=/usr/share/keyrings/debian-archive-keyring.gpg
for suite in trixie bookworm; do echo "deb-src [signed-by=$keys] $server $suite main"; done >sources.list
cat >apt.conf <<END
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "-";
Dir::State "$work/state";
Dir::Cache "$work/cache";
APT::Sandbox::User "root";
END
export APT_CONFIG="$work/apt.conf"
apt-get update -q
apt-get source -q --download-only python3.13/trixie zlib/bookworm
tar xf python3.13_*.orig.tar.xz
tar xf zlib_*.orig.tar.bz2

# The headers of the kernel, without those of the other C library.
mkdir -p headers
for name in linux asm-generic mtd; do ln -sfn "/usr/include/$name" "headers/$name"; done
ln -sfn "/usr/include/$(uname -m)-linux-gnu/asm" headers/asm
# musl-gcc names the other C library as its platform.
printf '#!/bin/sh\ncase "$*" in *--print-multiarch*) echo %s-linux-musl; exit ;; esac\nexec musl-gcc "$@"\n' "$(uname -m)" >cc
chmod +x cc
(cd zlib-* && CC=musl-gcc CFLAGS="-O1 -fPIC" ./configure --static --prefix="$work/zlib" && make -s install) >/dev/null
# OpenSSL and the other libraries of the system are not built for musl, and not needed.
export PKG_CONFIG=false
off=
for name in bz2 lzma ctypes ctypes_test curses curses_panel dbm gdbm hashlib sqlite3 ssl tkinter uuid; do
	off="$off py_cv_module__$name=n/a"
done
cd build
# shellcheck disable=SC2086 # one word for each module
../Python-3.13*/configure -q --build="$(uname -m)-linux-musl" --prefix="$folder" --without-doc-strings --disable-test-modules \
	CC="$work/cc" CPPFLAGS="-idirafter $work/headers" OPT="-DNDEBUG -O1" \
	ZLIB_CFLAGS="-I$work/zlib/include" ZLIB_LIBS="-L$work/zlib/lib -lz" \
	py_cv_module_readline=n/a py_cv_module_nis=n/a $off
make -s -j"$(nproc)" >make.log 2>&1 || { tail -n 30 make.log >&2; exit 1; }
make -s install >install.log 2>&1 || { tail -n 30 install.log >&2; exit 1; }
"$folder/bin/python3" -c 'import sys, sysconfig, zlib; print(sys.version, sysconfig.get_config_var("SOABI"))'
rm -rf "$work"
