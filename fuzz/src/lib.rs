//! Helpers of several targets.

use kernels::cpu::Features;
use kernels::variant::Variant;
use providers::InOut;

/// Returns each variant that this machine can run, with the features that select it.
pub fn rows(table: impl Iterator<Item = Variant>) -> impl Iterator<Item = (&'static str, Features)> {
    let here = Features::detect();
    table.filter(move |row| row.check(here).is_ok()).map(move |row| (row.name, here.intersection(row.needs)))
}

/// Repeats `bytes`, because the fuzzer starts with short inputs and extends them slowly.
pub fn repeated(bytes: Vec<u8>, times: u8, most: usize) -> Vec<u8> {
    let mut bytes = bytes.repeat(1 + usize::from(times));
    bytes.truncate(most);
    bytes
}

/// Checks that `compute` turns `data` into `want`, in place and apart. Without `want`, it must fail and write nothing.
pub fn check<E>(
    name: &str,
    data: &[u8],
    want: Option<&[u8]>,
    mut compute: impl FnMut(InOut<'_>) -> Result<(), E>,
) {
    let (mut here, mut there) = (data.to_vec(), vec![0xee; data.len()]);
    let in_place = compute(InOut::in_place(&mut here)).is_ok();
    let apart = compute(InOut::apart(data, &mut there)).is_ok();
    assert_eq!([in_place, apart], [want.is_some(); 2], "{name}: fails at another end");
    if let Some(want) = want {
        assert!(here == want, "{name}: other bytes in place");
        assert!(there == want, "{name}: other bytes apart");
    } else {
        assert!(here == data && there.iter().all(|byte| *byte == 0xee), "{name}: written although rejected");
    }
}

/// Splits `all` into pieces with lengths from `cuts`; the last piece has the remaining bytes. Some pieces are empty.
pub fn pieces<'a>(mut all: &'a [u8], cuts: &[u16]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut cuts = cuts.iter().cycle().take(1000);
    while let Some(cut) = cuts.next().filter(|_| !all.is_empty()) {
        // Half of the pieces are short.
        let cut = usize::from(cut >> (cut % 16));
        let (piece, rest) = all.split_at(all.len().min(cut));
        pieces.push(piece);
        all = rest;
    }
    pieces.push(all);
    pieces
}
