//! Streams: push bytes in, take the encrypted or decrypted bytes out.

use crate::call::{exports, freed};
use crate::error::Result;
use crate::memory::{Output, Owned, count};
use sealane::Misuse;
use sealane::file::{ByteQueue, DecryptWith, Decryptor, EncryptWith, Encryptor};

/// A stream and its pending output.
pub(crate) enum Filter {
    Encrypt(Box<Encryptor<ByteQueue>>),
    Decrypt(Box<Decryptor<ByteQueue>>),
    Finished(ByteQueue),
}

impl Filter {
    fn waiting(&mut self) -> &mut ByteQueue {
        match self {
            Self::Encrypt(encryptor) => encryptor.get_mut(),
            Self::Decrypt(decryptor) => decryptor.get_mut(),
            Self::Finished(waiting) => waiting,
        }
    }

    fn push(&mut self, data: &[u8]) -> Result<()> {
        match self {
            Self::Encrypt(encryptor) => encryptor.push(data)?,
            Self::Decrypt(decryptor) => decryptor.push(data)?,
            Self::Finished(_) => return Err(Misuse::AlreadyFinalized.into()),
        }
        Ok(())
    }

    /// Ends the stream. After a failure, nothing can be taken.
    fn finish(&mut self) -> Result<()> {
        if matches!(self, Self::Finished(_)) {
            return Err(Misuse::AlreadyFinalized.into());
        }
        let waiting = match std::mem::replace(self, Self::Finished(ByteQueue::default())) {
            Self::Encrypt(encryptor) => encryptor.finish()?,
            Self::Decrypt(decryptor) => decryptor.finish()?,
            Self::Finished(waiting) => waiting,
        };
        *self = Self::Finished(waiting);
        Ok(())
    }
}

exports! {
    fn sealane_encryptor_new(with: &EncryptWith) -> Owned<Filter> {
        let encryptor = Encryptor::new(ByteQueue::default(), with)?;
        Ok(Owned::new(Filter::Encrypt(Box::new(encryptor))))
    }

    fn sealane_decryptor_new(with: &DecryptWith) -> Owned<Filter> {
        let decryptor = Decryptor::new(ByteQueue::default(), with);
        Ok(Owned::new(Filter::Decrypt(Box::new(decryptor))))
    }

    fn sealane_filter_push(filter: &mut Filter, data: &[u8][data_len]) -> i64 {
        filter.push(data)?;
        Ok(count(filter.waiting().len()))
    }

    fn sealane_filter_take(filter: &mut Filter, out: Output[out_len]) -> i64 {
        let out = out.bytes();
        Ok(count(filter.waiting().take(out)))
    }

    fn sealane_filter_finish(filter: &mut Filter) -> i64 {
        filter.finish()?;
        Ok(count(filter.waiting().len()))
    }
}

freed!(sealane_filter_free(filter: Filter));
