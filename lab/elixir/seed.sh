#!/usr/bin/env bash
# Builds SpeckEx itself, without hex, and runs its table:  seed.sh FOLDER
#
# FOLDER is a checkout of github.com/juulSme/SpeckEx. A replacement of `RustlerPrecompiled` loads what cargo built.
set -euo pipefail
seed=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo build --release --locked --quiet --manifest-path "$seed/native/speck_ex/Cargo.toml"
cat >"$work/loader.ex" <<EOF
defmodule Mix.Project, do: def(config, do: [version: "0"])
defmodule RustlerPrecompiled do
  defmacro __using__(_) do
    quote do
      @on_load :load
      def load, do: :erlang.load_nif('$seed/native/speck_ex/target/release/libspeck_ex', 0)
    end
  end
end
EOF
elixirc --ignore-module-conflict -o "$work" "$work/loader.ex" 2>/dev/null
elixirc -pa "$work" -o "$work" "$seed"/lib/speck_ex.ex "$seed"/lib/speck_ex/*.ex
elixir -pa "$work" "$here/speckex.exs"
