defmodule Sealane.Stream do
  @moduledoc """
  Encrypts and decrypts streams of binaries other than files, such as the body of an HTTP response.

      iex> pieces = ["one ", "two"] |> Sealane.Stream.encrypt(key: <<0::256>>)
      iex> pieces |> Sealane.Stream.decrypt(key: <<0::256>>) |> Enum.join()
      "one two"

  For files, use `Sealane.File.stream!/2`: it commits an encrypted file at its end, and verifies the
  end of a file before reading its beginning.

  The options are the keys of `Sealane.File`. The result is lazy, and each enumeration encrypts with
  a new file key. Errors raise `Sealane.Error`.
  """
  alias Sealane.{Error, FileKeys, Native}

  @doc """
  Encrypts a stream of iodata to a stream of binaries that together are an encrypted file.
  """
  @spec encrypt(Enumerable.t(), keyword) :: Enumerable.t()
  def encrypt(pieces, opts) do
    start = fn -> Error.unwrap!(Native.encryptor_new(FileKeys.encrypt_with(opts))) end
    transform(pieces, start)
  end

  @doc """
  Decrypts a stream of iodata, the pieces of an encrypted file, to a stream of plaintext.

  Each piece that comes out is verified. **Only the end of the stream shows whether bytes are
  missing:** if the enumeration raises or stops early, do not use the pieces as a complete file.
  """
  @spec decrypt(Enumerable.t(), keyword) :: Enumerable.t()
  def decrypt(pieces, opts) do
    start = fn -> Error.unwrap!(Native.decryptor_new(FileKeys.decrypt_with(opts))) end
    transform(pieces, start)
  end

  defp transform(pieces, start) do
    push = fn piece, filter ->
      {some(Native.filter_push(filter, IO.iodata_to_binary(piece))), filter}
    end

    finish = fn filter -> {some(Native.filter_finish(filter)), filter} end
    # Nothing to close: the stream's secrets are wiped when it is garbage.
    Stream.transform(pieces, start, push, finish, fn _filter -> :ok end)
  end

  defp some(result) do
    case Error.unwrap!(result) do
      "" -> []
      bytes -> [bytes]
    end
  end
end
