//! The text encoding of keys: Bech32 (BIP 173) without its length limit.

use crate::prelude::*;
use bech32::primitives::decode::CheckedHrpstring;
use bech32::{Bech32, Checksum, Hrp};

/// Maximum characters. A post-quantum recipient has 1959.
const MAX_LEN: usize = 4096;

/// The case of a Bech32 encoding; age tells keys apart by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    /// Lower case, for recipients.
    Lower,
    /// Upper case, for identities.
    Upper,
}

/// Bech32 for longer strings. Above 1023 characters, its checksum guarantees to detect fewer typing
/// errors.
enum Unlimited {}

impl Checksum for Unlimited {
    type MidstateRepr = <Bech32 as Checksum>::MidstateRepr;
    const CODE_LENGTH: usize = MAX_LEN;
    const CHECKSUM_LENGTH: usize = Bech32::CHECKSUM_LENGTH;
    const GENERATOR_SH: [Self::MidstateRepr; 5] = Bech32::GENERATOR_SH;
    const TARGET_RESIDUE: Self::MidstateRepr = Bech32::TARGET_RESIDUE;
}

/// Decodes a string into the human-readable part and the bytes; `None` if it is not Bech32.
pub(super) fn decode(text: &str) -> Option<(&str, Zeroizing<Vec<u8>>)> {
    if text.len() > MAX_LEN {
        return None;
    }
    let decoded = CheckedHrpstring::new::<Unlimited>(text).ok()?;
    // The padding has fewer than five bits, all zero (BIP 173, "Bech32").
    decoded.validate_segwit_padding().ok()?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
    bytes.extend(decoded.byte_iter());
    Some((&text[..text.rfind('1')?], bytes))
}

pub(super) fn encode(hrp: &str, bytes: &[u8], case: Case) -> Result<Zeroizing<String>> {
    // The prefixes are constants of this crate, but a plugin's name can be too long. The error has
    // no better text.
    let parsed =
        Hrp::parse(hrp).map_err(|_| Error::Format("expected a Bech32 prefix of at most 83 characters"))?;
    // Allocated at full length: a growing string leaves copies behind.
    let mut text = Zeroizing::new(String::with_capacity(hrp.len() + 8 + bytes.len().div_ceil(5) * 8));
    let encoded = match case {
        Case::Lower => bech32::encode_lower_to_fmt::<Unlimited, String>(&mut text, parsed, bytes),
        Case::Upper => bech32::encode_upper_to_fmt::<Unlimited, String>(&mut text, parsed, bytes),
    };
    // Writing to a string does not fail, so the key is too long.
    encoded.map_err(|_| Error::LimitExceeded("the key is too long for Bech32"))?;
    Ok(text)
}

#[cfg(test)]
mod test {
    use super::*;

    /// Strings with valid and invalid checksums and characters, from BIP 173, "Test vectors".
    #[test]
    fn bip_173() {
        for text in [
            "A12UEL5L",
            "a12uel5l",
            "?1ezyfcl",
            "split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w",
        ] {
            assert!(decode(text).is_some(), "{text}");
        }
        for text in [
            "pzry9x0s0muk",
            "1pzry9x0s0muk",
            "x1b4n0q5v",
            "li1dgmt3",
            "A1G7SGD8",
            "10a06t8",
            "1qzzfhee",
            "A12uEL5L",
            "de1lg7wt\u{ff}",
            "\u{7f}1axkwrx",
            "",
        ] {
            assert!(decode(text).is_none(), "{text}");
        }
        Unlimited::sanity_check();
    }

    #[test]
    fn round_trip() {
        for len in [0, 1, 31, 32, 33, 1216, 1249] {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 7) as u8).collect();
            for (hrp, case) in [("age1pq", Case::Lower), ("AGE-SECRET-KEY-PQ-", Case::Upper)] {
                let text = encode(hrp, &bytes, case).unwrap();
                let (found, again) = decode(&text).unwrap();
                assert_eq!((found, &**again), (hrp, &bytes[..]));
            }
        }
        assert_eq!(encode("age1pq", &[0; 1216], Case::Lower).unwrap().len(), 1959);
    }

    #[test]
    fn limits_the_number_of_characters() {
        // A prefix of 5 characters, the separator, and a checksum of 6 leave 4084 characters of
        // data: 20420 bits.
        let text = encode("age1p", &[7; 2552], Case::Lower).unwrap();
        assert_eq!(text.len(), MAX_LEN);
        assert_eq!(*decode(&text).unwrap().1, [7; 2552]);
        assert!(matches!(encode("age1pq", &[7; 2552], Case::Lower), Err(Error::LimitExceeded(_))));
        assert!(decode(&format!("{}q", &*text)).is_none());
    }

    #[test]
    fn rejects_nonzero_padding() {
        // One byte takes two characters, with two padding bits. Three characters would have seven.
        for (data, right) in [("qq", true), ("qp", false), ("qqq", false)] {
            let fes = data.chars().map(|c| bech32::Fe32::from_char(c).unwrap());
            let hrp = Hrp::parse("age").unwrap();
            use bech32::Fe32IterExt;
            let text: String = fes.with_checksum::<Unlimited>(&hrp).chars().collect();
            assert_eq!(decode(&text).is_some(), right, "{text}");
        }
    }
}
