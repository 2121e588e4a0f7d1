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
test "$(CGO_ENABLED=1 go run .)" = "hello <nil>"

# What cannot work says so while it is built.
if CGO_ENABLED=0 go build . 2>messages; then
	echo "test_go_module: built without cgo" >&2
	exit 1
fi
grep --quiet sealane_needs_cgo messages || { cat messages >&2; exit 1; }
# Another system has no C compiler here, so only the list of files is tried.
GOOS=freebsd CGO_ENABLED=1 go list -f '{{.GoFiles}}' "$module/internal/c" | grep --quiet system.go
echo "test_go_module: $module was installed and used, and is refused in words where it cannot work"
