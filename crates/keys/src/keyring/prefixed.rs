//! Expanded keys with the bytes before each of their messages, and the search for the key of a message.
//!
//! ```text
//! prefix = 01 || id[4, big-endian]   TINK
//!          00 || id[4, big-endian]   CRUNCHY, LEGACY
//!          empty                     RAW
//! ```
//!
//! The prefix is not authenticated. It only tells which key to try, as in Tink.

use super::{Enabled, Keyring};
use base::{Error, memory};
use messages::aead::packed::{Offset, in_batch, index_of};
use zeroize::Zeroizing;

/// Length of a prefix in bytes.
pub(super) const PREFIX_LEN: usize = 5;

/// An expanded key with the bytes before each of its messages.
pub(super) struct Prefixed<K> {
    prefix: Option<[u8; PREFIX_LEN]>,
    pub(super) key: K,
}

impl<K> Prefixed<K> {
    #[inline]
    pub(super) fn prefix(&self) -> &[u8] {
        self.prefix.as_ref().map_or(&[], |prefix| prefix)
    }
}

/// The enabled keys of a keyring, the primary key first.
pub(super) struct PrefixedKeys<K>(Vec<Prefixed<K>>);

/// The key of all messages of a batch, and the messages without their prefixes.
type CommonKey<'k, 'm, K> = (&'k Prefixed<K>, Vec<&'m [u8]>);

