defmodule Sealane.Stream do
  @moduledoc """
  Encrypts and decrypts streams of binaries that are not files, for example the body of an HTTP response.

      iex> pieces = ["one ", "two"] |> Sealane.Stream.encrypt(key: <<0::256>>)
      iex> pieces |> Sealane.Stream.decrypt(key: <<0::256>>) |> Enum.join()
      "one two"

  For files, use `Sealane.File.stream!/2`, which commits an encrypted file at its end and verifies the end of a file
  before its beginning is read.

  The options are the keys of `Sealane.File`. The result is lazy, and each enumeration encrypts with a new file key.
  Errors raise `Sealane.Error`.
  """
  alias Sealane.{Error, FileKeys, Native}

  @doc """
  Encrypts a stream of iodata to a stream of binaries, which together are an encrypted file.
  """
  @spec encrypt(Enumerable.t(), keyword) :: Enumerable.t()
  def encrypt(pieces, opts) do
    start = fn -> Error.unwrap!(Native.encryptor_new(FileKeys.encrypt_with(opts))) end
    transform(pieces, start)
  end

  @doc """
  Decrypts a stream of iodata, the pieces of an encrypted file, to a stream of plaintext.

  Each piece that comes out is verified. **Only the end of the stream shows whether bytes are missing at its end:** if the
  enumeration raises or is stopped before, do not use the pieces as a complete file.
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
    # There is nothing to close: what the stream holds is wiped when it is garbage.
    Stream.transform(pieces, start, push, finish, fn _filter -> :ok end)
  end

  defp some(result) do
    case Error.unwrap!(result) do
      "" -> []
      bytes -> [bytes]
    end
  end
end
