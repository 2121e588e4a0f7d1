//! The one table: who computes what, in which build, and in which order they are preferred.

use crate::Algorithm::*;
use crate::Provider::{Aegis, AwsLc, Native, Ring, RustCrypto};
use crate::extended::{self, XChaCha, Xaes};
use crate::native::{self, Table};
use crate::{AeadKey, Algorithm, Failed, Provider, Reason, aegis, aws_lc, ring, rustcrypto};
use core::slice;

/// A provider's way to compute an algorithm.
#[derive(Debug)]
pub struct Row {
    /// What is computed.
    pub algorithm: Algorithm,
    /// Who computes it.
    pub provider: Provider,
    /// The order of preference among the rows of an algorithm: 1 is taken where nobody asks for another.
    pub rank: u8,
    /// The lab record that the rank rests on, as a path in the repository.
    pub record: &'static str,
    build: Build,
    expand: Expand,
}

type Expand = fn(&[u8]) -> Result<Box<dyn AeadKey>, Failed>;

/// What is known of the build that computes.
#[derive(Clone, Copy, Debug)]
enum Build {
    /// One of our own tables.
    Native(&'static Table),
    /// The library chooses at run time and does not say.
    Opaque,
    /// The same, but where the processor has no AES instructions it would fall back on code that is not known to take
    /// the same time for every key, so there it is not used.
    OpaqueByAes,
    /// Subkeys are derived here, and the nonce with them; it rests on these tables of our own.
    Extended(&'static [&'static Table]),
}

impl Row {
    /// Expands a key.
    ///
    /// # Errors
    /// [`Failed`] where it does not have [`Algorithm::key_len`] bytes, and where [`Row::available`] is an error.
    pub fn key(&self, key: &[u8]) -> Result<Box<dyn AeadKey>, Failed> {
        (self.expand)(key)
    }

    /// The table of the kernels of this project that computes it, with variants that can be named.
    pub(crate) fn native(&self) -> Option<&'static Table> {
        match self.build {
            Build::Native(table) => Some(table),
            _ => None,
        }
    }

    /// Whether all of it is ours, and some of it on plain integers.
    fn is_portable(&self) -> bool {
        self.provider == Native && self.tables().iter().any(|table| (table.variant)() == Ok("portable"))
    }

    /// The tables of our own that it rests on.
    fn tables(&self) -> &[&'static Table] {
        match &self.build {
            Build::Native(table) => slice::from_ref(table),
            Build::Extended(tables) => tables,
            Build::Opaque | Build::OpaqueByAes => &[],
        }
    }

    /// Which build of it: the row of our own kernels, like `"vaes512"`, empty where none works; `"opaque"` where a foreign
    /// library chooses and does not say, `"extended"` where the nonce is extended here by deriving a subkey that such a
    /// library uses.
    pub fn variant(&self) -> &'static str {
        match self.build {
            Build::Native(table) => (table.variant)().unwrap_or_default(),
            Build::Opaque | Build::OpaqueByAes => "opaque",
            Build::Extended(_) => "extended",
        }
    }

    /// Whether it works on this machine, and why not.
    ///
    /// # Errors
    /// The reason.
    pub fn available(&self) -> Result<(), Reason> {
        match self.build {
            Build::OpaqueByAes => native::aes_instructions(),
            _ => self.tables().iter().try_for_each(|table| (table.variant)().map(drop)),
        }
    }
}

const RECORD: &str = "lab/record/providers-zen4.md";

const fn row(algorithm: Algorithm, provider: Provider, rank: u8, build: Build, expand: Expand) -> Row {
    Row { algorithm, provider, rank, record: RECORD, build, expand }
}

/// Native AES-GCM.
const GCM: Build = Build::Native(&native::GCM);
/// Native AES-GCM-SIV.
const SIV: Build = Build::Native(&native::GCM_SIV);
/// Native ChaCha20-Poly1305, under nonces of either length.
const CHACHA: Build = Build::Native(&native::CHACHA20_POLY1305);
/// Native AEGIS.
const AEGIS: Build = Build::Native(&native::AEGIS);
/// Its subkeys come from HChaCha20 of RustCrypto.
const XCHACHA: Build = Build::Extended(&[]);
/// Its subkeys come from native AES, whoever uses them.
const XAES: Build = Build::Extended(&[&native::AES]);
/// All of it is native.
const XAES_GCM: Build = Build::Extended(&[&native::AES, &native::GCM]);