impl<K> PrefixedKeys<K> {
    /// Expands each enabled key.
    pub(super) fn expanded(
        keyring: &Keyring,
        expand: impl Fn(&Enabled<'_>) -> Result<K, Error>,
    ) -> Result<Self, Error> {
        let keys = keyring.enabled().map(|enabled| {
            let key = expand(&enabled)?;
            Ok(Prefixed { prefix: enabled.prefix.bytes(enabled.id), key })
        });
        Ok(Self(keys.collect::<Result<_, Error>>()?))
    }

    /// Changes each key, for example its number of threads.
    pub(super) fn map(self, change: impl Fn(K) -> K) -> Self {
        let keys = self.0.into_iter();
        Self(keys.map(|Prefixed { prefix, key }| Prefixed { prefix, key: change(key) }).collect())
    }

    #[inline]
    pub(super) fn primary(&self) -> &Prefixed<K> {
        &self.0[0]
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Prefixed<K>> {
        self.0.iter()
    }

    /// Returns the keys that can have sealed a message, each with the message without its prefix. As in Tink, keys with the
    /// prefix of the message come first.
    #[inline]
    pub(super) fn candidates<'k, 'm>(
        &'k self,
        sealed: &'m [u8],
    ) -> impl Iterator<Item = (&'k Prefixed<K>, &'m [u8])> {
        let (prefix, rest) = match sealed.split_first_chunk() {
            Some((prefix, rest)) => (Some(*prefix), rest),
            None => (None, sealed),
        };
        let prefixed = self.0.iter().filter(move |key| key.prefix.is_some() && key.prefix == prefix);
        let raw = self.0.iter().filter(|key| key.prefix.is_none());
        prefixed.map(move |key| (key, rest)).chain(raw.map(move |key| (key, sealed)))
    }

    /// Returns the key that can have sealed a message and the message without its prefix, if only one key can.
    #[inline]
    pub(super) fn only<'k, 'm>(&'k self, sealed: &'m [u8]) -> Option<(&'k Prefixed<K>, &'m [u8])> {
        let mut candidates = self.candidates(sealed);
        match (candidates.next(), candidates.next()) {
            (only, None) => only,
            _ => None,
        }
    }

    /// Returns the key of all messages and the messages without their prefixes, if one key sealed all of them.
    pub(super) fn common<'k, 'm>(
        &'k self,
        sealed: &[&'m [u8]],
    ) -> Result<Option<CommonKey<'k, 'm, K>>, Error> {
        let mut bodies = memory::with_capacity(sealed.len())?;
        let mut common: Option<&Prefixed<K>> = None;
        for message in sealed {
            let Some((key, body)) = self.only(message) else { return Ok(None) };
            if !std::ptr::eq(*common.get_or_insert(key), key) {
                return Ok(None);
            }
            bodies.push(body);
        }
        Ok(common.map(|key| (key, bodies)))
    }
}

/// Returns the first result of a key that opens the message.
///
/// # Errors
/// Returns [`Error::MessageLength`] if no key opens it and it is too long for one of them, and [`Error::Authentication`]
/// otherwise. Other errors are not those of a key, so they end the search.
pub(super) fn first_opened<T>(attempts: impl Iterator<Item = Result<T, Error>>) -> Result<T, Error> {
    let mut refused = Error::Authentication;
    for attempt in attempts {
        match attempt {
            Err(Error::Authentication) => {}
            Err(too_long @ Error::MessageLength { .. }) => refused = too_long,
            ended => return ended,
        }
    }
    Err(refused)
}

/// Returns packed messages, whose offsets are checked, as a list.
pub(super) fn messages<'a, O: Offset>(data: &'a [u8], offsets: &[O]) -> Result<Vec<&'a [u8]>, Error> {
    let mut messages = memory::with_capacity(offsets.len() - 1)?;
    messages.extend(offsets.windows(2).map(|pair| &data[index_of(pair[0])..index_of(pair[1])]));
    Ok(messages)
}

/// Opens messages one after the other, of which each may have another key. Returns the plaintexts, packed, and their
/// offsets. `open` writes a plaintext, which is not longer than its message, and returns its length.
pub(super) fn opened_one_by_one<O: Offset>(
    sealed: &[&[u8]],
    open: impl Fn(&[u8], &mut [u8]) -> Result<usize, Error>,
) -> Result<(Vec<u8>, Vec<O>), Error> {
    // The plaintexts are shorter than the messages, so neither they nor their offsets are too long.
    let mut plain = Zeroizing::new(memory::zeroed(sealed.iter().map(|message| message.len()).sum())?);
    let (mut ends, mut end) = (memory::with_capacity(sealed.len() + 1)?, 0);
    ends.push(offset(0)?);
    for (index, message) in sealed.iter().enumerate() {
        end += open(message, &mut plain[end..]).map_err(|error| in_batch(index, error))?;
        ends.push(offset(end)?);
    }
    plain.truncate(end);
    Ok((std::mem::take(&mut *plain), ends))
}

/// Returns the position of a result, which fits because it is not after that of its message.
fn offset<O: Offset>(at: usize) -> Result<O, Error> {
    // See above: the conversion cannot fail, so the reason of a failure is not needed.
    O::try_from(at as i64).map_err(|_| Error::LimitExceeded(O::LIMIT))
}

#[cfg(test)]
mod test {
    use super::*;
    use base::error::MessagePart;

    /// A message that is too long for one algorithm has 64 GiB, so no message here is.
    #[test]
    fn a_key_that_refuses_the_length_does_not_end_the_search() {
        let too_long = || Err(Error::MessageLength { part: MessagePart::Data, found: 2, limit: 1 });
        let refused = || Err(Error::Authentication);
        let found = |attempts: [Result<u8, Error>; 3]| first_opened(attempts.into_iter());
        assert_eq!(found([too_long(), refused(), Ok(7)]).unwrap(), 7);
        for attempts in [[too_long(), refused(), refused()], [refused(), too_long(), refused()]] {
            assert!(matches!(found(attempts), Err(Error::MessageLength { found: 2, .. })));
        }
        assert!(matches!(found([refused(), refused(), refused()]), Err(Error::Authentication)));
        let ended = found([refused(), Err(Error::OutOfMemory { bytes: 1 }), Ok(7)]);
        assert!(matches!(ended, Err(Error::OutOfMemory { .. })));
    }
}
