//! Poly1305 (RFC 8439, section 2.5.1) on integers with digits of 32 bits.

/// An integer, lowest digit first. The product of two integers below 2^131 fits into 9 digits.
type Number = [u32; 9];

/// The prime 2^130 - 5.
const P: Number = [0xffff_fffb, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 3, 0, 0, 0, 0];

/// Returns the tag of a message under a key of 32 bytes.
pub fn tag_vartime(key: &[u8; 32], message: &[u8]) -> [u8; 16] {
    let mut r: [u8; 16] = *key.first_chunk().unwrap();
    clamp(&mut r);
    let r = number(&r);
    let s = number(&key[16..]);
    let mut accumulator = [0; 9];
    for block in message.chunks(16) {
        let n = number(&[block, &[1]].concat());
        accumulator = add(&accumulator, &n);
        accumulator = modulo_p_vartime(multiply(&r, &accumulator));
    }
    accumulator = add(&accumulator, &s);
    let mut tag = [0; 16];
    for (bytes, digit) in tag.chunks_mut(4).zip(accumulator) {
        bytes.copy_from_slice(&digit.to_le_bytes());
    }
    tag
}

/// Returns the first `count` powers r, r^2, r^3, … of a key's r, as 17 little-endian bytes each.
pub fn powers_vartime(key: &[u8; 32], count: usize) -> Vec<[u8; 17]> {
    let mut r: [u8; 16] = *key.first_chunk().unwrap();
    clamp(&mut r);
    let r = number(&r);
    let powers = std::iter::successors(Some(r), |power| Some(modulo_p_vartime(multiply(power, &r))));
    let bytes = |power: Number| core::array::from_fn(|i| (power[i / 4] >> (8 * (i % 4))) as u8);
    powers.take(count).map(bytes).collect()
}

/// Clears the bits of r that must be zero (section 2.5).
fn clamp(r: &mut [u8; 16]) {
    for i in [3, 7, 11, 15] {
        r[i] &= 15;
    }
    for i in [4, 8, 12] {
        r[i] &= 252;
    }
}

/// Returns little-endian bytes as an integer.
fn number(bytes: &[u8]) -> Number {
    let mut number = [0; 9];
    for (i, byte) in bytes.iter().enumerate() {
        number[i / 4] |= u32::from(*byte) << (8 * (i % 4));
    }
    number
}

fn add(a: &Number, b: &Number) -> Number {
    let mut carry = 0;
    core::array::from_fn(|i| {
        carry += u64::from(a[i]) + u64::from(b[i]);
        let digit = carry as u32;
        carry >>= 32;
        digit
    })
}

/// Returns a - b, for b at most a.
fn subtract(a: &Number, b: &Number) -> Number {
    let mut borrow = 0;
    core::array::from_fn(|i| {
        let digit = i64::from(a[i]) - i64::from(b[i]) - borrow;
        borrow = i64::from(digit < 0);
        digit as u32
    })
}

/// Returns the product, by schoolbook multiplication.
fn multiply(a: &Number, b: &Number) -> Number {
    let mut product = [0; 9];
    for i in 0..9 {
        let mut carry = 0;
        for j in 0..9 - i {
            carry += u64::from(product[i + j]) + u64::from(a[i]) * u64::from(b[j]);
            product[i + j] = carry as u32;
            carry >>= 32;
        }
    }
    product
}

/// Returns x mod P. Multiplies the part above 2^130 by 5 and adds it, since 2^130 = 5 modulo P.
/// Subtracts P at the end.
fn modulo_p_vartime(mut x: Number) -> Number {
    const FIVE: Number = [5, 0, 0, 0, 0, 0, 0, 0, 0];
    // Compares digits from the highest down.
    while x.iter().rev().cmp(P.iter().rev()).is_ge() {
        let digit = |i: usize| x.get(i).copied().unwrap_or(0);
        let above = core::array::from_fn(|i| digit(4 + i) >> 2 | digit(5 + i) << 30);
        let mut below = x;
        below[4] &= 3;
        below[5..].fill(0);
        x = if above == [0; 9] { subtract(&x, &P) } else { add(&below, &multiply(&above, &FIVE)) };
    }
    x
}

#[cfg(test)]
mod test {
    use super::*;

    /// Checks the vectors of RFC 8439, section 2.5.2 and appendix A.3.
    #[test]
    fn published_vectors() {
        let cases = vectors::poly1305();
        assert_eq!(cases.len(), 12);
        for vectors::MacCase { file, id, key, message, tag } in cases {
            let key = key.try_into().unwrap();
            assert_eq!(tag_vartime(&key, &message).to_vec(), tag, "{file} #{id}");
        }
    }

    /// Returns x times 2^n, not reduced modulo P.
    fn shift(x: &Number, n: usize) -> Number {
        core::array::from_fn(|i| {
            let digit = |i: Option<usize>| i.map_or(0, |i| u64::from(x[i]));
            let i = i.checked_sub(n / 32);
            let pair = digit(i) << 32 | digit(i.and_then(|i| i.checked_sub(1)));
            (pair << (n % 32) >> 32) as u32
        })
    }

    /// Compares the powers with the tag of zeros: the sum of the powers times 2^128.
    #[test]
    fn powers_agree_with_tags() {
        let mut key = [0; 32];
        key[0] = 3;
        let power = |n: u8| [n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(powers_vartime(&key, 4), [3, 9, 27, 81].map(power));
        key[15] = 0x0f;
        let powers = powers_vartime(&key, 40);
        let sum = |n: usize| number(&powers[n - 1]);
        // A block of zeros is the number 2^128, because of the bit after it.
        let two_128 = number(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        for n in 1..40 {
            let sum = (1..=n).fold([0; 9], |all, i| add(&all, &sum(i)));
            let sum = modulo_p_vartime(multiply(&modulo_p_vartime(sum), &two_128));
            let tag = tag_vartime(&key, &vec![0; 16 * n]);
            assert_eq!(number(&tag)[..4], sum[..4], "{n}");
        }
    }

    #[test]
    fn remainders() {
        let one = number(&[1]);
        assert_eq!(modulo_p_vartime(P), [0; 9]);
        assert_eq!(modulo_p_vartime(add(&P, &one)), one);
        assert_eq!(modulo_p_vartime(subtract(&P, &one)), subtract(&P, &one));
        // (P - 1)^2 = 1.
        let x = subtract(&P, &one);
        assert_eq!(modulo_p_vartime(multiply(&x, &x)), one);
        // The largest product: 2^262 - 2^132 + 1 = 100 - 20 + 1.
        let x = subtract(&shift(&one, 131), &one);
        assert_eq!(modulo_p_vartime(multiply(&x, &x)), number(&[81]));
    }
}
