#!/usr/bin/env bash
# Makes the Go module with the C library in it:  go_module.sh LIBRARY DESTINATION
#
# LIBRARY is a folder that bindings/c/link.sh has made. DESTINATION becomes a module proxy, so `go get` alone installs the module.
# A clone has no object file and only a link to the header, which the go command drops.
set -euo pipefail
library=$(realpath "$1")
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
cp "$library/sealane.o" "$module/internal/static/sealane_$(go env GOOS)_$(go env GOARCH).syso"
cat >"$module/internal/c/system.go" <<END
//go:build cgo && !sealane_dynamic && !($(go env GOOS) && $(go env GOARCH))

package c

// The compiler prints this name where the module has no object file.
var _ = sealane_has_no_library_for_this_system__build_a_shared_one_and_use_the_tag_sealane_dynamic
END
path=$(sed -n 's/^module //p' "$module/go.mod")
go -C release/modzip run . "$module" "$path" "$version" "$to"
find "$to" -name '*.zip' -exec ls -l {} +