/// Every way to compute something, by algorithm and rank.
#[rustfmt::skip]
pub static ROWS: &[Row] = &[
    row(Aes128Gcm,         Native,     1, GCM,                  |key| boxed(native::aes_128_gcm(key))),
    row(Aes128Gcm,         AwsLc,      2, Build::Opaque,        |key| boxed(aws_lc::aes_128_gcm(key))),
    row(Aes128Gcm,         Ring,       3, Build::Opaque,        |key| boxed(ring::aes_128_gcm(key))),
    row(Aes128Gcm,         RustCrypto, 4, Build::Opaque,        rustcrypto::aes_128_gcm),
    row(Aes192Gcm,         Native,     1, GCM,                  |key| boxed(native::aes_192_gcm(key))),
    row(Aes192Gcm,         AwsLc,      2, Build::Opaque,        |key| boxed(aws_lc::aes_192_gcm(key))),
    row(Aes192Gcm,         RustCrypto, 3, Build::Opaque,        rustcrypto::aes_192_gcm),
    row(Aes256Gcm,         Native,     1, GCM,                  |key| boxed(native::aes_256_gcm(key))),
    row(Aes256Gcm,         AwsLc,      2, Build::Opaque,        |key| boxed(aws_lc::aes_256_gcm(key))),
    row(Aes256Gcm,         Ring,       3, Build::Opaque,        |key| boxed(ring::aes_256_gcm(key))),
    row(Aes256Gcm,         RustCrypto, 4, Build::Opaque,        rustcrypto::aes_256_gcm),
    row(Aes128GcmSiv,      Native,     1, SIV,                  |key| boxed(native::aes_128_gcm_siv(key))),
    row(Aes128GcmSiv,      AwsLc,      2, Build::Opaque,        |key| boxed(aws_lc::aes_128_gcm_siv(key))),
    row(Aes128GcmSiv,      RustCrypto, 3, Build::Opaque,        rustcrypto::aes_128_gcm_siv),
    row(Aes256GcmSiv,      Native,     1, SIV,                  |key| boxed(native::aes_256_gcm_siv(key))),
    row(Aes256GcmSiv,      AwsLc,      2, Build::Opaque,        |key| boxed(aws_lc::aes_256_gcm_siv(key))),
    row(Aes256GcmSiv,      RustCrypto, 3, Build::Opaque,        rustcrypto::aes_256_gcm_siv),
    row(ChaCha20Poly1305,  Native,     1, CHACHA,               |key| boxed(native::chacha20_poly1305(key))),
    row(ChaCha20Poly1305,  AwsLc,      2, Build::Opaque,        |key| boxed(aws_lc::chacha20_poly1305(key))),
    row(ChaCha20Poly1305,  Ring,       3, Build::Opaque,        |key| boxed(ring::chacha20_poly1305(key))),
    row(ChaCha20Poly1305,  RustCrypto, 4, Build::Opaque,        rustcrypto::chacha20_poly1305),
    row(XChaCha20Poly1305, Native,     1, CHACHA,               |key| boxed(native::xchacha20_poly1305(key))),
    row(XChaCha20Poly1305, AwsLc,      2, XCHACHA,              |key| extended::key::<XChaCha, _>(key, aws_lc::chacha20_poly1305)),
    row(XChaCha20Poly1305, Ring,       3, XCHACHA,              |key| extended::key::<XChaCha, _>(key, ring::chacha20_poly1305)),
    row(XChaCha20Poly1305, RustCrypto, 4, Build::Opaque,        rustcrypto::xchacha20_poly1305),
    row(Xaes256Gcm,        Native,     1, XAES_GCM,             |key| extended::key::<Xaes, _>(key, native::aes_256_gcm)),
    row(Xaes256Gcm,        AwsLc,      2, XAES,                 |key| extended::key::<Xaes, _>(key, aws_lc::aes_256_gcm)),
    row(Xaes256Gcm,        Ring,       3, XAES,                 |key| extended::key::<Xaes, _>(key, ring::aes_256_gcm)),
    row(Xaes256Gcm,        RustCrypto, 4, Build::Opaque,        rustcrypto::xaes_256_gcm),
    row(Aegis128L,         Native,     1, AEGIS,                |key| boxed(native::aegis_128l(key))),
    row(Aegis128L,         Aegis,      2, Build::OpaqueByAes,   aegis::aegis_128l),
    row(Aegis128X2,        Native,     1, AEGIS,                |key| boxed(native::aegis_128x2(key))),
    row(Aegis128X2,        Aegis,      2, Build::OpaqueByAes,   aegis::aegis_128x2),
    row(Aegis128X4,        Native,     1, AEGIS,                |key| boxed(native::aegis_128x4(key))),
    row(Aegis128X4,        Aegis,      2, Build::OpaqueByAes,   aegis::aegis_128x4),
    row(Aegis256,          Native,     1, AEGIS,                |key| boxed(native::aegis_256(key))),
    row(Aegis256,          Aegis,      2, Build::OpaqueByAes,   aegis::aegis_256),
    row(Aegis256X2,        Native,     1, AEGIS,                |key| boxed(native::aegis_256x2(key))),
    row(Aegis256X2,        Aegis,      2, Build::OpaqueByAes,   aegis::aegis_256x2),
    row(Aegis256X4,        Native,     1, AEGIS,                |key| boxed(native::aegis_256x4(key))),
    row(Aegis256X4,        Aegis,      2, Build::OpaqueByAes,   aegis::aegis_256x4),
];

