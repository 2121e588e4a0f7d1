defmodule Sealane.Native.Functions do
  @moduledoc false
  # Stubs of the library's functions, replaced when it is loaded. Only `Sealane.Native` calls them.
  @on_load :load

  @doc false
  def load do
    path = :filename.join(:code.priv_dir(:sealane), ~c"sealane_elixir")
    :erlang.load_nif(path, 0)
  end

  @plain [
    version: 0,
    # Does nothing. Benchmarks measure the call overhead.
    nothing: 0,
    nothing_dirty: 0,
    algorithms: 0,
    providers: 0,
    random: 1,
    aead_new: 3,
    aead_new_with_secret: 3,
    speck_aead_new: 3,
    aead_describe: 1,
    speck_new: 4,
    keystream_new: 5,
    key_generate: 1,
    key_from_bytes: 1,
    key_from_text: 2,
    key_load: 2,
    key_save: 4,
    key_kind: 1,
    key_to_text: 2,
    key_public: 1,
    key_bytes: 1,
    derive: 6,
    hybrid_seal: 5,
    hybrid_open: 5,
    sign_new: 4,
    verify_new: 4,
    signature_update: 2,
    signature_finish: 1,
    encrypt_with: 4,
    decrypt_with: 3,
    encrypt_file: 4,
    decrypt_file: 4,
    verify_file: 3,
    encrypt_bytes: 2,
    decrypt_bytes: 2,
    writer_create: 2,
    writer_push: 2,
    writer_finish: 2,
    writer_abort: 1,
    reader_open: 2,
    reader_read_at: 3,
    reader_close: 1,
    encryptor_new: 1,
    decryptor_new: 1,
    filter_push: 2,
    filter_finish: 1
  ]

  # A function that panics, in the tests' library.
  @plain if Mix.env() == :test, do: [{:panics, 0} | @plain], else: @plain

  # Name in `Sealane.Native`, name in the library, arguments, and the arguments whose length chooses
  # the scheduler.
  @by_length [
    {:seal, :aead_seal, [:aead, :data, :aad], [:data, :aad]},
    {:open, :aead_open, [:aead, :sealed, :aad], [:sealed, :aad]},
    {:encrypt, :aead_encrypt, [:aead, :nonce, :data, :aad], [:data, :aad]},
    {:decrypt, :aead_decrypt, [:aead, :nonce, :data, :aad], [:data, :aad]},
    {:encrypt_blocks, :speck_encrypt_blocks, [:speck, :variant, :data], [:data]},
    {:decrypt_blocks, :speck_decrypt_blocks, [:speck, :variant, :data], [:data]},
    {:ctr, :speck_ctr, [:name, :key, :iv, :data], [:data]},
    {:speck_seal, :speck_aead_seal, [:name, :key, :iv, :data, :aad], [:data, :aad]},
    {:speck_open, :speck_aead_open, [:name, :key, :iv, :data, :tag, :aad], [:data, :aad]},
    {:xor_at, :keystream_xor_at, [:keystream, :offset, :data], [:data]},
    {:poly1305, :poly1305_tag, [:key, :data], [:data]},
    {:poly1305_verify, :poly1305_verify_tag, [:key, :data, :tag], [:data]}
  ]

  @doc false
  def plain, do: @plain

  @doc false
  def by_length, do: @by_length

  all =
    @plain ++
      for {_, name, arguments, _} <- @by_length,
          dirty <- ["", "_dirty"],
          do: {:"#{name}#{dirty}", length(arguments)}

  for {name, arity} <- all do
    def unquote(name)(unquote_splicing(List.duplicate(quote(do: _), arity))),
      do: :erlang.nif_error(:not_loaded)
  end
end
