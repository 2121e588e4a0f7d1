defmodule Sealane.Hybrid do
  @moduledoc """
  Messages for the holder of a private key.

  The key's kind determines the scheme: HPKE (RFC 9180) for X25519 and P-256, X-Wing (which resists
  quantum computers), ECIES for secp256k1, and RSA-OAEP with AES-GCM.

      iex> key = Sealane.Key.generate("x25519")
      iex> {:ok, message} = Sealane.Hybrid.seal(Sealane.Key.public(key), "hello", "header")
      iex> Sealane.Hybrid.open(key, message, "header")
      {:ok, "hello"}

  Options of both functions: `:info`, bytes that HPKE binds to the message; `:suite`, HPKE's AEAD,
  for example `"chacha20-poly1305"`.
  """
  import Sealane.Native, only: [otherwise: 2]
  alias Sealane.{Error, Key, Native, Options}

  @doc """
  Encrypts a message for a public key in the text form of `Sealane.Key.public/1`.

  The associated data is authenticated but not part of the message. A message does not authenticate
  its sender.
  """
  @spec seal(String.t(), binary, binary, keyword) :: {:ok, binary} | {:error, Error.t()}
  def seal(public_key, data, aad \\ "", opts \\ [])

  def seal(public_key, data, aad, opts)
      when is_binary(public_key) and is_binary(data) and is_binary(aad) do
    opts = Options.validate!(opts, info: "", suite: nil)
    Native.hybrid_seal(public_key, data, aad, opts[:info], opts[:suite])
  end

  otherwise(:seal, 4)

  @doc "Verifies and decrypts a message with the private key."
  @spec open(Key.t(), binary, binary, keyword) :: {:ok, binary} | {:error, Error.t()}
  def open(key, message, aad \\ "", opts \\ [])

  def open(%Key{handle: handle}, message, aad, opts)
      when is_binary(message) and is_binary(aad) do
    opts = Options.validate!(opts, info: "", suite: nil)
    Native.hybrid_open(handle, message, aad, opts[:info], opts[:suite])
  end

  otherwise(:open, 4)
end