fn boxed(key: Result<impl AeadKey + 'static, Failed>) -> Result<Box<dyn AeadKey>, Failed> {
    Ok(Box::new(key?))
}

/// The row of this pair, if it works here.
pub(crate) fn find(algorithm: Algorithm, provider: Provider) -> Result<&'static Row, Reason> {
    let row = row_of(algorithm, provider).ok_or(Reason::Lacks(provider, algorithm))?;
    row.available().map(|()| row)
}

/// The row of this pair, whether it works here or not.
pub(crate) fn row_of(algorithm: Algorithm, provider: Provider) -> Option<&'static Row> {
    rows(algorithm).find(|row| row.provider == provider)
}

/// The first row of `algorithm`, by rank, that works here.
pub(crate) fn best(algorithm: Algorithm) -> Result<&'static Row, Reason> {
    best_of(rows(algorithm))
}

fn best_of(rows: impl Iterator<Item = &'static Row> + Clone) -> Result<&'static Row, Reason> {
    let available = rows.clone().filter(|row| row.available().is_ok());
    // The ranks were measured with AES instructions. Without them our plain integers are slower than anybody's.
    available.min_by_key(|row| (row.is_portable(), row.rank)).ok_or_else(|| {
        let mut reasons = rows.filter_map(|row| row.available().err());
        reasons.next().unwrap_or(Reason::NotBuilt)
    })
}

/// Who can compute `algorithm` here.
pub(crate) fn have(algorithm: Algorithm) -> Vec<Provider> {
    rows(algorithm).filter(|row| row.available().is_ok()).map(|row| row.provider).collect()
}

fn rows(algorithm: Algorithm) -> impl Iterator<Item = &'static Row> + Clone {
    ROWS.iter().filter(move |row| row.algorithm == algorithm)
}

#[cfg(test)]
mod test {
    use super::*;

    static WRONG: Table = Table::WRONG;
    static BROKEN: [Row; 4] = [
        row(Aes256Gcm, Native, 1, Build::Native(&WRONG), |_| Err(Failed)),
        row(Xaes256Gcm, Native, 1, Build::Extended(&[&native::AES, &WRONG]), |_| Err(Failed)),
        row(Aes256Gcm, AwsLc, 2, Build::Opaque, |_| Err(Failed)),
        row(Aes256Gcm, Ring, 3, Build::Opaque, |_| Err(Failed)),
    ];

    #[test]
    fn where_our_own_rows_are_wrong_somebody_else_computes() {
        assert_eq!(best_of(BROKEN.iter()).map(|row| row.provider), Ok(AwsLc));
        for broken in &BROKEN[..2] {
            assert_eq!(broken.available(), Err(Reason::WrongAnswer));
        }
        assert_eq!(BROKEN[0].variant(), "");
        assert_eq!(best_of(BROKEN[..2].iter()).map(|row| row.provider), Err(Reason::WrongAnswer));
    }
}
