//! Files, objects and streams, in formats that others read.
//!
//! What a file is locked with says which ([`EncryptWith`], [`DecryptWith`]):
//!
//! | locked with | format |
//! |---|---|
//! | a symmetric key | C2SP chunked-encryption@v1 (Cobblestone-128 or -256 by the key's length): committing, bound to a context |
//! | people, a passphrase | age v1, as bytes or as text |
//! | a keyset of Tink's | Tink AES-GCM-HKDF streaming, bound to a context |
//!
//! All of them are cut in chunks, so they are worked on by all cores and read from anywhere.
//!
//! | from, to | use |
//! |---|---|
//! | a path to a path | [`encrypt_file`], [`decrypt_file`]: all cores, appears whole or not at all |
//! | an open file or pipe to a path | [`encrypt_opened`], [`decrypt_opened`] |
//! | a reader to a writer | [`encrypt_stream`], [`decrypt_stream`] |
//! | pieces to a writer | [`Encryptor`], [`Decryptor`] |
//! | pieces to a path | [`Writer`]; [`Decryptor`] to an [`OutputFile`] |
//! | a range out of the middle | [`Reader`] |
//! | a range whose bytes somebody else fetches | [`RangeDecryptor`] |
//! | bytes to bytes | [`encrypt`], [`decrypt`] |
//! | folders to folders | [`Tree`] for the paths, [`bulk`] for the work, [`Manifest`] to continue after an interruption |

mod age_file;
mod armor;
pub mod bulk;
mod chunked;
mod file_cipher;
mod file_keys;
mod format;
mod inspect;
mod manifest;
mod memory;
mod output;
mod paths;
mod ranges;
mod reader;
mod stream;
pub mod tink;
mod tree;
mod writer;

pub use crate::engine::io::{Concurrency, ReadAt};
pub use crate::engine::options::{Callback, Durability, Options};
pub use crate::engine::threads::PARALLEL_FILE_LEN;
pub use chunked::{CHUNK_LEN, HEADER_LEN};
pub use file_keys::{DecryptParams, DecryptWith, EncryptParams, EncryptWith, FileKey};
pub use format::Format;
pub use inspect::{Info, inspect};
pub use manifest::{FileFingerprint, Manifest};
pub use memory::{BufferDecryptor, BufferEncryptor, decrypt, encrypt};
pub use output::OutputFile;
pub use paths::{decrypt_file, decrypt_opened, encrypt_file, encrypt_opened, verify_file, verify_opened};
pub use ranges::{FetchedRange, RangeDecryptor, plain_len, sealed_len, sealed_range};
pub use reader::Reader;
pub use stream::{Decryptor, Encryptor, decrypt_stream, encrypt_stream};
pub use tink::Keyset;
pub use tree::{Suffix, Tree};
pub use writer::Writer;
