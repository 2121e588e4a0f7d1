//! Armor: what is encoded decodes to the same bytes in pieces and at any position, and a changed
//! character is an error or changes the bytes.
// claim: input-no-crash

use sealane::age::Armor;
use sealane::age::armor::{self, Decoder, Encoder, View};
use sealane::file::ReadAt;
use std::io::Write;

pub(crate) fn run(input: (Vec<u8>, Vec<u16>, Option<(u16, u8)>, bool)) {
    let (bytes, cuts, change, crlf) = input;
    let mut encoder = Encoder::new(Vec::new()).expect("a vector");
    crate::pieces(&bytes, &cuts)
        .into_iter()
        .for_each(|piece| encoder.write_all(piece).expect("a vector"));
    let mut text = encoder.finish().expect("a vector");
    assert_eq!(text.len(), armor::len(bytes.len()));
    if crlf {
        text = String::from_utf8(text).expect("ASCII").replace('\n', "\r\n").into_bytes();
    }
    assert_eq!(Armor::detect(&text), Some(Armor::Ascii));
    let decode = |text: &[u8]| {
        let (mut decoder, mut out) = (Decoder::new(), Vec::new());
        crate::pieces(text, &cuts)
            .into_iter()
            .try_for_each(|piece| decoder.push(piece, &mut out))
            .ok()?;
        decoder.finish(&mut out).ok()?;
        Some(out)
    };
    assert_eq!(decode(&text).as_ref(), Some(&bytes));
    let view = View::new(&text[..]).expect("our own armor");
    let from = bytes.len() / 3;
    let mut part = vec![0; bytes.len() - from];
    view.read_exact_at(from as u64, &mut part).expect("our own armor");
    assert_eq!(part, bytes[from..]);
    if let Some((at, mask)) = change.filter(|change| change.1 != 0) {
        let at = usize::from(at) % text.len();
        let old = text[at];
        text[at] ^= mask;
        // White space at the end of the armor, and the form of a line end, are the only freedom.
        let blank = old.is_ascii_whitespace() || text[at].is_ascii_whitespace();
        assert!(blank || decode(&text).as_ref() != Some(&bytes), "byte {at}");
    }
}
