defmodule Sealane.File.Stream do
  @moduledoc """
  An encrypted file as a stream, made by `Sealane.File.stream!/2`.

  `inspect/1` shows no keys.
  """
  @derive {Inspect, only: [:path, :bytes]}
  @enforce_keys [:path, :bytes, :synced, :keys]
  defstruct [:path, :bytes, :synced, :keys]

  @type t :: %__MODULE__{path: String.t(), bytes: pos_integer, synced: boolean, keys: keyword}
end

defimpl Enumerable, for: Sealane.File.Stream do
  alias Sealane.{FileKeys, Reader}

  def reduce(stream, acc, fun) do
    start = fn -> {Reader.open!(stream.path, FileKeys.for_decryption(stream.keys)), 0} end

    next = fn {reader, offset} ->
      case Reader.read_at!(reader, offset, stream.bytes) do
        "" -> {:halt, {reader, offset}}
        piece -> {[piece], {reader, offset + byte_size(piece)}}
      end
    end

    Stream.resource(start, next, fn {reader, _offset} -> Reader.close(reader) end).(acc, fun)
  end

  def count(_stream), do: {:error, __MODULE__}
  def member?(_stream, _element), do: {:error, __MODULE__}
  def slice(_stream), do: {:error, __MODULE__}
end

defimpl Collectable, for: Sealane.File.Stream do
  alias Sealane.{Error, FileKeys, Native}

  def into(stream) do
    with_keys = FileKeys.encrypt_with(FileKeys.for_encryption(stream.keys))
    writer = Error.unwrap!(Native.writer_create(stream.path, with_keys))

    collector = fn
      :ok, {:cont, data} ->
        Error.unwrap!(Native.writer_push(writer, IO.iodata_to_binary(data)))

      :ok, :done ->
        Error.unwrap!(Native.writer_finish(writer, stream.synced))
        stream

      :ok, :halt ->
        Native.writer_abort(writer)
    end

    {:ok, collector}
  end
end
