//! Converts SSH's RSA keys to PKCS#8 and SubjectPublicKeyInfo.

use crate::encoding::pkcs8::{rsa_private, rsa_public};
use crypto_bigint::{BoxedUint, NonZero};
use ssh_key::Mpint;
use ssh_key::private::RsaKeypair;
use ssh_key::public::RsaPublicKey;
use zeroize::Zeroizing;

/// Maximum length of d and of a prime in bytes, so that an exponent takes milliseconds at most.
const MAX_LEN: usize = 1024;

/// Returns the SubjectPublicKeyInfo of a public key; `None` if a number is negative.
pub(super) fn spki(key: &RsaPublicKey) -> Option<Vec<u8>> {
    rsa_public(key.n().as_positive_bytes()?, key.e().as_positive_bytes()?).ok()
}

/// Returns the PKCS#8 of a key pair; `None` if a number is negative or too long. The parser of the
/// result checks that the numbers belong together.
pub(super) fn pkcs8(pair: &RsaKeypair) -> Option<Zeroizing<Vec<u8>>> {
    let (public, private) = (pair.public(), pair.private());
    let (d, p, q) = (private.d(), private.p(), private.q());
    let (dp, dq) = (exponent(d, p)?, exponent(d, q)?);
    let [n, e, d, p, q, qinv] =
        [public.n(), public.e(), d, p, q, private.iqmp()].map(Mpint::as_positive_bytes);
    rsa_private([n?, e?, d?, p?, q?, &dp, &dq, qinv?]).ok()
}

/// Computes `d mod (prime - 1)` in constant time; the SSH format leaves it out.
fn exponent(d: &Mpint, prime: &Mpint) -> Option<Zeroizing<Vec<u8>>> {
    let number = |bytes: &[u8]| {
        let bits = u32::try_from(bytes.len()).ok()? * 8;
        BoxedUint::from_be_slice(bytes, bits).ok().map(Zeroizing::new)
    };
    let (d, prime) = (d.as_positive_bytes()?, prime.as_positive_bytes()?);
    if d.len() > MAX_LEN || prime.len() > MAX_LEN {
        return None;
    }
    let mut prime_minus_1 = Zeroizing::new(prime.to_vec());
    // A prime is odd; the parser of the result refuses an even one.
    *prime_minus_1.last_mut()? &= 0xfe;
    let modulus: Option<NonZero<BoxedUint>> = NonZero::new((*number(&prime_minus_1)?).clone()).into();
    let modulus = modulus.map(Zeroizing::new)?;
    let rest = Zeroizing::new(number(d)?.rem(&*modulus));
    Some(Zeroizing::new(rest.to_be_bytes().into_vec()))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn numbers_have_at_most_1024_bytes() {
        let number = |len: usize| Mpint::from_positive_bytes(&vec![0x7f; len]);
        for (d, prime, fits) in [(1024, 1024, true), (1025, 1024, false), (1024, 1025, false)] {
            assert_eq!(exponent(&number(d), &number(prime)).is_some(), fits, "{d} {prime}");
        }
    }
}
