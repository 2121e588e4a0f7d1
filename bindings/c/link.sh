#!/bin/sh
# Makes the C library from the archive that cargo builds:  link.sh target/release/libsealane_c.a DESTINATION
#
# The archive contains the standard library of Rust and every crate, with their names. Two such archives do not fit into one
# program. So everything is linked to one object in which only the names of the header are global, and this object becomes
# the static library, the shared library, and the .syso file of a Go package. CC links the shared library, and binutils for
# another processor have the prefix CROSS_COMPILE.
set -eu
archive=$1 to=$2
here=$(dirname "$0")
mkdir -p "$to/lib/pkgconfig" "$to/include"
cp "$here/include/sealane.h" "$to/include/"

# The names of the functions, without those in comments.
sed -e 's|/\*.*\*/||' -nE -e 's/^[a-z].*[ *](sealane_[a-z0-9_]+)\(.*/\1/p' "$here/include/sealane.h" | sort -u >"$to/names"
# --force-group-allocation: otherwise the references to exception handlers lie in groups that the linker discards later.
# shellcheck disable=SC2046 # one word for each name
"${CROSS_COMPILE-}ld" -r --gc-sections --force-group-allocation $(sed 's/^/-u /' "$to/names") -o "$to/whole.o" "$archive"
# --strip-unneeded: `ld -r` keeps the names of weak functions whose callers it has removed, and they would have to be defined.
# .llvmbc, .llvmcmd: bitcode of the standard library, which tools of another LLVM version complain about.
"${CROSS_COMPILE-}objcopy" --strip-unneeded --remove-section=.llvmbc --remove-section=.llvmcmd --keep-global-symbols="$to/names" \
	"$to/whole.o" "$to/sealane.o"
rm -f "$to/whole.o" "$to/lib/libsealane.a"
"${CROSS_COMPILE-}ar" crs "$to/lib/libsealane.a" "$to/sealane.o"

# The number of the shared library is the version of its binary interface.
abi=$(sed -n 's/^#define SEALANE_ABI //p' "$here/include/sealane.h")
# shellcheck disable=SC2086 # a compiler can have options
${CC:-cc} -shared -s -Wl,-soname,"libsealane.so.$abi" -Wl,-z,now -Wl,-z,relro -Wl,-z,noexecstack -Wl,--no-undefined \
	-o "$to/lib/libsealane.so.$abi" "$to/sealane.o" -lgcc_s -lm -lc
ln -sf "libsealane.so.$abi" "$to/lib/libsealane.so"

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$here/../../Cargo.toml")
cat >"$to/lib/pkgconfig/sealane.pc" <<END
prefix=\${pcfiledir}/../..
Name: sealane
Description: Authenticated encryption of messages, files and streams
Version: $version
Cflags: -I\${prefix}/include
Libs: -L\${prefix}/lib -lsealane
Libs.private: -lgcc_s -lm -lpthread -ldl
END
