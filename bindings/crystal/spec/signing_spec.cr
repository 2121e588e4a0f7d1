require "./spec_helper"

# Runs another program and returns its output, or nil if it fails. Without it, the example is NOT
# RUN.
def other(name : String, *arguments : String, input : String = "") : String?
  path = Process.find_executable(name)
  pending!("NOT RUN: needs #{name}") unless path
  output = IO::Memory.new
  status = Process.run(path, arguments.to_a, input: IO::Memory.new(input), output: output)
  output.to_s if status.success?
end

describe Sealane::Signing do
  it "signs for ssh-keygen, and verifies its signatures" do
    in_folder do |folder|
      key, list, file = {"key", "list", "data.sig"}.map { |name| (folder / name).to_s }
      other("ssh-keygen", "-q", "-t", "ed25519", "-N", "right", "-f", key)
      secret, signer = File.read(key), File.read("#{key}.pub")
      File.write(list, "me@example.com #{signer}")
      message = "message" * 100_000
      expect_no_leak do
        signature = Sealane::Signing.sign(IO::Memory.new(message), secret, passphrase: "right")
        File.write(file, signature)
        arguments = {"-Y", "verify", "-f", list, "-I", "me@example.com", "-n", "file", "-s", file}
        other("ssh-keygen", *arguments, input: message).to_s.should contain "Good"
        found = Sealane::Signing.verify(IO::Memory.new(message), signature, File.read(list))
        found.should eq Sealane::Signing::Verified.new("me@example.com", "")
        {"does not match" => {"massage", signer, ""}, "revoked" => {message, signer, signer},
         "expired" => {message, %(me valid-before="20200101" #{signer}), ""}}.each do |words, (data, signers, revoked)|
          expect_raises(Sealane::AuthenticationError, words) do
            Sealane::Signing.verify(IO::Memory.new(data), signature, signers, revoked: revoked)
          end
        end
        expect_raises(Sealane::AuthenticationError, "another namespace") do
          Sealane::Signing.verify(IO::Memory.new(message), signature, signer, namespace: "git")
        end
        expect_raises(Sealane::FormatError) { Sealane::Signing.verify(IO::Memory.new, "none", signer) }
        expect_raises(Sealane::FormatError) { Sealane::Signing.verify(IO::Memory.new, signature, "none") }
        expect_raises(ArgumentError, "passphrase") { Sealane::Signing.sign(IO::Memory.new, secret) }
        expect_raises(Sealane::NoMatchingKeyError) { Sealane::Signing.sign(IO::Memory.new, secret, passphrase: "no") }
        expect_raises(ArgumentError) { Sealane::Signing.sign(IO::Memory.new, secret, passphrase: "right", namespace: "") }
      end
    end
  end

  it "signs for minisign, and verifies its signatures" do
    in_folder do |folder|
      key, public_key, data = {"key", "pub", "data"}.map { |name| (folder / name).to_s }
      other("minisign", "-G", "-W", "-p", public_key, "-s", key)
      File.write(data, "message")
      signature = Sealane::Signing.sign(IO::Memory.new("message"), File.read(key), comment: "version 1")
      File.write("#{data}.minisig", signature)
      other("minisign", "-V", "-Q", "-p", public_key, "-m", data).should eq "version 1\n"
      other("minisign", "-S", "-s", key, "-t", "theirs", "-m", data)
      theirs = File.read("#{data}.minisig")
      Sealane::Signing.verify(IO::Memory.new("message"), theirs, File.read(public_key)).comment.should eq "theirs"
    end
  end
end
