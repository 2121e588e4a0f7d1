//! RSA keys of SSH as DER: their numbers in the order that PKCS#1 wants (RFC 8017 appendix A.1), inside PKCS#8
//! (RFC 5208) and SubjectPublicKeyInfo (RFC 5280 section 4.1).

use crypto_bigint::{BoxedUint, NonZero};
use ssh_key::Mpint;
use ssh_key::private::RsaKeypair;
use ssh_key::public::RsaPublicKey;
use zeroize::Zeroizing;

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const SEQUENCE: u8 = 0x30;
const VERSION: [u8; 3] = [INTEGER, 1, 0];
/// rsaEncryption (1.2.840.113549.1.1.1) without parameters.
const ALGORITHM: [u8; 15] =
    [SEQUENCE, 13, 0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0];

/// The longest modulus of a private key, in bytes. Nobody wants to wait for longer ones.
const MOST: usize = 1024;

/// The SubjectPublicKeyInfo of a public key.
pub(super) fn spki(key: &RsaPublicKey) -> Option<Zeroizing<Vec<u8>>> {
    let numbers = element(SEQUENCE, &[&mpint(key.n())?, &mpint(key.e())?]);
    Some(element(SEQUENCE, &[&ALGORITHM, &element(BIT_STRING, &[&[0], &numbers])]))
}

/// The PKCS#8 of a key pair. Whether its numbers fit together is for the reader to check.
pub(super) fn pkcs8(pair: &RsaKeypair) -> Option<Zeroizing<Vec<u8>>> {
    let (public, private) = (pair.public(), pair.private());
    let numbers = element(
        SEQUENCE,
        &[
            &VERSION,
            &mpint(public.n())?,
            &mpint(public.e())?,
            &mpint(private.d())?,
            &mpint(private.p())?,
            &mpint(private.q())?,
            &integer(&exponent(private.d(), private.p())?),
            &integer(&exponent(private.d(), private.q())?),
            &mpint(private.iqmp())?,
        ],
    );
    Some(element(SEQUENCE, &[&VERSION, &ALGORITHM, &element(OCTET_STRING, &[&numbers])]))
}

/// `d mod (prime - 1)`, which SSH leaves out; in constant time.
fn exponent(d: &Mpint, prime: &Mpint) -> Option<Zeroizing<Vec<u8>>> {
    let number = |bytes: &[u8]| {
        let bits = u32::try_from(bytes.len()).ok()? * 8;
        BoxedUint::from_be_slice(bytes, bits).ok().map(Zeroizing::new)
    };
    let (d, prime) = (d.as_positive_bytes()?, prime.as_positive_bytes()?);
    if d.len() > MOST || prime.len() > MOST {
        return None;
    }
    let mut before = Zeroizing::new(prime.to_vec());
    // Primes are odd; what is even is none, and the reader of the result finds out.
    *before.last_mut()? &= 0xfe;
    let before: Option<NonZero<BoxedUint>> = NonZero::new((*number(&before)?).clone()).into();
    let before = before.map(Zeroizing::new)?;
    let rest = Zeroizing::new(number(d)?.rem(&*before));
    Some(Zeroizing::new(rest.to_be_bytes().into_vec()))
}

fn mpint(number: &Mpint) -> Option<Zeroizing<Vec<u8>>> {
    number.as_positive_bytes().map(integer)
}

/// A number that is not negative, without zeros before it.
fn integer(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    let bytes = &bytes[zeros..];
    let sign: &[u8] = match bytes.first() {
        Some(..0x80) => &[],
        _ => &[0],
    };
    element(INTEGER, &[sign, bytes])
}

/// An element of DER with this content.
fn element(tag: u8, content: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let len: usize = content.iter().map(|part| part.len()).sum();
    let octets = len.to_be_bytes();
    let octets = &octets[len.leading_zeros() as usize / 8..];
    // Room for all of it: a vector that grows leaves copies behind.
    let mut der = Zeroizing::new(Vec::with_capacity(2 + octets.len() + len));
    der.push(tag);
    match len {
        ..0x80 => der.push(len as u8),
        _ => {
            der.push(0x80 | octets.len() as u8);
            der.extend_from_slice(octets);
        }
    }
    content.iter().for_each(|part| der.extend_from_slice(part));
    der
}
