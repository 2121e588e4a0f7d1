#!/bin/sh
# Builds a CPython 3.13 for tests of wheels, from the sources of Debian and with Zig as C compiler:
#     python.sh TARGET FOLDER [PYTHON]
# TARGET is a Zig target, such as aarch64-linux-musl. For another processor, PYTHON is a Python of
# the same version that runs here. The interpreter is FOLDER/bin/python3. Needs apt-get, make,
# readelf, and Zig in .venv; to run an interpreter for musl, the package musl.
set -eu
target=$1
mkdir -p "$2"
folder=$(realpath "$2") work=$(realpath "$2")/work python=${3:+$(realpath "$3")}
zig=$(realpath "$(dirname "$0")"/../.venv/lib/python3.*/site-packages/ziglang/zig)
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/build"
cd "$work"

# Uses the system's server and keys, but its own lists: the system's configuration does not change.
server=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/$')
keys=/usr/share/keyrings/debian-archive-keyring.gpg
# Later zlib packages are not as its authors published it.
for name in trixie bookworm; do echo "deb-src [signed-by=$keys] $server $name main"; done >sources.list
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
for archive in *.orig.tar.?z *.orig.tar.bz2; do tar xf "$archive"; done

# By default, Zig checks for undefined behaviour, refuses the build time, and links musl statically.
for tool in cc ar ranlib; do
	options=
	if [ $tool = cc ]; then options="-target $target -fno-sanitize=undefined -Wno-date-time"; fi
	case $tool-$target in cc-*-musl) options="$options -dynamic" ;; esac
	printf '#!/bin/sh\nexec %s %s %s "$@"\n' "$zig" "$tool" "$options" >"$tool"
	chmod +x "$tool"
done
export CC="$work/cc" AR="$work/ar" RANLIB="$work/ranlib" PKG_CONFIG=false
# A program for another C library runs here, so only another processor makes this a cross-build.
platform=${target%%.*} build=${target%%.*} cross=
if [ "${target%%-*}" != "$(uname -m)" ]; then
	build=$(uname -m)-linux-gnu
	cross="--with-build-python=$python ac_cv_file__dev_ptmx=yes ac_cv_file__dev_ptc=no ac_cv_buggy_getaddrinfo=no"
fi
(cd zlib-* && CFLAGS="-O1 -fPIC" ./configure --static --prefix="$work/zlib" && make -s install) >zlib.log 2>&1
# OpenSSL and the system's other libraries are not built for the target, and not needed.
off=
for name in bz2 lzma zstd ctypes ctypes_test curses curses_panel dbm gdbm hashlib sqlite3 ssl tkinter uuid readline nis; do
	off="$off py_cv_module__$name=n/a py_cv_module_$name=n/a"
done
# Zig's musl has functions that Debian 12's musl 1.2.3 lacks.
for name in preadv2 pwritev2 statx; do
	case $target in *-musl) off="$off ac_cv_func_$name=no" ;; esac
done
cd build
# shellcheck disable=SC2086 # one word per option
../Python-3*/configure -q --build="$build" --host="$platform" --prefix="$folder" --without-doc-strings --without-ensurepip \
	--disable-test-modules OPT="-DNDEBUG -O1" $cross $off \
	ZLIB_CFLAGS="-I$work/zlib/include" ZLIB_LIBS="-L$work/zlib/lib -lz"
make -s -j"$(nproc)" >make.log 2>&1 || { tail -n 30 make.log >&2; exit 1; }
make -s install >install.log 2>&1 || { tail -n 30 install.log >&2; exit 1; }
if [ -z "$cross" ]; then
	"$folder/bin/python3" -c 'import sys, sysconfig, zlib; print(sys.version, sysconfig.get_config_var("SOABI"))'
fi
rm -rf "$work"
