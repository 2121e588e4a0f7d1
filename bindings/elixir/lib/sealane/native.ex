defmodule Sealane.Native do
  @moduledoc false
  # Calls the native functions on the right scheduler, without secrets in an error's stack trace.
  alias Sealane.Native.Functions

  # From this many bytes on, a call goes to a dirty scheduler, at a cost of two microseconds. The
  # slowest variant, Speck on a processor without vectors, needs about a third of a millisecond for
  # them.
  @long 65_536

  @foreign "an argument has another type than expected: give a handle of this package, text in UTF-8, and numbers in range"

  for {name, arity} <- Functions.plain() do
    arguments = Macro.generate_arguments(arity, __MODULE__)

    def unquote(name)(unquote_splicing(arguments)) do
      Functions.unquote(name)(unquote_splicing(arguments))
    catch
      :error, reason -> failed(reason, __STACKTRACE__)
    end
  end

  for {name, native, arguments, long} <- Functions.by_length() do
    arguments = Enum.map(arguments, &Macro.var(&1, __MODULE__))
    bytes = for name <- long, do: quote(do: byte_size(unquote(Macro.var(name, __MODULE__))))
    bytes = Enum.reduce(bytes, &quote(do: unquote(&2) + unquote(&1)))

    def unquote(name)(unquote_splicing(arguments)) do
      if unquote(bytes) < @long,
        do: Functions.unquote(native)(unquote_splicing(arguments)),
        else: Functions.unquote(:"#{native}_dirty")(unquote_splicing(arguments))
    catch
      :error, reason -> failed(reason, __STACKTRACE__)
    end
  end

  # The machine puts a native function's arguments into the stack trace, and loggers print them.
  defp failed(:badarg, trace), do: reraise(ArgumentError, [message: @foreign], without_arguments(trace))
  defp failed(reason, trace), do: :erlang.raise(:error, reason, without_arguments(trace))

  defp without_arguments([{module, name, arguments, location} | rest]) when is_list(arguments),
    do: [{module, name, length(arguments), location} | rest]

  defp without_arguments(trace), do: trace

  @doc """
  Defines a function's last clause: unmatched arguments raise `FunctionClauseError`.

  The machine would do so too, but with all arguments in the stack trace, and loggers print them.
  """
  defmacro otherwise(name, arity), do: clause(:def, name, arity)

  @doc "Defines the last clause of a private function, as `otherwise/2` does."
  defmacro otherwisep(name, arity), do: clause(:defp, name, arity)

  defp clause(kind, name, arity) do
    ignored = List.duplicate(quote(do: _), arity)

    quote do
      unquote(kind)(unquote(name)(unquote_splicing(ignored))) do
        raise FunctionClauseError, module: __MODULE__, function: unquote(name), arity: unquote(arity)
      end
    end
  end
end
