defmodule Sealane.Signing do
  @moduledoc """
  Signatures for `ssh-keygen -Y verify` and `minisign -V`.

      file = File.stream!("app.tar.gz", [], 65_536)
      {:ok, signature} = Sealane.Signing.sign(file, File.read!("release.key"))
      {:ok, %{signer: _}} = Sealane.Signing.verify(file, signature, File.read!("release.pub"))

  A message is a binary, or an enumerable of iodata such as a file's stream, which is read once.
  """
  import Sealane.Native, only: [otherwise: 2]
  alias Sealane.{Error, Native, Options}

  @doc """
  Signs a message with the content of an OpenSSH Ed25519 private key or a minisign secret key.

  Options: `:passphrase`, if the key is encrypted; `:namespace` of an SSH signature, by default
  `"file"`; `:comment`, minisign's trusted comment, by default the time.
  """
  @spec sign(binary | Enumerable.t(), binary, keyword) :: {:ok, binary} | {:error, Error.t()}
  def sign(message, key, opts \\ [])

  def sign(message, key, opts) when is_binary(key) do
    opts = Options.validate!(opts, passphrase: nil, namespace: nil, comment: nil)

    with {:ok, handle} <- Native.sign_new(key, opts[:passphrase], opts[:namespace], opts[:comment]),
         {:ok, {signature, _}} <- pass(message, handle),
         do: {:ok, signature}
  end

  otherwise(:sign, 3)

  @doc """
  Verifies the signature of a message.

  The signers are public keys of SSH, a file of allowed signers of `ssh-keygen`, or a minisign public
  key. The result has the signer (the principals, else the fingerprint of the SSH key or the number of
  the minisign key) and the trusted comment of minisign. The error's reason is
  `:authentication_failed` for a signature that is not accepted, and `:format` for content that is
  none.

  Options: `:namespace` of an SSH signature, by default `"file"`; `:revoked`, public keys that are not
  accepted any more.
  """
  @spec verify(binary | Enumerable.t(), binary, binary, keyword) ::
          {:ok, %{signer: String.t(), comment: String.t()}} | {:error, Error.t()}
  def verify(message, signature, signers, opts \\ [])

  def verify(message, signature, signers, opts) when is_binary(signature) and is_binary(signers) do
    opts = Options.validate!(opts, namespace: nil, revoked: "")

    with {:ok, handle} <- Native.verify_new(signature, signers, opts[:namespace], opts[:revoked]),
         {:ok, {signer, comment}} <- pass(message, handle),
         do: {:ok, %{signer: signer, comment: comment}}
  end

  otherwise(:verify, 4)

  defp pass(message, handle) do
    pieces = if is_binary(message), do: [message], else: message

    Enum.each(pieces, fn piece ->
      :ok = Error.unwrap!(Native.signature_update(handle, IO.iodata_to_binary(piece)))
    end)

    Native.signature_finish(handle)
  end
end
