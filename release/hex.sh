#!/usr/bin/env bash
# Makes the Elixir package with the libraries of some systems and the sources for others:  hex.sh PARTS DESTINATION
#
# PARTS is a folder of build.py, with a folder per platform. The archive holds what `mix hex.publish` would upload; hex.pm lists a hash
# of it, so the libraries in it need no hash of their own.
set -euo pipefail
parts=$(realpath "$1")
mkdir -p "$2"
to=$(realpath "$2")
cd "$(dirname "$0")/.."
source release/pack.sh
version=$(sed -n 's/^ *version: "\(.*\)",$/\1/p' bindings/elixir/mix.exs)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=sealane-elixir-$version
package=$work/$name
mkdir -p "$package/precompiled" "$package/rust"
copy() { # copy FOLDER PATHS...
	local folder=$1
	shift
	git ls-files -z "$@" | xargs -0 tar c --dereference | tar x -C "$folder"
}
copy "$work" bindings/elixir/{lib,mix.exs,README.md}
mv "$work"/bindings/elixir/* "$package/"
cp LICENSE-APACHE LICENSE-MIT "$package/"
for platform in "$parts"/{many,musl}linux-*; do
	[ -f "$platform/libsealane_elixir.so" ] || continue
	case $platform in */musl*) libc=musl ;; *) libc=gnu ;; esac
	cp "$platform/libsealane_elixir.so" "$package/precompiled/${platform##*-}-linux-$libc.so"
done

# The workspace with nothing but the crates that the library is made of.
copy "$package/rust" Cargo.toml Cargo.lock LICENSE-APACHE LICENSE-MIT 'crates/*/Cargo.toml' 'crates/*/src/*' bindings/elixir/native
python3 - "$package/rust/Cargo.toml" <<'END'
import re
import sys
from pathlib import Path

manifest = Path(sys.argv[1])
text = manifest.read_text()
text = re.sub(r"members = \[.*?\n\]", 'members = ["crates/*", "bindings/elixir/native"]', text, count=1, flags=re.S)
text = re.sub(r"default-members = \[.*?\]\n", "", text, count=1, flags=re.S)
text = re.sub(r"\[profile\.\w+\.package\.[^\n]*\n(?:[^\[\n][^\n]*\n)*", "", text)
manifest.write_text(text)
# What only tests need is not here.
for crate in manifest.parent.glob("crates/*/Cargo.toml"):
    text = re.sub(r"\n\[(?:target\.[^\n]*\.)?dev-dependencies[^\n]*\]\n.*?(?=\n\[|\Z)", "\n", crate.read_text(), flags=re.S)
    crate.write_text(re.sub(r"\n\[\[(?:test|bench|example)\]\]\n.*?(?=\n\[|\Z)", "\n", text, flags=re.S))
END
cargo metadata --quiet --offline --format-version 1 --manifest-path "$package/rust/Cargo.toml" >/dev/null
archive "$work" "$name" "$to/$name.tar.gz"
ls -l "$to/$name.tar.gz"
