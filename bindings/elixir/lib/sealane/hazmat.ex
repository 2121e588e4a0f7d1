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
  Makes a keystream of `"aes-ctr"`, `"chacha20"`, `"xchacha20"` or a size of Speck, for example `"speck128-256"`.

  The IV of AES-CTR and of Speck is a whole block, the first counter; that of ChaCha20 has 12 bytes, of XChaCha20 24.
  Options: `:counter`, the first block counter of ChaCha20 and XChaCha20; `:byte_order` of Speck, `:big` as in the paper or
  `:little` as in the guide of the NSA.
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
  XORs data with the keystream from an offset in bytes. Encryption and decryption are the same.

  Raises `Sealane.Error` where the keystream ends.
  """
  @spec xor_at(Keystream.t(), non_neg_integer, binary) :: binary
  def xor_at(%Keystream{handle: handle}, offset, data)
      when is_integer(offset) and offset in 0..@max_offset and is_binary(data),
      do: Native.xor_at(handle, offset, data)

  otherwise(:xor_at, 3)

  @doc """
  Returns the tag of 16 bytes of a message. A key of 32 bytes must never be used for a second message.

      iex> Sealane.Hazmat.poly1305(<<0::256>>, "message")
      <<0::128>>
  """
  @spec poly1305(binary, binary) :: binary
  def poly1305(key, message) when is_binary(key) and is_binary(message), do: Native.poly1305(key, message)
  otherwise(:poly1305, 2)

  @doc """
  Returns whether the tag is that of the message, in constant time.

      iex> Sealane.Hazmat.poly1305_valid?(<<0::256>>, "message", <<0::128>>)
      true
  """
  @spec poly1305_valid?(binary, binary, binary) :: boolean
  def poly1305_valid?(key, message, tag) when is_binary(key) and is_binary(message) and is_binary(tag),
    do: Native.poly1305_verify(key, message, tag)

  otherwise(:poly1305_valid?, 3)

  @doc """
  Expands a key of the block cipher, for example of `"speck128-256"`.

  The option `:byte_order` is `:big` as in the paper, or `:little` as in the guide of the NSA.
  """
  @spec speck(String.t(), binary, keyword) :: Speck.t()
  def speck(name, key, opts \\ [])

  def speck(name, key, opts) when is_binary(name) and is_binary(key) do
    [byte_order: order] = Options.validate!(opts, byte_order: :big)
    %Speck{name: name, handle: Native.speck_new(nil, name, key, to_string(order))}
  end

  otherwise(:speck, 3)

  @doc """
  Encrypts a whole number of blocks, each for itself.

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
  Makes Speck-Poly1305 ready for use, for example `"speck128-256-poly1305"`.

  `Sealane.seal/3`, `open/3`, `encrypt/4` and `decrypt/4` take the result. A nonce has 12 bytes. With `nonce: :block`, it
  is a whole counter block of 16 bytes that the caller chooses; with `nonce: :small_block`, the variants with smaller
  blocks can be used, whose nonce is a whole block.

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
