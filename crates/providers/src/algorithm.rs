//! AEAD algorithms: names, lengths, and limits of a message.

/// What the algorithms of a family share.
struct Family {
    source: &'static str,
    max_plaintext_len: u64,
    max_aad_len: u64,
    resists_misuse: bool,
}

/// The 32-bit block counter starts at 2 and must not wrap. Lengths are 64-bit counts of bits.
const GCM: Family = Family {
    source: "NIST SP 800-38D",
    max_plaintext_len: (1 << 36) - 32,
    max_aad_len: (1 << 61) - 1,
    resists_misuse: false,
};
const GCM_SIV: Family =
    Family { source: "RFC 8452", max_plaintext_len: 1 << 36, max_aad_len: 1 << 36, resists_misuse: true };
/// The 32-bit block counter starts at 1: block 0 gives the Poly1305 key.
const CHACHA: Family = Family {
    source: "RFC 8439",
    max_plaintext_len: (1 << 38) - 64,
    max_aad_len: u64::MAX,
    resists_misuse: false,
};
const XCHACHA: Family = Family { source: "draft-irtf-cfrg-xchacha-03", ..CHACHA };
const XAES: Family = Family { source: "C2SP XAES-256-GCM", ..GCM };
const AEGIS: Family = Family {
    source: "RFC 10032",
    max_plaintext_len: (1 << 61) - 1,
    max_aad_len: (1 << 61) - 1,
    resists_misuse: false,
};

struct Facts {
    name: &'static str,
    family: &'static Family,
    key_lens: &'static [usize],
    nonce_len: usize,
}

macro_rules! algorithms {
    ($($algorithm:ident $name:literal $family:ident key $key:literal nonce $nonce:literal;)*) => {
        /// An AEAD algorithm with tags of 16 bytes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Algorithm {
            $(#[doc = concat!("The algorithm `", $name, "`.")] $algorithm,)*
        }

        impl Algorithm {
            /// Every algorithm, in the order in which users see them.
            pub const ALL: &'static [Self] = &[$(Self::$algorithm,)*];

            const fn facts(self) -> &'static Facts {
                match self {
                    $(Self::$algorithm => &Facts { name: $name, family: &$family, key_lens: &[$key], nonce_len: $nonce },)*
                }
            }
        }
    };
}

algorithms! {
    Aes128Gcm         "aes-128-gcm"        GCM     key 16 nonce 12;
    Aes192Gcm         "aes-192-gcm"        GCM     key 24 nonce 12;
    Aes256Gcm         "aes-256-gcm"        GCM     key 32 nonce 12;
    Aes128GcmSiv      "aes-128-gcm-siv"    GCM_SIV key 16 nonce 12;
    Aes256GcmSiv      "aes-256-gcm-siv"    GCM_SIV key 32 nonce 12;
    ChaCha20Poly1305  "chacha20-poly1305"  CHACHA  key 32 nonce 12;
    XChaCha20Poly1305 "xchacha20-poly1305" XCHACHA key 32 nonce 24;
    Xaes256Gcm        "xaes-256-gcm"       XAES    key 32 nonce 24;
    Aegis128L         "aegis-128l"         AEGIS   key 16 nonce 16;
    Aegis128X2        "aegis-128x2"        AEGIS   key 16 nonce 16;
    Aegis128X4        "aegis-128x4"        AEGIS   key 16 nonce 16;
    Aegis256          "aegis-256"          AEGIS   key 32 nonce 32;
    Aegis256X2        "aegis-256x2"        AEGIS   key 32 nonce 32;
    Aegis256X4        "aegis-256x4"        AEGIS   key 32 nonce 32;
}

impl Algorithm {
    /// Returns the name in lower case, such as `"aes-256-gcm"`.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// Returns the algorithm with exactly this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }

    /// Returns the length of a key in bytes.
    pub const fn key_len(self) -> usize {
        self.facts().key_lens[0]
    }

    /// Returns [`Self::key_len`] as a slice for errors.
    pub(crate) const fn key_lens(self) -> &'static [usize] {
        self.facts().key_lens
    }

    /// Returns the length of a nonce in bytes.
    pub const fn nonce_len(self) -> usize {
        self.facts().nonce_len
    }

    /// Returns the length of a tag in bytes.
    pub const fn tag_len(self) -> usize {
        // AEGIS also defines tags of 32 bytes; we do not support them.
        16
    }

    /// Returns the maximum plaintext length of the specification, in bytes.
    pub const fn max_plaintext_len(self) -> u64 {
        self.facts().family.max_plaintext_len
    }

    /// Returns the maximum associated data length of the specification, in bytes.
    pub const fn max_aad_len(self) -> u64 {
        self.facts().family.max_aad_len
    }

    /// Returns the specification, such as `"RFC 8439"`.
    pub const fn source(self) -> &'static str {
        self.facts().family.source
    }

    /// Returns the base-2 logarithm of how many messages a key may seal under random nonces.
    ///
    /// Up to this number, two nonces are equal with a probability below 2^-32. By the birthday
    /// bound, this allows `2^((bits - 32) / 2)` messages: the rule of NIST SP 800-38D, section 8.3,
    /// for GCM (2^32), of the AEGIS specification for 128-bit nonces (2^48) and of the XAES-256-GCM
    /// specification (2^80), applied to every nonce length.
    ///
    /// A repeated nonce costs more in some algorithms than in others. GCM-SIV reveals only whether
    /// the two messages are equal. The others reveal relations between the plaintexts, such as
    /// their XOR; GCM and Poly1305 also lose their protection against forgeries.
    pub const fn max_random_messages_log2(self) -> u32 {
        (self.nonce_len() as u32 * 8 - 32) / 2
    }

    /// Returns whether a repeated nonce reveals only that two messages are equal ("nonce misuse
    /// resistance" in RFC 8452). Only AES-GCM-SIV does.
    pub const fn resists_nonce_misuse(self) -> bool {
        self.facts().family.resists_misuse
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn names_round_trip() {
        for &algorithm in Algorithm::ALL {
            assert_eq!(Algorithm::from_name(algorithm.name()), Some(algorithm));
        }
        assert_eq!(Algorithm::from_name("AES-256-GCM"), None);
    }

    /// The table matches the specifications.
    #[test]
    fn lengths_and_documents() {
        for (name, key, nonce, document) in [
            ("aes-128-gcm", 16, 12, "NIST SP 800-38D"),
            ("aes-256-gcm-siv", 32, 12, "RFC 8452"),
            ("chacha20-poly1305", 32, 12, "RFC 8439"),
            ("xchacha20-poly1305", 32, 24, "draft-irtf-cfrg-xchacha-03"),
            ("xaes-256-gcm", 32, 24, "C2SP XAES-256-GCM"),
            ("aegis-256x2", 32, 32, "RFC 10032"),
        ] {
            let algorithm = Algorithm::from_name(name).unwrap();
            assert_eq!((algorithm.key_len(), algorithm.nonce_len(), algorithm.tag_len()), (key, nonce, 16));
            assert_eq!(algorithm.source(), document);
            let native = crate::choose(algorithm, Some(crate::Provider::Native)).unwrap();
            match native.key(&[0; 5]).err() {
                Some(crate::KeyError::InvalidLength { found: 5, expected }) => assert_eq!(expected, [key]),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn message_limits_follow_from_the_nonce_length() {
        let log2 = |name: &str| Algorithm::from_name(name).unwrap().max_random_messages_log2();
        assert_eq!([log2("aes-256-gcm"), log2("aegis-128l"), log2("xaes-256-gcm")], [32, 48, 80]);
    }
}
