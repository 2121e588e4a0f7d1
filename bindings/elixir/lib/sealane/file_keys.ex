defmodule Sealane.FileKeys do
  @moduledoc false
  # Converts the options shared by all file operations to handles.
  alias Sealane.{Key, Native, Options}

  @sources [:key, :keyset, :recipients, :identities, :passphrase]

  def encrypt_with(opts) do
    opts =
      Options.validate!(
        opts,
        [:work_factor, :format, context: "", armor: false] ++ Enum.map(@sources, &{&1, nil})
      )

    source =
      case given(opts, [:key, :keyset, :recipients, :passphrase]) do
        {:recipients, list} -> {:recipients, lines(list, :recipients)}
        {:passphrase, text} -> {:passphrase, text, opts[:work_factor]}
        other -> unused(opts, :work_factor, symmetric(other))
      end

    Native.encrypt_with(source, opts[:context], opts[:format], opts[:armor])
  end

  def decrypt_with(opts) do
    opts = Options.validate!(opts, [:max_work_factor, :format, context: ""] ++ Enum.map(@sources, &{&1, nil}))

    source =
      case given(opts, [:key, :keyset, :identities, :passphrase]) do
        {:identities, list} -> unused(opts, :max_work_factor, identities(list))
        {:passphrase, text} -> {:passphrase, text, opts[:max_work_factor]}
        other -> unused(opts, :max_work_factor, symmetric(other))
      end

    Native.decrypt_with(source, opts[:context], opts[:format])
  end

  # A stream has the options of both directions. Each direction uses its own.
  def for_encryption(opts), do: Keyword.drop(opts, [:identities, :max_work_factor])
  def for_decryption(opts), do: Keyword.drop(opts, [:recipients, :work_factor, :armor])

  defp given(opts, expected) do
    case for(source <- @sources, opts[source] != nil, do: source) do
      [one] ->
        if one in expected, do: {one, opts[one]}, else: wrong_source([one], expected)

      found ->
        wrong_source(found, expected)
    end
  end

  defp wrong_source(found, expected) do
    found = if found == [], do: "none", else: Enum.join(found, ", ")
    raise ArgumentError, "exactly one of #{Enum.join(expected, ", ")} is needed, found #{found}"
  end

  defp unused(opts, option, source) do
    if opts[option] == nil,
      do: source,
      else: raise(ArgumentError, "#{option} is for a passphrase only: omit it, or give a passphrase")
  end

  defp symmetric({:key, %Key{handle: handle}}), do: {:secret, handle}
  defp symmetric({:key, key}) when is_binary(key), do: {:key, key}
  defp symmetric({:keyset, json}) when is_binary(json), do: {:keyset, json}

  defp symmetric({name, _}),
    do: raise(ArgumentError, "#{name} must be a binary#{if name == :key, do: " or a Sealane.Key"}")

  defp lines(text, _name) when is_binary(text), do: text

  defp lines(list, name) when is_list(list) do
    unless Enum.all?(list, &is_binary/1), do: raise(ArgumentError, "#{name} must be strings")
    Enum.join(list, "\n")
  end

  defp identities(text) when is_binary(text), do: {:identities, text, []}

  defp identities(list) when is_list(list) do
    {keys, text} = Enum.split_with(list, &is_struct(&1, Key))
    {:identities, lines(text, :identities), Enum.map(keys, & &1.handle)}
  end
end
