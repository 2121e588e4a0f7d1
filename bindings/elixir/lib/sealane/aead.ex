defmodule Sealane.Aead do
  @moduledoc """
  An algorithm with a key, made by `Sealane.aead/3`.

  All processes can use it concurrently. The expanded key is in the library's memory and is wiped
  when the value is garbage. `inspect/1` does not show it.
  """
  @derive {Inspect, only: [:algorithm]}
  @enforce_keys [:algorithm, :handle]
  defstruct [:algorithm, :handle]

  @type t :: %__MODULE__{algorithm: String.t(), handle: reference}
end
