#!/usr/bin/env bash
# Runs the benchmarks:  run.sh TARGET [RFC8439]
#
# TARGET is the folder in which `make -C bindings lib-c` has left the library. RFC8439 is a folder with the shard rfc8439, whose own
# implementation is measured beside the package, in turns.
set -euo pipefail
target=$(realpath "$1")
shard=${2:+$(realpath "$2")}
cd "$(dirname "$0")"
package=$(realpath ../../bindings/crystal)
export SEALANE_LIB_DIR=$target/c/lib
system=$(crystal env CRYSTAL_PATH)
crystal build --release calls.cr -o "$target/bench-crystal-calls"
CRYSTAL_PATH=$package/src:$system crystal build --release rfc8439.cr -o "$target/bench-crystal-rfc8439"
[ -z "$shard" ] || CRYSTAL_PATH=$shard/src:$system crystal build --release rfc8439.cr -o "$target/bench-crystal-shard"

version=$(crystal --version)
echo "${version%%$'\n'*}"
"$target/bench-crystal-calls"
for _ in 1 2; do
	echo
	"$target/bench-crystal-rfc8439" sealane
	if [ -n "$shard" ]; then
		echo
		"$target/bench-crystal-shard" rfc8439.cr
	fi
done
