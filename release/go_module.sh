#!/usr/bin/env bash
# Makes the Go module with the C library in it:  go_module.sh PARTS DESTINATION
#
# PARTS is a folder of build.py, with a folder per platform. DESTINATION becomes a module proxy, so `go get` alone installs the
# module. A clone has no object file and only a link to the header, which the go command drops.
set -euo pipefail
parts=$(realpath "$1")
mkdir -p "$2"
to=$(realpath "$2")
cd "$(dirname "$0")/.."
version=v$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Only what git knows: a clone can hold the object file of another build.
git ls-files -z bindings/go | xargs -0 tar c --dereference | tar x -C "$work"
module=$work/bindings/go
find "$module" -name '*_test.go' -delete
rm -rf "$module/test.sh" "$module/compat" "$module/internal/leaktest"
cp LICENSE-APACHE LICENSE-MIT "$module/"
path=$(sed -n 's/^module //p' "$module/go.mod")
oldest=$(sed -n 's/^go //p' "$module/go.mod")

# The name of an object file has the processor but not the C library of Linux, so each has a package.
cp -r "$module/internal/static" "$module/internal/musl"
sed -i 's/^package static/package musl/' "$module"/internal/musl/*.go
sed -i 's/!sealane_dynamic/!sealane_dynamic \&\& !musl/' "$module/internal/c/static.go"
sed 's/&& !musl/\&\& musl/; s|internal/static|internal/musl|' "$module/internal/c/static.go" >"$module/internal/c/musl.go"
there=false
for platform in "$parts"/{many,musl}linux-*; do
	[ -e "$platform/c/sealane.o" ] || continue
	case $platform in *x86_64) processor=amd64 ;; *) processor=arm64 ;; esac
	case $platform in */musl*) folder=musl tag=musl ;; *) folder=static tag='!musl' ;; esac
	cp "$platform/c/sealane.o" "$module/internal/$folder/sealane_linux_$processor.syso"
	there="$there || (linux && $processor && $tag)"
done

# The compiler prints these names and texts where the module cannot work.
echo "//go:build cgo && !sealane_dynamic && !($there)

package c

var _ = sealane_has_no_library_for_this_system__build_a_shared_one_and_use_the_tag_sealane_dynamic" >"$module/internal/c/system.go"
for folder in static musl; do
	case $folder in static) defined=ifndef use='use the build tag musl with another C library than glibc' ;; *) defined=ifdef use='leave out the build tag musl with glibc' ;; esac
	sed -i '/^import "C"/d' "$module/internal/$folder/static.go"
	printf '/*\n#include <features.h>\n#%s __GLIBC__\n#error "sealane: %s"\n#endif\n*/\nimport "C"\n' "$defined" "$use" >>"$module/internal/$folder/static.go"
done
# An older go command than 1.21 does not look at the version in go.mod before it compiles.
find "$module" -name '*.go' | while read -r file; do
	if grep -q '^//go:build' "$file"; then sed -i "s|^//go:build \(.*\)|//go:build go$oldest \&\& (\1)|" "$file"; else sed -i "1i //go:build go$oldest\n" "$file"; fi
done
for folder in "$module" "$module"/aesctrat "$module"/hazmat; do
	echo "//go:build !go$oldest

package $(sed -n 's/^package //p' "$folder"/*.go | head -1)

var _ = sealane_needs_go_${oldest//./_}_or_newer" >"$folder/oldest.go"
done
go -C release/modzip run . "$module" "$path" "$version" "$to"
find "$to" -name '*.zip' -exec ls -l {} +
