//! Encryption of files, streams and buffers in formats that other software reads.
//!
//! The keys determine the format. [`EncryptWith`] and [`DecryptWith`] hold the keys;
//! [`EncryptParams`] and [`DecryptParams`] build them from options and check that the options fit
//! together.
//!
//! | keys | format |
//! |---|---|
//! | a symmetric key, or a keyring of AEAD keys | C2SP chunked-encryption@v1 (Cobblestone-128 or Cobblestone-256 by key length): commits to the key, binds a context |
//! | recipients or a passphrase | age v1, binary or armored |
//! | a keyring of streaming keys | Tink AES-GCM-HKDF streaming: binds a context |
//!
//! All formats divide the plaintext into chunks, so several threads can process a file and
//! [`Reader`] can read any range.
//!
//! | from | to | use |
//! |---|---|---|
//! | a path | a path | [`encrypt_file`], [`decrypt_file`] |
//! | an open file or a pipe | a path | [`encrypt_opened`], [`decrypt_opened`] |
//! | a [`Read`](std::io::Read) | a [`Write`](std::io::Write) | [`encrypt_stream`], [`decrypt_stream`] |
//! | pieces | a [`Write`](std::io::Write) | [`Encryptor`], [`Decryptor`] |
//! | pieces | pieces | [`Encryptor`], [`Decryptor`] with a [`ByteQueue`] |
//! | pieces | a path | [`Writer`]; [`Decryptor`] with an [`OutputFile`] |
//! | an encrypted file | a range of its plaintext | [`Reader`] |
//! | fetched bytes, for example of an object store | a range of the plaintext | [`RangeDecryptor`] |
//! | a buffer | a buffer | [`encrypt`], [`decrypt`] |
//! | the footer of an encrypted Parquet file | how its keys are stored | [`ParquetFooter`] |
//! | an age file | an age file for other recipients | [`rewrap_file`] |
//! | a file under a retired key of a keyring | the file under its primary key | [`rotate_file`] |
//! | a damaged file | a file with the chunks that verify | [`salvage_file`] |
//! | a folder of encrypted files | a signed list of them | [`write_inventory`], [`Inventory`] |
//! | folders | folders | [`job::Job`], with a [`Manifest`] to continue after an interruption |
//! | folders | folders with encrypted names | [`NameKey`] in [`job::JobOptions`] |
//!
//! Output files appear under their name complete, and verified after decryption, or not at all. A
//! pipe or a device gets its bytes directly.
//!
//! # Example
//!
//! ```
//! use sealane::Key;
//! use sealane::file::{DecryptWith, EncryptWith, Options, decrypt_file, encrypt_file};
//!
//! let folder = std::env::temp_dir().join(format!("sealane-example-{}", std::process::id()));
//! std::fs::create_dir_all(&folder)?;
//! let [plain, sealed, back] = ["a.txt", "a.txt.sealed", "b.txt"].map(|name| folder.join(name));
//! std::fs::write(&plain, "hello")?;
//!
//! let key = Key::generate(32)?;
//! encrypt_file(&plain, &sealed, &EncryptWith::key(&key, b"example"), Options::default())?;
//! decrypt_file(&sealed, &back, &DecryptWith::key(&key, b"example"), Options::default())?;
//! assert_eq!(std::fs::read(&back)?, b"hello");
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), sealane::Error>(())
//! ```

#[doc(inline)]
pub use files::{
    BufferDecryptor, BufferEncryptor, ByteQueue, CHUNK_LEN, Callback, Concurrency, DecryptParams,
    DecryptWith, Decryptor, Durability, EncryptParams, EncryptWith, Encryptor, FetchedRange, FileEnd,
    FileHeader, FileKey, FileMark, Format, HEADER_LEN, Hole, Info, Options, OutputFile, PARALLEL_FILE_LEN,
    ParquetAlgorithm, ParquetColumn, ParquetColumnKey, ParquetFooter, RangeDecryptor, ReadAt, Reader, Rewrap,
    Rotation, Salvaged, decrypt, decrypt_opened, decrypt_stream, encrypt, encrypt_opened, encrypt_stream,
    file_metadata, flush_file, inspect, inspect_source, open_file, open_regular, plain_len, rotate_file,
    sealed_len, sealed_range, tink, verify_file, verify_opened,
};
#[doc(hidden)]
pub use files::{FileId, own_descriptor};
#[doc(inline)]
pub use folders::{
    DescribedFolder, Description, Difference, Exclude, FileFingerprint, Finding, Inventory, InventoryDraft,
    InventoryKeys, Link, Links, Manifest, NameKey, NewFolder, Removal, Stale, Suffix, Tree, TreeOptions,
    Writer, bulk, compare_inventory, decrypt_file, encrypt_file, job, rewrap_file, salvage_file,
    salvage_opened, write_inventory,
};
