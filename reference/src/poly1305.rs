//! Poly1305 as RFC 8439, section 2.5.1, writes it, on numbers in digits of 32 bits.

/// A number, its lowest digit first. A product of two numbers below 2^131 has 262 bits, so there is room.
type Number = [u32; 9];

/// 2^130 - 5.
const P: Number = [0xffff_fffb, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 3, 0, 0, 0, 0];

/// The tag of a message under a key of 32 bytes.
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

/// Some bits of r are zero.
fn clamp(r: &mut [u8; 16]) {
    for i in [3, 7, 11, 15] {
        r[i] &= 15;
    }
    for i in [4, 8, 12] {
        r[i] &= 252;
    }
}

/// Little-endian bytes as a number.
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

/// a - b, where b is at most a.
fn subtract(a: &Number, b: &Number) -> Number {
    let mut borrow = 0;
    core::array::from_fn(|i| {
        let digit = i64::from(a[i]) - i64::from(b[i]) - borrow;
        borrow = i64::from(digit < 0);
        digit as u32
    })
}

/// Digit by digit, as on paper.
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

/// Takes P times a power of two away where that is possible, the largest power first.
fn modulo_p_vartime(mut x: Number) -> Number {
    for power in (0..=132).rev() {
        let multiple = shift(&P, power);
        // The highest digit decides.
        if x.iter().rev().cmp(multiple.iter().rev()).is_ge() {
            x = subtract(&x, &multiple);
        }
    }
    x
}

/// x times 2^n.
fn shift(x: &Number, n: usize) -> Number {
    core::array::from_fn(|i| {
        let digit = |i: Option<usize>| i.map_or(0, |i| u64::from(x[i]));
        let i = i.checked_sub(n / 32);
        let pair = digit(i) << 32 | digit(i.and_then(|i| i.checked_sub(1)));
        (pair << (n % 32) >> 32) as u32
    })
}

#[cfg(test)]
mod test {
    use super::*;

    /// RFC 8439, sections 2.5.2 and A.3.
    #[test]
    fn published_vectors() {
        let cases = vectors::poly1305();
        assert_eq!(cases.len(), 12);
        for vectors::MacCase { file, id, key, message, tag } in cases {
            let key = key.try_into().unwrap();
            assert_eq!(tag_vartime(&key, &message).to_vec(), tag, "{file} #{id}");
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
