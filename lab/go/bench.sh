#!/usr/bin/env bash
# Measures the Go module, with the library that `make -C bindings lib-go` put into it:  bench.sh [OPTIONS OF THE PROGRAM]
#
# AESCTRAT names a clone of github.com/starius/aesctrat, whose package is then built and measured in the same program.
set -euo pipefail
cd "$(dirname "$0")"
export GOWORK=off
if [ -z "${AESCTRAT:-}" ]; then
	exec go run . "$@"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp go.mod go.sum "$work/"
go mod edit -require=github.com/starius/aesctrat@v0.0.0 -replace="github.com/starius/aesctrat=$(realpath "$AESCTRAT")" "$work/go.mod"
go run -mod=mod -modfile="$work/go.mod" -tags=aesctrat . "$@"
