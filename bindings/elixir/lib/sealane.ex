defmodule Sealane do
  @moduledoc """
  Encryption of messages and files in formats that other software reads.

  | to | use |
  |---|---|
  | encrypt messages with a symmetric key | `aead/3`, `seal/3`, `open/3` |
  | encrypt files | `encrypt_file/3`, `decrypt_file/3` and `Sealane.File` |
  | read a range of an encrypted file | `Sealane.Reader` |
  | encrypt or decrypt a stream | `Sealane.File.stream!/2`, `Sealane.Stream` |
  | generate, load and save keys | `Sealane.Key` |
  | encrypt messages for the holder of a private key | `Sealane.Hybrid` |
  | sign files and messages, and verify signatures | `Sealane.Signing` |
  | use raw ciphers | `Sealane.Hazmat` |
  | replace the package SpeckEx | `SpeckEx` |

  ## Messages

      iex> key = Sealane.generate_key("aes-256-gcm")
      iex> aead = Sealane.aead("aes-256-gcm", key)
      iex> sealed = Sealane.seal(aead, "hello", "header")
      iex> Sealane.open(aead, sealed, "header")
      {:ok, "hello"}
      iex> Sealane.open(aead, sealed, "another header")
      {:error, :authentication_failed}

  ## Processes

  Calls with less than 64 KiB run on the process's scheduler. Longer data, files and key derivations
  run on dirty schedulers, so other processes continue. One thread encrypts a message; several
  processes encrypt several messages on all cores. A bug in the native code raises `ErlangError`
  with `:nif_panicked`, and the machine continues.

  ## Secrets

  Keys in this package's values are wiped when the value is garbage. Erlang binaries are never
  wiped, so keys passed as binaries, and plaintext, stay in memory until it is reused. `Sealane.Key`
  holds keys that were never a binary.
  """
  import Sealane.Native, only: [otherwise: 2]
  alias Sealane.{Aead, Key, Native, Options}

  @doc """
  Prepares an algorithm with a key, a binary or a symmetric `Sealane.Key`.

  The option `:provider` names the implementation; the default is the fastest on this machine.

  Raises `ArgumentError` if the algorithm or provider is unknown or the key length is wrong, and
  `Sealane.Error` if the provider cannot be used.

      iex> Sealane.aead("chacha20-poly1305", <<0::256>>)
      #Sealane.Aead<algorithm: "chacha20-poly1305", ...>
  """
  @spec aead(String.t(), binary | Key.t(), provider: String.t()) :: Aead.t()
  def aead(algorithm, key, opts \\ [])

  def aead(algorithm, %Key{handle: handle}, opts) when is_binary(algorithm) do
    [provider: provider] = Options.validate!(opts, provider: nil)
    %Aead{algorithm: algorithm, handle: Native.aead_new_with_secret(algorithm, handle, provider)}
  end

  def aead(algorithm, key, opts) when is_binary(algorithm) and is_binary(key) do
    [provider: provider] = Options.validate!(opts, provider: nil)
    %Aead{algorithm: algorithm, handle: Native.aead_new(algorithm, key, provider)}
  end

  otherwise(:aead, 3)

  @doc """
  Encrypts under a fresh random nonce. Returns `nonce <> ciphertext <> tag`.

  The associated data is authenticated but not part of the result. See `algorithms/0` and the guide
  for the limit on messages with random nonces under one key, for example 2^32 for AES-GCM.

      iex> aead = Sealane.aead("aes-256-gcm", <<0::256>>)
      iex> byte_size(Sealane.seal(aead, "hello"))
      33
  """
  @spec seal(Aead.t(), binary, binary) :: binary
  def seal(aead, data, aad \\ "")

  def seal(%Aead{handle: handle}, data, aad) when is_binary(data) and is_binary(aad),
    do: Native.seal(handle, data, aad)

  otherwise(:seal, 3)

  @doc """
  Verifies and decrypts a result of `seal/3`.

      iex> aead = Sealane.aead("aes-256-gcm", <<0::256>>)
      iex> Sealane.open(aead, "too short")
      {:error, :authentication_failed}
  """
  @spec open(Aead.t(), binary, binary) :: {:ok, binary} | {:error, :authentication_failed}
  def open(aead, sealed, aad \\ "")

  def open(%Aead{handle: handle}, sealed, aad) when is_binary(sealed) and is_binary(aad),
    do: Native.open(handle, sealed, aad)

  otherwise(:open, 3)

  @doc """
  Encrypts under the caller's nonce. Never use a nonce twice with one key. Returns `ciphertext <>
  tag`.

      iex> aead = Sealane.aead("aes-256-gcm", <<0::256>>)
      iex> Sealane.encrypt(aead, <<0::96>>, "") |> Base.encode16(case: :lower)
      "530f8afbc74536b9a963b4f1c4cb738b"
  """
  @spec encrypt(Aead.t(), binary, binary, binary) :: binary
  def encrypt(aead, nonce, data, aad \\ "")

  def encrypt(%Aead{handle: handle}, nonce, data, aad)
      when is_binary(nonce) and is_binary(data) and is_binary(aad),
      do: Native.encrypt(handle, nonce, data, aad)

  otherwise(:encrypt, 4)

  @doc """
  Verifies and decrypts a result of `encrypt/4`.

      iex> aead = Sealane.aead("aes-256-gcm", <<0::256>>)
      iex> Sealane.decrypt(aead, <<0::96>>, Sealane.encrypt(aead, <<0::96>>, "hello"))
      {:ok, "hello"}
  """
  @spec decrypt(Aead.t(), binary, binary, binary) :: {:ok, binary} | {:error, :authentication_failed}
  def decrypt(aead, nonce, data, aad \\ "")

  def decrypt(%Aead{handle: handle}, nonce, data, aad)
      when is_binary(nonce) and is_binary(data) and is_binary(aad),
      do: Native.decrypt(handle, nonce, data, aad)

  otherwise(:decrypt, 4)

  @doc """
  Returns the lengths and the implementation of a prepared algorithm.

      iex> about = Sealane.describe(Sealane.aead("aes-256-gcm", <<0::256>>))
      iex> {about.algorithm, about.nonce_len, about.tag_len}
      {"aes-256-gcm", 12, 16}
  """
  @spec describe(Aead.t()) :: %{
          algorithm: String.t(),
          provider: String.t(),
          variant: String.t(),
          nonce_len: pos_integer,
          tag_len: pos_integer,
          max_plaintext_len: pos_integer
        }
  def describe(%Aead{handle: handle}) do
    named(
      Native.aead_describe(handle),
      [:algorithm, :provider, :variant, :nonce_len, :tag_len, :max_plaintext_len]
    )
  end

  otherwise(:describe, 1)

  @doc """
  Returns random bytes of the algorithm's key length.

  `Sealane.Key.generate/1` returns a key that is not a binary.

      iex> byte_size(Sealane.generate_key("aes-128-gcm"))
      16
  """
  @spec generate_key(String.t()) :: binary
  def generate_key(algorithm) when is_binary(algorithm) do
    case Enum.find(algorithms(), &(&1.algorithm == algorithm)) do
      %{key_len: len} ->
        Native.random(len)

      nil ->
        names = Enum.map_join(algorithms(), ", ", & &1.algorithm)
        raise ArgumentError, "unknown algorithm: expected one of #{names}"
    end
  end

  otherwise(:generate_key, 1)

  @doc """
  Lists the algorithms with their key, nonce and tag lengths and their limits, in bytes.

      iex> Enum.find(Sealane.algorithms(), &(&1.algorithm == "aes-256-gcm")).key_len
      32
  """
  @spec algorithms() :: [map]
  def algorithms do
    names = [:algorithm, :key_len, :nonce_len, :tag_len, :max_plaintext_len, :max_aad_len]
    for row <- Native.algorithms(), do: named(row, names)
  end

  @doc """
  Lists the algorithms' implementations, and why one cannot be used.

  Each implementation is tested first, unless it already was.
  """
  @spec providers() :: [map]
  def providers do
    names = [:algorithm, :provider, :variant, :available, :chosen, :reason]
    for row <- Native.providers(), do: named(row, names)
  end

  defp named(row, names), do: names |> Enum.zip(Tuple.to_list(row)) |> Map.new()

  @doc "Returns the version of the library."
  @spec version() :: String.t()
  def version, do: Native.version()

  @doc "Encrypts a file. See `Sealane.File.encrypt_file/3`."
  defdelegate encrypt_file(from, to, opts), to: Sealane.File

  @doc "Encrypts a file, or raises. See `Sealane.File.encrypt_file/3`."
  defdelegate encrypt_file!(from, to, opts), to: Sealane.File

  @doc "Decrypts a file. See `Sealane.File.decrypt_file/3`."
  defdelegate decrypt_file(from, to, opts), to: Sealane.File

  @doc "Decrypts a file, or raises. See `Sealane.File.decrypt_file/3`."
  defdelegate decrypt_file!(from, to, opts), to: Sealane.File
end
