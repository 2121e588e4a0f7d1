//! Files, objects and streams, in formats that others read.
//!
//! | format | with |
//! |---|---|
//! | C2SP chunked-encryption@v1 (Cobblestone-128 or -256 by the length of the key): committing, seekable, bound to a context | [`Lock::key`], [`Unlock::key`] |
//! | Tink's AES-GCM-HKDF streaming: seekable, bound to a context, without a commitment | [`Lock::tink`], [`Unlock::tink`], or a [`tink::Keyset`] |
//!
//! | from, to | use |
//! |---|---|
//! | a path to a path | [`encrypt_file`], [`decrypt_file`]: all cores, appears whole or not at all |
//! | an open file or pipe to a path | [`encrypt_opened`], [`decrypt_opened`] |
//! | a reader to a writer | [`encrypt_stream`], [`decrypt_stream`] |
//! | pieces to a writer | [`Encryptor`], [`Decryptor`] |
//! | pieces to a path | [`Writer`]; [`Decryptor`] to an [`Output`] |
//! | a range out of the middle | [`Reader`] |
//! | bytes to bytes | [`encrypt`], [`decrypt`] |

mod chunked;
mod lock;
mod memory;
mod output;
mod paths;
mod reader;
mod stream;
pub mod tink;
mod writer;

pub use crate::engine::io::ReadAt;
pub use crate::engine::options::{Callback, Durability, Options};
pub use chunked::{CHUNK_LEN, HEADER_LEN};
pub use lock::{Lock, Unlock};
pub use memory::{Opening, Sealing, decrypt, encrypt};
pub use output::Output;
pub use paths::{
    Info, decrypt_file, decrypt_opened, encrypt_file, encrypt_opened, inspect, verify_file, verify_opened,
};
pub use reader::Reader;
pub use stream::{Decryptor, Encryptor, decrypt_stream, encrypt_stream};
pub use writer::Writer;
