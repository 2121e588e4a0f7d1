#!/usr/bin/env bash
# Tests the C library:  test.sh ARCHIVE PROGRAM
#
# Links the library from the archive, runs the test programs and the examples with it, and compares the exported names with
# the header. ARCHIVE is target/debug/libsealane_c.a, and PROGRAM is the program `sealane`, which reads what the examples write.
set -euo pipefail
archive=$(realpath "$1") program=$(realpath "$2")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lib=$work/lib
warnings=(-std=gnu11 -Wall -Wextra -Werror -Wno-unused-function)

began=$SECONDS
./link.sh "$archive" "$work"
echo "linked in $((SECONDS - began)) s: libsealane.a $(stat -c %s "$lib/libsealane.a"), libsealane.so $(stat -L -c %s "$lib/libsealane.so") bytes"

# The library exports the functions of the header and nothing else.
nm -D --defined-only "$lib/libsealane.so" | awk '{print $3}' | sort >"$work/exported"
diff "$work/names" "$work/exported"
nm -g --defined-only "$lib/libsealane.a" | awk 'NF == 3 {print $3}' | sort | diff "$work/names" -

# pkg-config finds a library in any folder.
export PKG_CONFIG_PATH=$lib/pkgconfig
flags() { pkg-config --cflags --libs "$@" sealane; }
if ! command -v pkg-config >/dev/null; then
	echo "NOT RUN: the test of sealane.pc, which needs pkg-config" >&2
	flags() { echo "-I$work/include -L$lib -lsealane $([ $# -eq 0 ] || echo -lgcc_s -lm -lpthread -ldl)"; }
fi
read -ra shared <<<"$(flags)"
read -ra static <<<"$(flags --static)"
export LD_LIBRARY_PATH=$lib

compile() { # compile OUTPUT SOURCE OPTIONS...: with the static library
	cc "${warnings[@]}" "$2" -o "$1" "${@:3}" "${static[@]/#-lsealane/$lib/libsealane.a}" -pthread
}
vectors=(../../vectors ../../tests/golden)
export GOLDEN=../../tests/golden
run() { # run PREFIX...: all test programs with a way to run them
	"$@" "$work/vectors" "${vectors[@]}"
	"$@" "$work/bad_input"
	"$@" "$work/round_trips" >"$work/log" || { cat "$work/log"; return 1; }
	tail -n 1 "$work/log"
	"$@" "$work/threads"
	"$@" "$work/lifetimes"
}
tests="vectors bad_input round_trips threads lifetimes"

echo "== static"
for test in $tests; do compile "$work/$test" "tests/$test.c" -O2; done
run
echo "== shared"
for test in $tests; do cc "${warnings[@]}" -O2 "tests/$test.c" -o "$work/$test" "${shared[@]}" -pthread; done
run
# A C++ compiler understands the header.
if command -v c++ >/dev/null; then
	echo '#include <sealane.h>
	int main() { return sealane_abi() == SEALANE_ABI ? 0 : 1; }' >"$work/header.cpp"
	c++ -Wall -Wextra -Werror -pedantic "$work/header.cpp" -o "$work/header" "${shared[@]}"
	"$work/header"
else
	echo "NOT RUN: the header in C++, which needs c++" >&2
fi
echo "== address and undefined-behavior sanitizers"
for test in $tests; do compile "$work/$test" "tests/$test.c" -O1 -g -fsanitize=address,undefined -fno-sanitize-recover; done
ASAN_OPTIONS=detect_leaks=1 run

if command -v valgrind >/dev/null; then
	echo "== valgrind"
	# Debian's valgrind knows no AVX-512.
	for test in bad_input lifetimes; do
		compile "$work/$test" "tests/$test.c" -O1 -g
		valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect \
			--show-leak-kinds=definite,indirect "$work/$test"
	done
else
	echo "NOT RUN: the tests under valgrind, which is not installed" >&2
fi

echo "== examples"
for example in examples/*.c; do
	cc "${warnings[@]}" -O2 "$example" -o "$work/$(basename "$example" .c)" "${shared[@]}"
done
for example in messages raw pieces keys hybrid ranges; do
	"$work/$example" >"$work/out"
	echo "$example: $(tail -n 1 "$work/out")"
done
head -c 3000000 /dev/urandom >"$work/data"
"$work/streams" <"$work/data" | cmp - "$work/data" && echo "streams: the same bytes"
KEY_FILE=$work/identity "$work/files" "$work/data" 2>/dev/null
cmp "$work/data" "$work/data.back"
"$program" decrypt -i "$work/identity" -o "$work/data.program" "$work/data.age"
cmp "$work/data" "$work/data.program" && echo "files: the program decrypts the file"
"$program" encrypt -r "$(sed -n 's/^# public key: //p' "$work/identity")" -o "$work/data.age" "$work/data"
"$work/writer" "$work/list.age"
"$program" keygen -t ed25519 -o "$work/sign" >"$work/sign.pub"
"$work/signature" "$work/sign" "$work/sign.pub" "$work/data" >"$work/data.sig"
"$program" verify-signature --signer "$work/sign.pub" "$work/data"
"$program" decrypt -p --passphrase-fd 3 -o "$work/list" "$work/list.age" 3<<<"correct horse"
[ "$(wc -l <"$work/list")" = 100000 ] && echo "writer: the program decrypts the list"
for readme in ../../README.md README.md; do
	{
		echo '#include <sealane.h>
		#include <stdio.h>
		#include <string.h>
		int main(void) {
			uint8_t key[32] = {1}, text[] = "text", header[] = "header", sealed[100], opened[100];
			size_t text_len = sizeof text, header_len = sizeof header;'
		sed -n '/^```c$/,/^```$/p' "$readme" | grep -v '^```'
		echo 'return opened_len == sizeof text && !memcmp(text, opened, sizeof text) ? 0 : 1; }'
	} >"$work/readme.c"
	cc "${warnings[@]}" "$work/readme.c" -o "$work/readme" "${shared[@]}"
	"$work/readme" && echo "the example of $readme"
done
echo "the C library passes its tests"
