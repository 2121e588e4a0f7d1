//! GHASH for all data of a length, by linearity.
//!
//! With a fixed H, GHASH is linear over GF(2) in the data and in the state before it: the body
//! loads, shuffles, XORs and multiplies by the powers of H, and each of these operations is linear.
//! So if a variant agrees with the reference implementation on every single bit, it agrees on all
//! data of this length. The lengths are those around the borders of vectors, groups and tables of
//! powers; H is random or chosen for its bits. POLYVAL is the same code with another byte order,
//! and `linear.rs` checks it, and the loops that hash between the rounds of AES.

use super::*;
use crate::ghash::{BigEndian, BulkPowers, ShortPowers, absorb_into, set_up_bulk_powers};
use reference::gcm_siv::dot_vartime;

variants! {
    /// GHASH without the other functions of AES-GCM.
    GHASH: GhashFunctions for aes_and_products {
        fn set_up_bulk_powers(short: &ShortPowers, bulk: &mut BulkPowers) = [set_up_bulk_powers];
        fn absorb_short(powers: &ShortPowers, bytes: &[u8], hash: &mut u128) = [absorb_into::<_, BigEndian, W, _>];
        fn absorb(powers: &BulkPowers, bytes: &[u8], hash: &mut u128) = [absorb_into::<_, BigEndian, W, _>];
    }
}

/// Around the borders of 1, 2 and 4 lanes, of groups of up to 32 blocks, and of tables of 8 and 40
/// powers.
const BLOCKS: [usize; 35] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 23, 24, 25, 31, 32, 33, 34, 36, 39, 40, 41, 42,
    44, 48, 63, 64, 65, 72, 73,
];

/// x^0 and x^127, the field's constant, all bits, the low and the high half, and alternating bits.
const SPECIAL: [u128; 7] = [
    1,
    1 << 127,
    0xc200_0000_0000_0000_0000_0000_0000_0001,
    u128::MAX,
    u64::MAX as u128,
    (u64::MAX as u128) << 64,
    0xaaaa_aaaa_aaaa_aaaa_aaaa_aaaa_aaaa_aaaa,
];

/// Two random elements, with which data of all lengths is hashed; with `SPECIAL`, data of up to 42
/// blocks.
const RANDOM: [u128; 2] = [0x25629347589242761d31f826ba4b757b, 0x7f3a9c1e5b2d8046e1c7350fa98b6d24];

/// Products with single bits: `products(h)[i][bit]` is x^(127-bit)·H^(i+1), for the longest of
/// `BLOCKS`.
fn products(h: u128) -> Vec<[u128; 128]> {
    let powers = std::iter::successors(Some(h), |power| Some(dot_vartime(*power, h)));
    let products = powers.map(|power| std::array::from_fn(|bit| dot_vartime(1 << (127 - bit), power)));
    products.take(BLOCKS[BLOCKS.len() - 1]).collect()
}

/// Compares every bit of the data and of the state before it.
fn check(products: &[[u128; 128]], len: usize, name: &str, absorb: &dyn Fn(&[u8], &mut u128)) {
    let blocks = len.div_ceil(16);
    let mut data = vec![0; len];
    let hash = |data: &[u8], mut state: u128| {
        absorb(data, &mut state);
        state
    };
    let case = format!("{name}, {len} bytes");
    assert_eq!(hash(&data, 0), 0, "{case}");
    for (bit, expected) in products[blocks - 1].iter().enumerate() {
        assert_eq!(hash(&data, 1 << (127 - bit)), *expected, "{case}, bit {bit} of the state");
    }
    for bit in 0..8 * len {
        data[bit / 8] = 0x80 >> (bit % 8);
        let expected = products[blocks - 1 - bit / 128][bit % 128];
        assert_eq!(hash(&data, 0), expected, "{case}, bit {bit} of the data");
        data[bit / 8] = 0;
    }
}

// claim: tested-kernels
#[test]
#[cfg_attr(miri, ignore = "large")]
fn ghash_equals_the_reference_for_all_data() {
    let subkeys: Vec<_> = SPECIAL.into_iter().chain(RANDOM).map(|h| (h, products(h))).collect();
    let passes = |_| true;
    for variant in GHASH.variants().filter(|variant| variant.check(Features::detect()).is_ok()) {
        let selected = GHASH.select(Features::detect().intersection(variant.needs), passes).unwrap();
        assert_eq!(selected.name(), variant.name);
        for (h, products) in &subkeys {
            let name = format!("{}, H = {h:032x}", variant.name);
            let (short, mut bulk) = (ShortPowers::reference(*h), Box::new(BulkPowers::EMPTY));
            selected.set_up_bulk_powers(&short, &mut bulk);
            let random = RANDOM.contains(h);
            for blocks in BLOCKS.into_iter().filter(|blocks| random || *blocks <= 42) {
                // Partial blocks differ in the last block only, so one subkey suffices.
                let partial: &[usize] =
                    if *h == RANDOM[0] && blocks <= 42 { &[0, 1, 7, 8, 15] } else { &[0] };
                for missing in partial {
                    let len = 16 * blocks - missing;
                    check(products, len, &name, &|data, hash| selected.absorb(&bulk, data, hash));
                    if blocks <= ShortPowers::COUNT {
                        check(products, len, &name, &|data, hash| selected.absorb_short(&short, data, hash));
                    }
                }
            }
        }
    }
}
