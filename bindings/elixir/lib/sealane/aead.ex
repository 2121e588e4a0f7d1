defmodule Sealane.Aead do
  @moduledoc """
  An algorithm with a key, which `Sealane.aead/3` makes.

  All processes can use it at the same time. The expanded key lies in memory of the library, which is wiped when the
  value is garbage, and `inspect/1` does not show it.
  """
  @derive {Inspect, only: [:algorithm]}
  @enforce_keys [:algorithm, :handle]
  defstruct [:algorithm, :handle]

  @type t :: %__MODULE__{algorithm: String.t(), handle: reference}
end
