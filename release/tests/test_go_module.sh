#!/usr/bin/env bash
# Installs the Go module as its users do, in an empty folder:  test_go_module.sh PROXY
#
# PROXY is a folder that go_module.sh has made. Nothing of the repository is used.
set -euo pipefail
proxy=$(realpath "$1")
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
export GOPROXY=file://$proxy GONOSUMDB='*' GOFLAGS='' GOWORK=off GOMODCACHE=$work/modules
list=$(cd "$proxy" && find . -name list)
module=${list#./}
module=${module%/@v/list}
mkdir program && cd program
go mod init example.org/program 2>/dev/null
go get "$module"
cat >main.go <<END
package main

import (
	"fmt"

	"$module"
)

func main() {
	aead, err := sealane.NewAEAD("aes-256-gcm", make([]byte, 32))
	if err != nil {
		panic(err)
	}
	sealed, err := aead.SealMessage(nil, []byte("hello"), nil)
	if err != nil {
		panic(err)
	}
	opened, err := aead.OpenMessage(nil, sealed, nil)
	fmt.Println(string(opened), err)
}
END
# What cannot work says so while it is built.
refuses() { # refuses WORDS COMMAND...
	local words=$1
	shift
	if "$@" 2>messages; then echo "test_go_module: $* worked, expected '$words'" >&2 && exit 1; fi
	grep --quiet "$words" messages || { cat messages >&2; exit 1; }
}
case $(go env GOVERSION) in go1.1* | go1.20*)
	refuses sealane_needs_go_1_24_or_newer env CGO_ENABLED=1 go build .
	echo "test_go_module: $(go env GOVERSION) is refused: $(grep --only-matching 'sealane_needs[a-z0-9_]*' messages | head -1)"
	exit 0
	;;
esac
test "$(CGO_ENABLED=1 go run .)" = "hello <nil>"
refuses sealane_needs_cgo env CGO_ENABLED=0 go build .
refuses "leave out the build tag musl" env CGO_ENABLED=1 go build -tags musl .
if command -v musl-gcc >/dev/null && compgen -G "$work/modules/$module@*/internal/musl/*$(go env GOARCH).syso" >/dev/null; then
	# The unwinder of Debian's GCC wants a function of glibc, and does without what it finds. A GCC for musl has one for musl.
	echo '__attribute__((weak)) int _dl_find_object(void *address, void *result) { return -1; }' >../shim.c
	musl-gcc -c ../shim.c -o ../shim.o
	test "$(CC=musl-gcc CGO_ENABLED=1 CGO_LDFLAGS=$work/shim.o go run -tags musl .)" = "hello <nil>"
	refuses "use the build tag musl" env CC=musl-gcc CGO_ENABLED=1 go build .
	echo "test_go_module: also used with musl"
else
	echo "NOT RUN: the library for musl, without musl-gcc or in a module without it"
fi
# Another system has no C compiler here, so only the list of files is tried.
GOOS=freebsd CGO_ENABLED=1 go list -f '{{.GoFiles}}' "$module/internal/c" | grep --quiet system.go
echo "test_go_module: $module was installed and used, and is refused in words where it cannot work"
