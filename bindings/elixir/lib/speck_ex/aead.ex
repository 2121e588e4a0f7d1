defmodule SpeckEx.AEAD do
  @moduledoc """
  Speck-Poly1305 with a whole block as nonce, in all ten variants.

  The caller chooses the nonce, the first counter: two messages of one key must not share a counter.
  A message uses a counter for each block of its data and of the 32 bytes before it.
  `SpeckEx.aead_encrypt/3` chooses the nonce itself.

      iex> key = :crypto.strong_rand_bytes(32)
      iex> nonce = :crypto.strong_rand_bytes(16)
      iex> {ciphertext, tag} = SpeckEx.AEAD.encrypt("Secret message", key, nonce, "user_id:12345")
      iex> SpeckEx.AEAD.decrypt(ciphertext, tag, key, nonce, "user_id:12345")
      {:ok, "Secret message"}

  Lengths that do not match the variant raise `FunctionClauseError`. Data longer than the variant
  can encrypt safely raises `Sealane.Error`.
  """
  import Sealane.Native, only: [otherwise: 2]
  alias Sealane.Native

  @type variant :: SpeckEx.Block.variant()

  @doc """
  Encrypts. Returns the ciphertext and a 16-byte tag.

      iex> {ciphertext, tag} = SpeckEx.AEAD.encrypt("Hello", <<0::256>>, <<0::128>>, "metadata")
      iex> {byte_size(ciphertext), byte_size(tag)}
      {5, 16}
  """
  @spec encrypt(binary, binary, binary, binary, variant) :: {binary, binary}
  def encrypt(plaintext, key, nonce, aad, variant \\ :speck128_256)

  for {variant, name, block, key} <- SpeckEx.Variants.table() do
    def encrypt(
          plaintext,
          <<key::binary-size(unquote(key))>>,
          <<nonce::binary-size(unquote(block))>>,
          aad,
          unquote(variant)
        )
        when is_binary(plaintext) and is_binary(aad),
        do: Native.speck_seal(unquote(name), key, nonce, plaintext, aad)
  end

  otherwise(:encrypt, 5)

  @doc """
  Verifies the tag and decrypts. A tag of another length is wrong as well.

      iex> {ciphertext, tag} = SpeckEx.AEAD.encrypt("Hello", <<0::256>>, <<0::128>>, "metadata")
      iex> SpeckEx.AEAD.decrypt(ciphertext, tag, <<0::256>>, <<0::128>>, "other metadata")
      {:error, :authentication_failed}
  """
  @spec decrypt(binary, binary, binary, binary, binary, variant) ::
          {:ok, binary} | {:error, :authentication_failed}
  def decrypt(ciphertext, tag, key, nonce, aad, variant \\ :speck128_256)

  for {variant, name, block, key} <- SpeckEx.Variants.table() do
    def decrypt(
          ciphertext,
          tag,
          <<key::binary-size(unquote(key))>>,
          <<nonce::binary-size(unquote(block))>>,
          aad,
          unquote(variant)
        )
        when is_binary(ciphertext) and is_binary(tag) and is_binary(aad),
        do: Native.speck_open(unquote(name), key, nonce, ciphertext, tag, aad)
  end

  otherwise(:decrypt, 6)
end
