# Messages with a symmetric key:  mix run examples/messages.exs
key = Sealane.generate_key("aes-256-gcm")
aead = Sealane.aead("aes-256-gcm", key)

sealed = Sealane.seal(aead, "hello", "header")
{:ok, "hello"} = Sealane.open(aead, sealed, "header")
{:error, :authentication_failed} = Sealane.open(aead, sealed, "another header")

%{provider: provider, variant: variant} = Sealane.describe(aead)
IO.puts("#{byte_size(sealed)} bytes, sealed with AES-256-GCM by #{provider} (#{variant})")
