#!/usr/bin/env bash
# Installs the Crystal shard in an empty folder, as shards does, and runs its examples:  test_shard.sh ARCHIVE
#
# Nothing of the repository is used.
set -euo pipefail
archive=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset SEALANE_LIB_DIR
mkdir lib
tar xf "$archive" -C lib
mv lib/sealane-crystal-* lib/sealane
(cd lib/sealane && sh postinstall.sh)
cat >program.cr <<'END'
require "sealane"

aead = Sealane::Aead.new("aes-256-gcm", Sealane.random_bytes(32))
puts String.new(aead.open(aead.seal("hello".to_slice)))
END
test "$(crystal run program.cr)" = hello
for example in lib/sealane/examples/{messages,ranges,keys}.cr; do
	crystal run "$example" >/dev/null
done
rm lib/sealane/native/libsealane.a
if uname() { echo OpenBSD; } && export -f uname && (cd lib/sealane && bash postinstall.sh) 2>message; then
	echo "test_shard: installed on another system" >&2
	exit 1
fi
grep --quiet "expected a library for" message
echo "test_shard: the shard was installed and used, and is refused in words on another system"
