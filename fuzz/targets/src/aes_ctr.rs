//! The selected variant of AES-CTR against the reference implementation, at any offset and counter.

use providers::InOut;

pub(crate) fn run(input: ([u8; 32], u8, [u8; 16], u64, Vec<u8>)) {
    let (key, size, iv, offset, data) = input;
    let key = &key[..[16, 24, 32][usize::from(size) % 3]];
    let aes = providers::raw::aes(key).expect("a good length");
    let mut ours = data.clone();
    let fits = offset.checked_add(data.len() as u64).is_some() || offset.wrapping_add(data.len() as u64) == 0;
    let done = aes.xor_at(&iv, offset, InOut::in_place(&mut ours));
    assert_eq!(done.is_ok(), fits);
    if fits {
        let mut expected = data.clone();
        reference::aes::Aes::new_vartime(key).xor_at_vartime(&iv, offset, &mut expected);
        assert_eq!(ours, expected);
    } else {
        assert_eq!(ours, data);
    }
}
