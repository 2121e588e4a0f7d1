defmodule SpeckEx.Variants do
  @moduledoc false

  # Sizes of a block and of a key, in bits.
  @variants %{
    speck32_64: {32, 64},
    speck48_72: {48, 72},
    speck48_96: {48, 96},
    speck64_96: {64, 96},
    speck64_128: {64, 128},
    speck96_96: {96, 96},
    speck96_144: {96, 144},
    speck128_128: {128, 128},
    speck128_192: {128, 192},
    speck128_256: {128, 256}
  }

  def all, do: @variants

  # Variant, name in sealane, and the sizes in bytes.
  def table do
    for {variant, {block, key}} <- @variants do
      {variant, variant |> Atom.to_string() |> String.replace("_", "-"), div(block, 8), div(key, 8)}
    end
  end
end
