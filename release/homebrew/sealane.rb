# Homebrew formula of the program. `make -C release formula` fills in VERSION, ADDRESS and SHA256 of the source distribution.
class Sealane < Formula
  desc "Encrypts files, streams and folders in formats that other software reads"
  homepage "ADDRESS"
  url "ADDRESS/releases/download/vVERSION/sealane-VERSION.tar.gz"
  sha256 "SHA256"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "cli")
    generate_completions_from_executable(bin/"sealane", "completions", shells: [:bash, :zsh, :fish])
    system bin/"sealane", "man", "man1"
    man1.install Dir["man1/*.1"]
  end

  test do
    (testpath/"text").write "hello"
    system bin/"sealane", "keygen", "-o", "key.jwk"
    system bin/"sealane", "encrypt", "-k", "key.jwk", "-o", "text.sealed", "text"
    assert_equal "hello", shell_output("#{bin}/sealane cat -k key.jwk text.sealed")
  end
end
