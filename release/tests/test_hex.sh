#!/usr/bin/env bash
# Uses the Elixir package from its archive in a new project, without cargo:  test_hex.sh ARCHIVE
#
# Nothing of the repository is used. CARGO=1 tries the sources too: they build without a clone.
set -euo pipefail
archive=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
tar xf "$archive"
package=$work/$(basename "$archive" .tar.gz)
mkdir program && cd program
cat >mix.exs <<END
defmodule Program.MixProject do
  use Mix.Project
  def project, do: [app: :program, version: "0.1.0", deps: [{:sealane, path: "$package"}]]
end
END
cat >message.exs <<'END'
aead = Sealane.aead("aes-256-gcm", Sealane.generate_key("aes-256-gcm"))
{:ok, text} = Sealane.open(aead, Sealane.seal(aead, "hello"))
IO.puts(text)
END
if [ -n "${CARGO:-}" ]; then
	cargo check --quiet --locked --offline --manifest-path "$package/rust/bindings/elixir/native/Cargo.toml"
fi
# Only what Elixir itself needs.
PATH=$(dirname "$(command -v mix)"):/usr/bin:/bin
test "$(MIX_ENV=prod mix run message.exs 2>warnings | tail -1)" = hello || { cat warnings >&2; exit 1; }
if grep --quiet warning: warnings; then cat warnings >&2 && exit 1; fi
if command -v cargo >/dev/null; then
	echo "NOT RUN: the error without cargo, which is installed in ${PATH//:/ or }"
	exit 0
fi
rm -rf _build "$package"/_build "$package"/precompiled
if MIX_ENV=prod mix run message.exs >message 2>&1; then
	echo "test_hex: worked without a library" >&2
	exit 1
fi
grep --quiet "or cargo, which builds it, found neither" message || { cat message >&2; exit 1; }
echo "test_hex: the package was used without cargo, and says what is missing"
