defmodule Sealane.File do
  @moduledoc """
  Encrypted files.

      iex> key = Sealane.Key.generate("aes-256")
      iex> {:ok, file} = Sealane.File.encrypt("hello", key: key, context: "notes")
      iex> Sealane.File.decrypt(file, key: key, context: "notes")
      {:ok, "hello"}

  ## Keys

  The keys determine the format. Give exactly one source:

  | option | format |
  |---|---|
  | `key:` a binary of 16 or 32 bytes, or a symmetric `Sealane.Key` | C2SP chunked encryption; with `format:`, Tink |
  | `keyset:` the JSON of a Tink keyset | Tink streaming AEAD |
  | `recipients:` a list of strings, for example `"age1…"` or an SSH key | age; for encryption |
  | `identities:` a list of strings or `Sealane.Key` | age; for decryption |
  | `passphrase:` a string | age |

  | option | meaning |
  |---|---|
  | `:context` | bytes that a symmetric key or a keyset binds to the file; the same are needed for decryption |
  | `:format` | for a symmetric key `"chunked"`, `"tink-4kb"` or `"tink-1mb"` |
  | `:armor` | `true` writes an age file as text |
  | `:work_factor` | base-2 logarithm of the cost of a passphrase, for encryption |
  | `:max_work_factor` | the highest work factor that is accepted, for decryption; 20 without this option |

  ## Options of operations with paths

  | option | meaning |
  |---|---|
  | `:threads` | number of threads; without it one for each core, at most 8 |
  | `:synced` | `true` waits until the disk has the bytes |
  | `:progress` | a process that receives `{:sealane_progress, caller, done, total}`; `total` is `nil` for a pipe |

  An output appears under its name complete (after decryption, also verified) or not at all. If the
  calling process ends, for example by `Task.shutdown(task, :brutal_kill)`, the operation is
  cancelled and no output remains.
  """
  import Sealane.Native, only: [otherwise: 2]
  alias Sealane.{Error, FileKeys, Native, Options}

  @operation [:threads, :synced, :progress]

  @doc """
  Encrypts the file `from` to the file `to`.

  Returns `:ok` or an error such as `{:error, %Sealane.Error{reason: :io, posix: :enoent}}`. Raises
  `ArgumentError` if the options do not go together.
  """
  @spec encrypt_file(Path.t(), Path.t(), keyword) :: :ok | {:error, Error.t()}
  def encrypt_file(from, to, opts),
    do: to_file(&Native.encrypt_file/4, &FileKeys.encrypt_with/1, from, to, opts)

  @doc "Encrypts a file as `encrypt_file/3` does, or raises `Sealane.Error`."
  @spec encrypt_file!(Path.t(), Path.t(), keyword) :: :ok
  def encrypt_file!(from, to, opts), do: from |> encrypt_file(to, opts) |> Error.unwrap!()

  @doc "Decrypts the file `from` to the file `to`. Returns and raises as `encrypt_file/3` does."
  @spec decrypt_file(Path.t(), Path.t(), keyword) :: :ok | {:error, Error.t()}
  def decrypt_file(from, to, opts),
    do: to_file(&Native.decrypt_file/4, &FileKeys.decrypt_with/1, from, to, opts)

  @doc "Decrypts a file as `decrypt_file/3` does, or raises `Sealane.Error`."
  @spec decrypt_file!(Path.t(), Path.t(), keyword) :: :ok
  def decrypt_file!(from, to, opts), do: from |> decrypt_file(to, opts) |> Error.unwrap!()

  @doc "Verifies all bytes of a file and writes nothing."
  @spec verify_file(Path.t(), keyword) :: :ok | {:error, Error.t()}
  def verify_file(from, opts) do
    {operation, keys} = Options.split!(opts, @operation)
    Native.verify_file(Options.path!(from), FileKeys.decrypt_with(keys), operation(operation))
  end

  @doc """
  Encrypts bytes to the bytes of a file.

      iex> {:ok, file} = Sealane.File.encrypt("hello", passphrase: "correct horse", work_factor: 10, armor: true)
      iex> String.split(file, "\\n") |> hd()
      "-----BEGIN AGE ENCRYPTED FILE-----"
  """
  @spec encrypt(binary, keyword) :: {:ok, binary} | {:error, Error.t()}
  def encrypt(data, opts) when is_binary(data),
    do: Native.encrypt_bytes(data, FileKeys.encrypt_with(opts))

  otherwise(:encrypt, 2)

  @doc """
  Verifies and decrypts the bytes of a file.

      iex> {:ok, file} = Sealane.File.encrypt("hello", key: <<0::256>>)
      iex> {:error, error} = Sealane.File.decrypt(file, key: <<1::256>>)
      iex> error.reason
      :authentication_failed
  """
  @spec decrypt(binary, keyword) :: {:ok, binary} | {:error, Error.t()}
  def decrypt(file, opts) when is_binary(file),
    do: Native.decrypt_bytes(file, FileKeys.decrypt_with(opts))

  otherwise(:decrypt, 2)

  @doc """
  Returns an encrypted file as a stream, like `File.stream!/3`.

  Enumerating it decrypts the file piece by piece; collecting into it encrypts. The keys are options
  as above; `:identities` decrypt and `:recipients` encrypt. The option `:bytes` is the length of a
  piece, 64 KiB by default. Nothing happens before the stream is used.

  A collected file gets its name when the last piece is written. If an exception occurs before, or
  the process ends, no file remains. Each piece read is verified. Errors raise `Sealane.Error`.

      iex> path = Path.join(System.tmp_dir!(), "sealane-doctest-\#{System.unique_integer([:positive])}")
      iex> stream = Sealane.File.stream!(path, key: <<0::256>>)
      iex> ["one ", "two"] |> Enum.into(stream)
      iex> Enum.join(stream)
      "one two"
      iex> File.rm(path)
      :ok
  """
  @spec stream!(Path.t(), keyword) :: Sealane.File.Stream.t()
  def stream!(path, opts) do
    {own, keys} = Options.split!(opts, [:bytes, :synced])
    own = Options.validate!(own, bytes: 65_536, synced: false)

    unless is_integer(own[:bytes]) and own[:bytes] > 0,
      do: raise(ArgumentError, "bytes must be a positive integer, found #{inspect(own[:bytes])}")

    %Sealane.File.Stream{path: Options.path!(path), bytes: own[:bytes], synced: own[:synced], keys: keys}
  end

  defp to_file(work, keys_of, from, to, opts) do
    {operation, keys} = Options.split!(opts, @operation)
    work.(Options.path!(from), Options.path!(to), keys_of.(keys), operation(operation))
  end

  defp operation(opts) do
    opts = Options.validate!(opts, threads: 0, synced: false, progress: nil)
    {opts[:threads], opts[:synced], opts[:progress]}
  end
end
