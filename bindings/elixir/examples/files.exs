# Encrypted files, streams and ranges:  mix run examples/files.exs
folder = Path.join(System.tmp_dir!(), "sealane-example-#{System.pid()}")
File.mkdir_p!(folder)
[plain, sealed, back] = Enum.map(["plain", "plain.age", "back"], &Path.join(folder, &1))
File.write!(plain, Stream.repeatedly(fn -> "a line\n" end) |> Enum.take(100_000))

alice = Sealane.Key.generate("age")
recipients = [Sealane.Key.public(alice)]

# On several cores, with a report now and then.
:ok = Sealane.encrypt_file(plain, sealed, recipients: recipients, progress: self())
:ok = Sealane.decrypt_file(sealed, back, identities: [alice])
true = File.read!(back) == File.read!(plain)

# From a stream into an encrypted file, and back as a lazy stream.
File.stream!(plain, [], 65_536) |> Enum.into(Sealane.File.stream!(sealed, recipients: recipients))
lazy = Sealane.File.stream!(sealed, identities: [alice])
bytes = lazy |> Stream.map(&byte_size/1) |> Enum.sum()

# A range from the middle: only its chunks are read and decrypted.
{:ok, reader} = Sealane.Reader.open(sealed, identities: [alice])
{:ok, "a line\n"} = Sealane.Reader.read_at(reader, 350_000, 7)
Sealane.Reader.close(reader)

File.rm_rf!(folder)
IO.puts("#{bytes} bytes, encrypted and decrypted in four ways")
