//! Formats of encrypted files, read and written as paths, streams, buffers and ranges.
#![forbid(unsafe_code)]

mod age_file;
mod armor;
mod byte_queue;
mod chunked;
mod file_cipher;
mod file_hash;
pub mod file_keys;
mod format;
mod inspect;
pub mod mark;
pub mod memory;
pub mod output;
mod parquet;
pub mod paths;
pub mod protected;
mod ranges;
pub mod reader;
pub mod rewrap;
pub mod rotate;
mod salvage;
mod stream;
pub mod tink;
mod writer;

pub use base::threads::PARALLEL_FILE_LEN;
pub use byte_queue::ByteQueue;
pub use chunked::{CHUNK_LEN, HEADER_LEN};
pub use engine::file_id::FileId;
pub use engine::io::{Concurrency, ReadAt, metadata as file_metadata, open as open_file, open_regular};
pub use engine::options::{Callback, Durability, Options};
pub use engine::os::flush as flush_file;
pub use file_keys::{DecryptParams, DecryptWith, EncryptParams, EncryptWith, FileKey};
pub use format::Format;
pub use inspect::{Info, inspect, inspect_source};
pub use mark::FileMark;
pub use memory::{BufferDecryptor, BufferEncryptor, decrypt, encrypt};
pub use output::OutputFile;
pub use parquet::{ParquetAlgorithm, ParquetColumn, ParquetColumnKey, ParquetFooter};
pub use paths::{decrypt_file, decrypt_opened, encrypt_file, encrypt_opened, verify_file, verify_opened};
pub use ranges::{FetchedRange, RangeDecryptor, plain_len, sealed_len, sealed_range};
pub use reader::Reader;
pub use rewrap::{Rewrap, rewrap_file};
pub use rotate::{Rotation, rotate_file};
pub use salvage::{FileEnd, FileHeader, Hole, Salvaged, salvage_file, salvage_opened};
pub use stream::{Decryptor, Encryptor, decrypt_stream, encrypt_stream};
pub use writer::Writer;
