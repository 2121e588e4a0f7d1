defmodule SpeckEx do
  @moduledoc """
  The API of the package [SpeckEx](https://hex.pm/packages/speck_ex), with the same bytes.

  `crypt/3`, `aead_encrypt/3` and `aead_decrypt/5` use a 12-byte nonce and leave 4 bytes for the
  counter. `SpeckEx.CTR` and `SpeckEx.AEAD` take a whole block as nonce, and `SpeckEx.Block`
  encrypts single blocks.

  **For new data, use `Sealane.seal/3` with AES-256-GCM.** Speck's authors also recommend AES where
  it is available.

      iex> key = :crypto.strong_rand_bytes(32)
      iex> {nonce, ciphertext} = SpeckEx.crypt("Hello, World!", key)
      iex> {_nonce, plaintext} = SpeckEx.crypt(ciphertext, key, nonce: nonce)
      iex> plaintext
      "Hello, World!"

      iex> key = :crypto.strong_rand_bytes(32)
      iex> {nonce, ciphertext, tag} = SpeckEx.aead_encrypt("Secret", key, aad: "metadata")
      iex> SpeckEx.aead_decrypt(ciphertext, tag, key, nonce, aad: "metadata")
      {:ok, "Secret"}

  ## Limits

  - At most 64 GiB under one nonce. More raises `FunctionClauseError`, because the counter would
    reach the nonce.
  - At most 2^32 messages with random nonces under one key. This is not counted, because a key comes
    with each call.
  - Never use a key in both `crypt/3` and `aead_encrypt/3`: the first can reveal the second's tag
    keys.
  - Keys are Erlang binaries, which are never wiped.

  Invalid arguments, such as a key of another length, raise `FunctionClauseError` as in SpeckEx.
  """
  import Sealane.Native, only: [otherwisep: 2]
  alias SpeckEx.{AEAD, Block, CTR}

  @typedoc "Variants with blocks of 128 bits."
  @type aead_variant :: :speck128_128 | :speck128_192 | :speck128_256

  @typedoc "Variants with blocks of 128 bits."
  @type ctr_variant :: :speck128_128 | :speck128_192 | :speck128_256

  @typedoc "Bits of a block and of a key."
  @type variant_parameters :: {pos_integer, pos_integer}

  @typedoc "Options of counter mode."
  @type ctr_opt :: {:variant, ctr_variant} | {:nonce, <<_::96>>}

  @typedoc "Options of authenticated encryption."
  @type aead_opt :: {:variant, aead_variant} | {:nonce, <<_::96>>} | {:aad, binary}

  @typedoc "A key of 16, 24 or 32 bytes, as the variant requires."
  @type key :: <<_::128>> | <<_::192>> | <<_::256>>

  @large [:speck128_128, :speck128_192, :speck128_256]

  # 2^32 blocks of 16 bytes. In authenticated encryption, the first two are the key of the tag.
  @max_ctr_len 68_719_476_736
  @max_aead_len @max_ctr_len - 32

  @doc """
  Encrypts or decrypts in counter mode, which is the same. Nothing is authenticated.

  Options: `:nonce`, 12 bytes, random by default; `:variant`, `:speck128_256` by default.

  Returns the nonce and the result.

      iex> key = :crypto.strong_rand_bytes(16)
      iex> {nonce, ciphertext} = SpeckEx.crypt("Secret data", key, variant: :speck128_128)
      iex> {^nonce, "Secret data"} = SpeckEx.crypt(ciphertext, key, nonce: nonce, variant: :speck128_128)
      iex> byte_size(nonce)
      12
  """
  @spec crypt(binary, key, [ctr_opt]) :: {<<_::96>>, binary}
  def crypt(data, key, opts \\ []) do
    {nonce, variant} = {nonce(opts), variant(opts)}
    {nonce, CTR.crypt(data, key, counter(nonce, variant, data, @max_ctr_len), variant)}
  end

  @doc """
  Encrypts and authenticates. Returns the nonce, the ciphertext and a 16-byte tag.

  Options: `:nonce`, 12 bytes, random by default; `:aad`, data that is authenticated but not
  encrypted; `:variant`, `:speck128_256` by default.

      iex> key = :crypto.strong_rand_bytes(32)
      iex> {nonce, ciphertext, tag} = SpeckEx.aead_encrypt("Hello, World!", key, aad: "metadata")
      iex> {byte_size(nonce), byte_size(ciphertext), byte_size(tag)}
      {12, 13, 16}
  """
  @spec aead_encrypt(binary, key, [aead_opt]) :: {<<_::96>>, binary, <<_::128>>}
  def aead_encrypt(plaintext, key, opts \\ []) do
    {nonce, variant} = {nonce(opts), variant(opts)}
    counter = counter(nonce, variant, plaintext, @max_aead_len)
    {ciphertext, tag} = AEAD.encrypt(plaintext, key, counter, get(opts, :aad) || "", variant)
    {nonce, ciphertext, tag}
  end

  @doc """
  Verifies the tag and decrypts.

  Options: `:aad` and `:variant`, as in `aead_encrypt/3`.

      iex> key = :crypto.strong_rand_bytes(32)
      iex> {nonce, ciphertext, tag} = SpeckEx.aead_encrypt("Hello, World!", key, aad: "metadata")
      iex> SpeckEx.aead_decrypt(ciphertext, tag, key, nonce, aad: "oh no!")
      {:error, :authentication_failed}
  """
  @spec aead_decrypt(binary, binary, key, <<_::96>>, [aead_opt]) ::
          {:ok, binary} | {:error, :authentication_failed}
  def aead_decrypt(ciphertext, tag, key, nonce, opts \\ []) do
    variant = variant(opts)
    counter = counter(nonce, variant, ciphertext, @max_aead_len)
    AEAD.decrypt(ciphertext, tag, key, counter, get(opts, :aad) || "", variant)
  end

  @doc """
  Returns all variants with their block and key bits.

      iex> SpeckEx.variants()[:speck96_144]
      {96, 144}
  """
  @spec variants() :: %{Block.variant() => variant_parameters}
  def variants, do: SpeckEx.Variants.all()

  # The first counter block. Data of more than 2^32 blocks would reach the nonce.
  defp counter(<<nonce::binary-size(12)>>, variant, data, max)
       when variant in @large and byte_size(data) <= max,
       do: <<nonce::binary, 0::32>>

  otherwisep(:counter, 4)

  defp nonce(opts), do: get(opts, :nonce) || :crypto.strong_rand_bytes(12)
  defp variant(opts), do: get(opts, :variant) || :speck128_256

  defp get(opts, name) when is_list(opts) or (is_map(opts) and not is_struct(opts)), do: opts[name]
  otherwisep(:get, 2)
end
