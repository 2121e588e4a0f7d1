defmodule Sealane.Key do
  @moduledoc """
  A private or symmetric key held by the library.

  It is in the library's memory and is wiped when the value is garbage. `inspect/1` shows only its
  kind.

      iex> key = Sealane.Key.generate("age")
      iex> "age1" <> _ = Sealane.Key.public(key)
      iex> inspect(key)
      "#Sealane.Key<kind: \\"age\\", ...>"

  The kinds are those of `sealane keygen -t`, such as `"aes-256"`, `"age"`, `"age-pq"`, `"x25519"`
  and `"rsa-3072"`.
  """
  import Sealane.Native, only: [otherwise: 2]
  alias Sealane.{Error, Native, Options}

  @derive {Inspect, only: [:kind]}
  @enforce_keys [:kind, :handle]
  defstruct [:kind, :handle]

  @type t :: %__MODULE__{kind: String.t() | nil, handle: reference}

  @doc """
  Generates a key. Raises `ArgumentError`, listing the kinds, for an unknown `kind`.

      iex> byte_size(Sealane.Key.to_binary(Sealane.Key.generate("aes-256")))
      32
  """
  @spec generate(String.t()) :: t
  def generate(kind) when is_binary(kind), do: new(Native.key_generate(kind))
  otherwise(:generate, 1)

  @doc """
  Returns a symmetric key from a binary, for example of 32 bytes.

      iex> Sealane.Key.from_binary(<<0::256>>) |> Sealane.Key.to_binary()
      <<0::256>>
  """
  @spec from_binary(binary) :: t
  def from_binary(key) when is_binary(key), do: new(Native.key_from_bytes(key))
  otherwise(:from_binary, 1)

  @doc """
  Reads a private or symmetric key from text: a JSON Web Key, PEM, an age identity, an OpenSSH key.

  The option `:passphrase` decrypts it.

      iex> text = Sealane.Key.to_text(Sealane.Key.generate("aes-256"))
      iex> {:ok, key} = Sealane.Key.from_text(text)
      iex> Sealane.Key.to_text(key) == text
      true
  """
  @spec from_text(String.t(), passphrase: String.t()) :: {:ok, t} | {:error, Error.t()}
  def from_text(text, opts \\ [])

  def from_text(text, opts) when is_binary(text) do
    [passphrase: passphrase] = Options.validate!(opts, passphrase: nil)
    with {:ok, handle} <- Native.key_from_text(text, passphrase), do: {:ok, new(handle)}
  end

  otherwise(:from_text, 2)

  @doc """
  Loads a private or symmetric key from a file of any kind written by `sealane keygen` and other
  programs.

  The option `:passphrase` decrypts it.
  """
  @spec load(Path.t(), passphrase: String.t()) :: {:ok, t} | {:error, Error.t()}
  def load(path, opts \\ []) do
    [passphrase: passphrase] = Options.validate!(opts, passphrase: nil)

    with {:ok, handle} <- Native.key_load(Options.path!(path), passphrase),
         do: {:ok, new(handle)}
  end

  @doc "Loads a key as `load/2` does, or raises `Sealane.Error`."
  @spec load!(Path.t(), passphrase: String.t()) :: t
  def load!(path, opts \\ []), do: path |> load(opts) |> Error.unwrap!()

  @doc """
  Saves a key to a file that only the owner may read.

  Options: `:passphrase` encrypts it; `replace: true` replaces an existing file.
  """
  @spec save(t, Path.t(), passphrase: String.t(), replace: boolean) :: :ok | {:error, Error.t()}
  def save(key, path, opts \\ [])

  def save(%__MODULE__{handle: handle}, path, opts) do
    opts = Options.validate!(opts, passphrase: nil, replace: false)
    Native.key_save(handle, Options.path!(path), opts[:passphrase], opts[:replace])
  end

  otherwise(:save, 3)

  @doc """
  Returns the text of a key file. The option `:passphrase` encrypts it.

  The result is a binary with the secret unless encrypted.
  """
  @spec to_text(t, passphrase: String.t()) :: String.t()
  def to_text(key, opts \\ [])

  def to_text(%__MODULE__{handle: handle}, opts) do
    [passphrase: passphrase] = Options.validate!(opts, passphrase: nil)
    Native.key_to_text(handle, passphrase)
  end

  otherwise(:to_text, 2)

  @doc """
  Returns the bytes of a symmetric key. Raises `ArgumentError` for another key.

  The result is a binary with the secret.
  """
  @spec to_binary(t) :: binary
  def to_binary(%__MODULE__{handle: handle}), do: Native.key_bytes(handle)
  otherwise(:to_binary, 1)

  @doc """
  Returns the public key as text: an age recipient or PEM; `nil` for a symmetric key.

      iex> Sealane.Key.public(Sealane.Key.from_binary(<<0::256>>))
      nil
  """
  @spec public(t) :: String.t() | nil
  def public(%__MODULE__{handle: handle}) do
    text = Native.key_public(handle)
    # A recipient is one line, for a list or an argument; PEM has several.
    case text && String.split(text, "\n", trim: true) do
      [line] -> line
      _ -> text
    end
  end

  otherwise(:public, 1)

  @doc """
  Derives a key from a passphrase with Argon2id.

  Options: `:len`, 32 bytes; `:memory_kib`, 65,536; `:passes`, 3; `:lanes`, 4. Use a salt of at
  least 16 random bytes and store it with the ciphertext.

      iex> cost = [memory_kib: 256, passes: 1, lanes: 1]
      iex> key = Sealane.Key.derive("correct horse", "a salt of 16 byt", cost)
      iex> byte_size(Sealane.Key.to_binary(key))
      32
  """
  @spec derive(binary, binary, keyword) :: t
  def derive(passphrase, salt, opts \\ [])

  def derive(passphrase, salt, opts) when is_binary(passphrase) and is_binary(salt) do
    opts = Options.validate!(opts, len: 32, memory_kib: 65_536, passes: 3, lanes: 4)
    new(Native.derive(passphrase, salt, opts[:len], opts[:memory_kib], opts[:passes], opts[:lanes]))
  end

  otherwise(:derive, 3)

  defp new(handle), do: %__MODULE__{kind: Native.key_kind(handle), handle: handle}
end
