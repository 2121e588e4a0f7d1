defmodule Sealane.Hazmat do
  @moduledoc """
  Raw ciphers: keystreams at any offset, Poly1305, and Speck.

  > #### Danger {: .error}
  >
  > A keystream authenticates nothing, and using one twice reveals both messages. Use `Sealane.seal/3` unless a protocol
  > requires one of these parts.

      iex> stream = Sealane.Hazmat.keystream("aes-ctr", <<0::256>>, <<0::128>>)
      iex> ciphertext = Sealane.Hazmat.xor_at(stream, 1_000_000, "hello")
      iex> Sealane.Hazmat.xor_at(stream, 1_000_000, ciphertext)
      "hello"
  """
  import Sealane.Native, only: [otherwise: 2]
  alias Sealane.{Aead, Native, Options}

  defmodule Keystream do
    @moduledoc "A keystream with its key and its IV, which `Sealane.Hazmat.keystream/4` makes."
    @derive {Inspect, only: [:cipher]}
    @enforce_keys [:cipher, :handle]
    defstruct [:cipher, :handle]
    @type t :: %__MODULE__{cipher: String.t(), handle: reference}
  end

  defmodule Speck do
    @moduledoc "A key of the block cipher Speck, which `Sealane.Hazmat.speck/3` makes."
    @derive {Inspect, only: [:name]}
    @enforce_keys [:name, :handle]
    defstruct [:name, :handle]
    @type t :: %__MODULE__{name: String.t(), handle: reference}
  end

  @max_offset 0xFFFF_FFFF_FFFF_FFFF

  @doc """
  Makes a keystream of `"aes-ctr"`, `"chacha20"`, `"xchacha20"` or a size of Speck, such as
  `"speck128-256"`.

  The IV of AES-CTR and Speck is a whole block, the first counter; ChaCha20's has 12 bytes,
  XChaCha20's 24. Options: `:counter`, the first block counter of ChaCha20 and XChaCha20;
  `:byte_order` of Speck, `:big` as in the paper or `:little` as in the NSA's guide.
  """
  @spec keystream(String.t(), binary, binary, keyword) :: Keystream.t()
  def keystream(cipher, key, iv, opts \\ [])

  def keystream(cipher, key, iv, opts) when is_binary(cipher) and is_binary(key) and is_binary(iv) do
    opts = Options.validate!(opts, counter: 0, byte_order: nil)
    order = if opts[:byte_order], do: to_string(opts[:byte_order])
    %Keystream{cipher: cipher, handle: Native.keystream_new(cipher, key, iv, opts[:counter], order)}
  end

  otherwise(:keystream, 4)

  @doc """
  XORs data with the keystream from a byte offset on. Encryption and decryption are the same.

  Raises `Sealane.Error` where the keystream ends.
  """
  @spec xor_at(Keystream.t(), non_neg_integer, binary) :: binary
  def xor_at(%Keystream{handle: handle}, offset, data)
      when is_integer(offset) and offset in 0..@max_offset and is_binary(data),
      do: Native.xor_at(handle, offset, data)

  otherwise(:xor_at, 3)

  @doc """
  Returns a message's 16-byte tag. Never use the 32-byte key for a second message.

      iex> Sealane.Hazmat.poly1305(<<0::256>>, "message")
      <<0::128>>
  """
  @spec poly1305(binary, binary) :: binary
  def poly1305(key, message) when is_binary(key) and is_binary(message), do: Native.poly1305(key, message)
  otherwise(:poly1305, 2)

  @doc """
  Returns whether the tag matches the message, in constant time.

      iex> Sealane.Hazmat.poly1305_valid?(<<0::256>>, "message", <<0::128>>)
      true
  """
  @spec poly1305_valid?(binary, binary, binary) :: boolean
  def poly1305_valid?(key, message, tag) when is_binary(key) and is_binary(message) and is_binary(tag),
    do: Native.poly1305_verify(key, message, tag)

  otherwise(:poly1305_valid?, 3)

  @doc """
  Expands a key of the block cipher, such as `"speck128-256"`.

  The option `:byte_order` is `:big` as in the paper, or `:little` as in the NSA's guide.
  """
  @spec speck(String.t(), binary, keyword) :: Speck.t()
  def speck(name, key, opts \\ [])

  def speck(name, key, opts) when is_binary(name) and is_binary(key) do
    [byte_order: order] = Options.validate!(opts, byte_order: :big)
    %Speck{name: name, handle: Native.speck_new(nil, name, key, to_string(order))}
  end

  otherwise(:speck, 3)

  @doc """
  Encrypts a whole number of blocks, each separately.

      iex> speck = Sealane.Hazmat.speck("speck32-64", <<0x1918111009080100::64>>)
      iex> Sealane.Hazmat.encrypt_blocks(speck, <<0x6574694C::32, 0x6574694C::32>>)
      <<0xA86842F2::32, 0xA86842F2::32>>
  """
  @spec encrypt_blocks(Speck.t(), binary) :: binary
  def encrypt_blocks(%Speck{handle: handle}, data) when is_binary(data),
    do: Native.encrypt_blocks(handle, nil, data)

  otherwise(:encrypt_blocks, 2)

  @doc "Decrypts a whole number of blocks."
  @spec decrypt_blocks(Speck.t(), binary) :: binary
  def decrypt_blocks(%Speck{handle: handle}, data) when is_binary(data),
    do: Native.decrypt_blocks(handle, nil, data)

  otherwise(:decrypt_blocks, 2)

  @doc """
  Makes a Speck-Poly1305 key, such as `"speck128-256-poly1305"`.

  Pass the result to `Sealane.seal/3`, `open/3`, `encrypt/4` and `decrypt/4`. A nonce has 12 bytes.
  With `nonce: :block`, it is a whole 16-byte counter block that the caller chooses. `nonce:
  :small_block` allows the variants with smaller blocks; their nonce is a whole block.

      iex> aead = Sealane.Hazmat.speck_poly1305("speck128-256-poly1305", <<0::256>>)
      iex> Sealane.open(aead, Sealane.seal(aead, "hello"))
      {:ok, "hello"}
  """
  @spec speck_poly1305(String.t(), binary, keyword) :: Aead.t()
  def speck_poly1305(name, key, opts \\ [])

  def speck_poly1305(name, key, opts) when is_binary(name) and is_binary(key) do
    [nonce: nonce] = Options.validate!(opts, nonce: :standard)

    unless nonce in [:standard, :block, :small_block],
      do: raise(ArgumentError, "nonce must be :standard, :block or :small_block, found #{inspect(nonce)}")

    %Aead{algorithm: name, handle: Native.speck_aead_new(name, key, to_string(nonce))}
  end

  otherwise(:speck_poly1305, 3)
end
