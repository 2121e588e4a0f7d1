defmodule SpeckEx.Block do
  @moduledoc """
  Single blocks of Speck, in all ten variants.

  Equal blocks give equal results, and nothing is authenticated. Use `SpeckEx` or `Sealane` for
  data.

      iex> cipher = SpeckEx.Block.init(:crypto.strong_rand_bytes(32))
      iex> ciphertext = SpeckEx.Block.encrypt(<<0::128>>, cipher)
      iex> SpeckEx.Block.decrypt(ciphertext, cipher)
      <<0::128>>

  A wrong key or block length, and an unknown variant, raise `FunctionClauseError`. A key made for
  another variant raises `ArgumentError`.

  The expanded key is wiped when the reference is garbage.
  """
  import Sealane.Native, only: [otherwise: 2]
  alias Sealane.Native

  @typedoc "A variant of Speck. The numbers are the bits of a block and of a key."
  @type variant ::
          :speck32_64
          | :speck48_72
          | :speck48_96
          | :speck64_96
          | :speck64_128
          | :speck96_96
          | :speck96_144
          | :speck128_128
          | :speck128_192
          | :speck128_256

  @doc """
  Expands a key.

      iex> SpeckEx.Block.init(:crypto.strong_rand_bytes(8), :speck32_64) |> is_reference()
      true
  """
  @spec init(binary, variant) :: reference
  def init(key, variant \\ :speck128_256)

  @doc """
  Encrypts one block.

      iex> cipher = SpeckEx.Block.init(<<0x1918111009080100::64>>, :speck32_64)
      iex> SpeckEx.Block.encrypt(<<0x6574694C::32>>, cipher, :speck32_64)
      <<0xA86842F2::32>>
  """
  @spec encrypt(binary, reference, variant) :: binary
  def encrypt(data, cipher, variant \\ :speck128_256)

  @doc """
  Decrypts one block.

      iex> cipher = SpeckEx.Block.init(<<0x1918111009080100::64>>, :speck32_64)
      iex> SpeckEx.Block.decrypt(<<0xA86842F2::32>>, cipher, :speck32_64)
      <<0x6574694C::32>>
  """
  @spec decrypt(binary, reference, variant) :: binary
  def decrypt(data, cipher, variant \\ :speck128_256)

  for {variant, name, _block, key} <- SpeckEx.Variants.table() do
    def init(<<key::binary-size(unquote(key))>>, unquote(variant)),
      do: Native.speck_new(unquote(variant), unquote(name), key, "big")
  end

  otherwise(:init, 2)

  for {variant, _name, block, _key} <- SpeckEx.Variants.table() do
    def encrypt(<<data::binary-size(unquote(block))>>, cipher, unquote(variant)),
      do: Native.encrypt_blocks(cipher, unquote(variant), data)
  end

  otherwise(:encrypt, 3)

  for {variant, _name, block, _key} <- SpeckEx.Variants.table() do
    def decrypt(<<data::binary-size(unquote(block))>>, cipher, unquote(variant)),
      do: Native.decrypt_blocks(cipher, unquote(variant), data)
  end

  otherwise(:decrypt, 3)
end
