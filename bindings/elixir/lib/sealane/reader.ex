defmodule Sealane.Reader do
  @moduledoc """
  Random access to an encrypted file.

  Only the chunks in the range are decrypted, and each is verified. Processes can read the same file
  concurrently. The file is closed by `close/1` or when the value is garbage.

      iex> path = Path.join(System.tmp_dir!(), "sealane-doctest-\#{System.unique_integer([:positive])}")
      iex> {:ok, file} = Sealane.File.encrypt("hello world", key: <<0::256>>)
      iex> File.write!(path, file)
      iex> {:ok, reader} = Sealane.Reader.open(path, key: <<0::256>>)
      iex> {reader.size, Sealane.Reader.read_at(reader, 6, 5)}
      {11, {:ok, "world"}}
      iex> Sealane.Reader.close(reader)
      iex> File.rm(path)
      :ok
  """
  import Sealane.Native, only: [otherwise: 2]
  alias Sealane.{Error, FileKeys, Native, Options}

  @derive {Inspect, only: [:path, :size]}
  @enforce_keys [:path, :size, :handle]
  defstruct [:path, :size, :handle]

  @type t :: %__MODULE__{path: String.t(), size: non_neg_integer, handle: reference}

  @max_offset 0xFFFF_FFFF_FFFF_FFFF
  defguardp is_offset(number) when is_integer(number) and number in 0..@max_offset

  @doc """
  Opens an encrypted file and verifies its header and last chunk: its size is authentic.

  The options are the keys of `Sealane.File`.
  """
  @spec open(Path.t(), keyword) :: {:ok, t} | {:error, Error.t()}
  def open(path, opts) do
    path = Options.path!(path)

    with {:ok, {handle, size}} <- Native.reader_open(path, FileKeys.decrypt_with(opts)),
         do: {:ok, %__MODULE__{path: path, size: size, handle: handle}}
  end

  @doc "Opens a file as `open/2` does, or raises `Sealane.Error`."
  @spec open!(Path.t(), keyword) :: t
  def open!(path, opts), do: path |> open(opts) |> Error.unwrap!()

  @doc """
  Reads `len` bytes of the plaintext from `offset`, or fewer at the end of the file.

  Raises `ArgumentError` after `close/1`.
  """
  @spec read_at(t, non_neg_integer, non_neg_integer) :: {:ok, binary} | {:error, Error.t()}
  def read_at(%__MODULE__{handle: handle}, offset, len) when is_offset(offset) and is_offset(len),
    do: Native.reader_read_at(handle, offset, len)

  otherwise(:read_at, 3)

  @doc "Reads a range as `read_at/3` does, or raises `Sealane.Error`."
  @spec read_at!(t, non_neg_integer, non_neg_integer) :: binary
  def read_at!(reader, offset, len), do: reader |> read_at(offset, len) |> Error.unwrap!()

  @doc """
  Closes the file. Running reads of other processes finish first.
  """
  @spec close(t) :: :ok
  def close(%__MODULE__{handle: handle}), do: Native.reader_close(handle)
  otherwise(:close, 1)
end
