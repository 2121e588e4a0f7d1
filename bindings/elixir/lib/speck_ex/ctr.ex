defmodule SpeckEx.CTR do
  @moduledoc """
  Counter mode with a whole block as nonce, in all ten variants.

  The nonce is the first counter, big-endian, and the caller chooses it: two messages of one key
  must not share a counter. Nothing is authenticated. `SpeckEx.crypt/3` chooses the nonce itself.

      iex> key = :crypto.strong_rand_bytes(32)
      iex> nonce = :crypto.strong_rand_bytes(16)
      iex> ciphertext = SpeckEx.CTR.crypt("Secret message", key, nonce)
      iex> SpeckEx.CTR.crypt(ciphertext, key, nonce)
      "Secret message"

  Lengths that do not match the variant raise `FunctionClauseError`. Data so long that its counters
  would repeat raises `Sealane.Error`; for `:speck32_64` that is 16 GiB.
  """
  import Sealane.Native, only: [otherwise: 2]
  alias Sealane.Native

  @type variant :: SpeckEx.Block.variant()

  @doc """
  Encrypts or decrypts, which is the same in counter mode.

      iex> SpeckEx.CTR.crypt("", <<0::64>>, <<0::32>>, :speck32_64)
      ""
  """
  @spec crypt(binary, binary, binary, variant) :: binary
  def crypt(data, key, nonce, variant \\ :speck128_256)

  for {variant, name, block, key} <- SpeckEx.Variants.table() do
    def crypt(
          data,
          <<key::binary-size(unquote(key))>>,
          <<nonce::binary-size(unquote(block))>>,
          unquote(variant)
        )
        when is_binary(data),
        do: Native.ctr(unquote(name), key, nonce, data)
  end

  otherwise(:crypt, 4)
end
