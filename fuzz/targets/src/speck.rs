//! Every variant of Speck against the reference implementation: ten sizes, two byte orders, blocks
//! and keystreams, at any counter and offset, also after the end of the keystream.

use kernels::speck::{self, ByteOrder, Size, Speck};
use reference::speck::{Order, Speck as Reference};
use crate::{check, repeated, rows};

pub(crate) fn run(input: (u8, [u8; 32], [u8; 16], u64, u8, u8, Vec<u8>)) {
    let (choice, key, mut iv, offset, place, times, data) = input;
    let data = repeated(data, times, 5000);
    let size = Size::ALL[usize::from(choice) % Size::ALL.len()];
    let block = size.block_len();
    let (order, reference_order) =
        if choice < 128 { (ByteOrder::Big, Order::Big) } else { (ByteOrder::Little, Order::Little) };
    let (key, iv) = (&key[..size.key_len()], &mut iv[..block]);
    if place & 8 > 0 {
        // The low word, or the whole counter, overflows soon.
        let from = if place & 16 > 0 { block / 2 } else { 0 };
        iv[from..block - 1].fill(0xff);
    }
    // The end of the keystream; 2^64 also stands for longer ones.
    let end: u128 = if block < 8 { (block as u128) << (8 * block) } else { 1 << 64 };
    let offset = match place % 4 {
        0 => offset % 4096,
        1 => (end - 1 - u128::from(offset % 10_000)) as u64,
        2 => (u128::from(offset) % end) as u64,
        _ => offset,
    };
    let fits = u128::from(offset) + data.len() as u128 <= end;
    let whole = data.len().is_multiple_of(block);
    let cipher = Reference::new_vartime(8 * block as u32, key, reference_order);
    let mut stream = data.clone();
    if fits {
        cipher.xor_at_vartime(iv, offset, &mut stream);
    }
    let each = |one: fn(&Reference, &[u8]) -> Vec<u8>| -> Option<Vec<u8>> {
        whole.then(|| data.chunks(block).flat_map(|block| one(&cipher, block)).collect())
    };
    let sealed = each(Reference::encrypt_block_vartime);
    let opened = each(Reference::decrypt_block_vartime);
    for (name, features) in rows(speck::variants()) {
        let speck = Speck::new(size, key, order, features).unwrap();
        assert_eq!(speck.variant(), name);
        let name = format!("{name} {} {order:?}", size.name());
        check(&name, &data, fits.then_some(&stream), |data| speck.xor_at(iv, offset, data));
        check(&name, &data, sealed.as_deref(), |data| speck.encrypt_blocks(data));
        check(&name, &data, opened.as_deref(), |data| speck.decrypt_blocks(data));
    }
}
