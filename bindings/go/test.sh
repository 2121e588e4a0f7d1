#!/usr/bin/env bash
# Tests the Go module:  test.sh ARCHIVE PROGRAM
#
# Links the C library from the archive, and runs all tests with it as a shared library; README.md is tested with the library as an
# object file, as users have it. ARCHIVE is target/debug/libsealane_c.a, and PROGRAM is the program `sealane`, which exchanges
# files with the module.
set -euo pipefail
archive=$(realpath "$1") program=$(realpath "$2")
cd "$(dirname "$0")"
work=$(dirname "$archive")/go
../c/link.sh "$archive" "$work"

export SEALANE_PROGRAM=$program SEALANE_OBJECT=$work/sealane.o
export PKG_CONFIG_PATH=$work/lib/pkgconfig LD_LIBRARY_PATH=$work/lib
# The build cache of Go keeps the paths that pkg-config printed, even for another library. It knows those of this variable.
export CGO_LDFLAGS="-O2 -g -L$work/lib"
# -count=1 below: the go command does not see that a shared library changed.
export GOFLAGS="-tags=sealane_dynamic -buildvcs=false" GOWORK=off
timed() {
	local began=$SECONDS
	"$@"
	echo "== $*: $((SECONDS - began)) s"
}

unformatted=$(gofmt -l . ../../lab/go)
if [ -n "$unformatted" ]; then
	echo "gofmt -l: $unformatted" >&2
	exit 1
fi
timed go vet ./...
timed go -C compat/aesctrat vet ./...
# The benchmark works, with calls of no use.
if go -C ../../lab/go mod download; then
	timed go -C ../../lab/go vet .
	go -C ../../lab/go run . -rounds 1 -slice 1us -filter AES >/dev/null
else
	echo "NOT RUN: the benchmark in lab/go, whose dependency golang.org/x/crypto cannot be fetched" >&2
fi
# The numbers of vectors and files are printed.
counted='^(TestVectors|TestGoldenFiles|TestEveryFunctionIsUsed)$'
timed go test -count=1 -v -run "$counted" .
timed go test -count=1 -skip "$counted" ./...
# The programs of README.md are processes of their own, without race detector and sanitizer.
timed go test -count=1 -race -skip '^TestReadme$' ./...
timed go test -count=1 -asan -skip '^TestReadme$' ./...
echo "the Go module passes its tests"
