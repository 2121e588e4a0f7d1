defmodule Sealane.Options do
  @moduledoc false

  # Merges options with their defaults. Unlike `Keyword.validate!/2`, an error names only the
  # unknown options and not the others' values, which can be keys.
  def validate!(opts, defaults) do
    defaults = Enum.map(defaults, fn option -> if is_atom(option), do: {option, nil}, else: option end)

    unless Keyword.keyword?(opts), do: raise(ArgumentError, "options must be a keyword list")

    case Keyword.keys(opts) -- Keyword.keys(defaults) do
      [] ->
        Keyword.merge(defaults, opts)

      unknown ->
        raise ArgumentError,
              "unknown options #{inspect(unknown)}, expected #{inspect(Keyword.keys(defaults))}"
    end
  end

  # Splits options into those in `names` and the others.
  def split!(opts, names) do
    unless Keyword.keyword?(opts), do: raise(ArgumentError, "options must be a keyword list")
    Keyword.split(opts, names)
  end

  # Converts a path to bytes. `IO.chardata_to_string/1` prints what it cannot convert; that can be a
  # misplaced key.
  def path!(path) when is_binary(path), do: path

  def path!(path) do
    List.to_string(path)
  rescue
    _ -> reraise ArgumentError, [message: "a path must be a string or character data"], []
  end
end
