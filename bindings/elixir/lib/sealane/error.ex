defmodule Sealane.Error do
  @moduledoc """
  The error of an operation.

  Functions return it as `{:error, %Sealane.Error{}}`. Functions ending in `!`, streams, and too
  long messages raise it. A mistake in a call, such as a key of the wrong length, raises
  `ArgumentError` or `FunctionClauseError` instead.

  | `reason` | meaning |
  |---|---|
  | `:authentication_failed` | the key, the nonce, the associated data or the context differs, or the data was changed |
  | `:format` | the input is not in the expected format, or its header is damaged |
  | `:truncated` | the input ends too early |
  | `:unsupported_version` | another version of the format |
  | `:no_matching_key` | no key or passphrase fits to the data |
  | `:provider_unavailable` | no implementation of the algorithm can be used on this machine |
  | `:limit_exceeded` | a limit of the algorithm, the format or the machine |
  | `:io` | an error of the operating system; `posix` is its reason as in `File`, for example `:enoent` |
  | `:cancelled` | the calling process ended |
  | `:out_of_memory` | the machine has no memory for the result |
  | `:internal` | an error that this version of the package does not know |

  `message` says what was found and what was expected. It never contains a secret.
  """
  defexception [:reason, :message, :posix]

  @type reason ::
          :authentication_failed
          | :format
          | :truncated
          | :unsupported_version
          | :no_matching_key
          | :provider_unavailable
          | :limit_exceeded
          | :io
          | :cancelled
          | :out_of_memory
          | :internal

  @type t :: %__MODULE__{reason: reason, message: String.t(), posix: atom}

  @doc false
  def unwrap!(:ok), do: :ok
  def unwrap!({:ok, value}), do: value
  def unwrap!({:error, %__MODULE__{} = error}), do: raise(error)
end
