#!/usr/bin/env bash
# Tests the Crystal package:  test.sh ARCHIVE PROGRAM
#
# Links the C library from the archive, and runs the specs, the blocks of the README files and the examples with it. ARCHIVE
# is target/debug/libsealane_c.a, and PROGRAM is the program `sealane`, which reads what the package writes.
set -euo pipefail
archive=$(realpath "$1")
SEALANE_PROGRAM=$(realpath "$2")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
../c/link.sh "$archive" "$work"
export SEALANE_PROGRAM SEALANE_LIB_DIR=$work/lib
# Without `shards`, other programs find the package by this path.
CRYSTAL_PATH=$PWD/src:$(crystal env CRYSTAL_PATH)
export CRYSTAL_PATH

echo "== format"
crystal tool format --check src spec examples ../../lab/crystal

echo "== specs"
crystal spec --no-color

echo "== fibers on several threads"
for spec in fibers lifetimes; do
	crystal build -Dpreview_mt "spec/${spec}_spec.cr" -o "$work/$spec"
	CRYSTAL_WORKERS=4 "$work/$spec" --no-color
done

echo "== handles"
crystal run spec/live_handles.cr
if command -v valgrind >/dev/null; then
	# The collector scans memory that was never written, which valgrind reports. Debian's valgrind knows no AVX-512.
	for program in live_handles lifetimes_spec; do
		crystal build -Dgc_none "spec/$program.cr" -o "$work/$program"
		valgrind -q --error-exitcode=9 "$work/$program"
	done
else
	echo "NOT RUN: the handles and lifetimes under valgrind, which is not installed" >&2
fi

# blocks LANGUAGE FILE: writes each block of this language to $work/NUMBER.LANGUAGE
blocks() {
	awk -v language="$1" -v work="$work" '
		/^```/ { inside = $0 == "```" language; if (inside) file = work "/" ++count "." language; next }
		inside { print > file }' "$2"
}
echo "== the examples of rfc8439.cr"
blocks crystal spec/rfc8439_readme.md
blocks text spec/rfc8439_readme.md
for number in 1 2 3; do
	crystal run "$work/$number.crystal" >"$work/out"
	diff "$work/$number.text" "$work/out"
done
echo "3 blocks print what they should"

echo "== README"
mkdir "$work/readme"
head -c 3000000 /dev/urandom >"$work/readme/README.md"
for readme in README.md; do
	rm "$work"/*.crystal
	blocks crystal "$readme"
	for block in "$work"/*.crystal; do
		(cd "$work/readme" && crystal run "$block")
		echo "$readme: block $(basename "$block" .crystal)"
	done
done

echo "== examples"
for example in messages ranges keys raw; do
	crystal run "examples/$example.cr" >"$work/out"
	echo "$example: $(tail -n 1 "$work/out")"
done
crystal build examples/streams.cr -o "$work/streams"
mv "$work/readme/README.md" "$work/data"
"$work/streams" <"$work/data" | cmp - "$work/data" && echo "streams: the same bytes"
crystal run examples/files.cr -- "$work/data" 2>/dev/null
cmp "$work/data" "$work/data.back"
"$SEALANE_PROGRAM" decrypt -i "$work/data.identity" -o "$work/data.program" "$work/data.age"
cmp "$work/data" "$work/data.program" && echo "files: the program decrypts the file"

echo "== the shared library"
PKG_CONFIG_PATH=$work/lib/pkgconfig LD_LIBRARY_PATH=$work/lib crystal run -Dsealane_dynamic examples/messages.cr >"$work/out"
cat "$work/out"
echo "the Crystal package passes its tests"
