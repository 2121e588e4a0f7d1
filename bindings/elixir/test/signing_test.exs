defmodule SigningTest do
  use ExUnit.Case, async: true
  alias Sealane.{Error, Signing}

  for name <- ["ssh-keygen", "minisign"], System.find_executable(name) == nil do
    IO.puts(:stderr, "NOT RUN: the signatures with #{name}, which is not installed")
  end

  defp run(name, arguments) do
    {shown, 0} = System.cmd(name, arguments, stderr_to_stdout: true)
    shown
  end

  @tag skip: System.find_executable("ssh-keygen") == nil
  test "ssh-keygen verifies our signatures, and we its" do
    folder = Support.folder()
    [key, list, data] = Enum.map(["key", "list", "data"], &Path.join(folder, &1))
    run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "right", "-f", key])
    [secret, signer] = Enum.map([key, key <> ".pub"], &File.read!/1)
    File.write!(list, "me@example.com " <> signer)
    File.write!(data, String.duplicate("message", 100_000))
    pieces = File.stream!(data, [], 65_536)
    {:ok, signature} = Signing.sign(pieces, secret, passphrase: "right")
    assert {:ok, ^signature} = Signing.sign(File.read!(data), secret, passphrase: "right")
    File.write!(data <> ".sig", signature)
    verify = "ssh-keygen -Y verify -f '#{list}' -I me@example.com -n file -s '#{data}.sig' < '#{data}'"
    assert run("sh", ["-c", verify]) =~ "Good"
    expected = %{signer: "me@example.com", comment: ""}
    assert Signing.verify(pieces, signature, File.read!(list)) == {:ok, expected}

    for {words, message, signers, opts} <- [
          {"does not match", "massage", signer, []},
          {"another namespace", pieces, signer, [namespace: "git"]},
          {"revoked", pieces, signer, [revoked: signer]},
          {"expired", pieces, ~s(me valid-before="20200101" ) <> signer, []}
        ] do
      assert {:error, %Error{reason: :authentication_failed, message: text}} =
               Signing.verify(message, signature, signers, opts)

      assert text =~ words
    end

    assert {:error, %Error{reason: :format}} = Signing.verify("a", "none", signer)
    assert {:error, %Error{reason: :format}} = Signing.verify("a", signature, "none")
    assert {:error, %Error{reason: :no_matching_key}} = Signing.sign("a", secret, passphrase: "wrong")
    assert_raise ArgumentError, ~r/passphrase/, fn -> Signing.sign("a", secret) end

    assert_raise ArgumentError, ~r/no comment/, fn ->
      Signing.sign("a", secret, passphrase: "right", comment: "text")
    end
  end

  @tag skip: System.find_executable("minisign") == nil
  test "minisign verifies our signatures, and we its" do
    folder = Support.folder()
    [key, public, data] = Enum.map(["key", "pub", "data"], &Path.join(folder, &1))
    run("minisign", ["-G", "-W", "-p", public, "-s", key])
    File.write!(data, "message")
    {:ok, signature} = Signing.sign("message", File.read!(key), comment: "version 1")
    File.write!(data <> ".minisig", signature)
    assert run("minisign", ["-V", "-Q", "-p", public, "-m", data]) == "version 1\n"
    run("minisign", ["-S", "-s", key, "-t", "theirs", "-m", data])
    theirs = File.read!(data <> ".minisig")
    assert {:ok, %{comment: "theirs"}} = Signing.verify("message", theirs, File.read!(public))
  end
end
