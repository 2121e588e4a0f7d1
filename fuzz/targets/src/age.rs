//! The age parsers do not panic on any bytes. A header that arrives in pieces parses as the whole
//! header, and armor decodes to the same bytes in sequence and at any position.
// claim: input-no-crash

use sealane::age::armor::{Decoder, View};
use sealane::age::{self, Armor, Header, Identity, Parsed};
use sealane::file::ReadAt;

pub(crate) fn run(input: (u16, u8, &[u8])) {
    let (cut, piece, bytes) = input;
    headers(bytes, cut.into());
    armor(bytes, usize::from(piece) + 1);
    // Without an identity, as far as a file from another source can be parsed.
    let _ = Armor::detect(bytes);
    assert!(age::open(bytes, &[]).is_err());
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = age::parse_recipients(text);
        let _ = age::parse_identities(text);
        let _ = Identity::from_ssh(text, None);
    }
}

fn headers(bytes: &[u8], cut: usize) {
    let whole = Header::parse(bytes);
    let part = Header::parse(&bytes[..cut.min(bytes.len())]);
    match (part, whole) {
        (Ok(Parsed::Ready((_, a))), Ok(Parsed::Ready((_, b)))) => assert_eq!(a, b),
        (Ok(Parsed::Ready(_)), other) => panic!("whole when cut, then {other:?}"),
        (Err(why), Ok(other)) => panic!("{why} when cut, then {other:?}"),
        (Ok(Parsed::NeedsMore(want)), _) => assert!(want > cut.min(bytes.len())),
        (Err(_), Err(_)) => {}
    }
}

fn armor(bytes: &[u8], piece: usize) {
    let decode = |piece| {
        let (mut decoder, mut out) = (Decoder::new(), Vec::new());
        for piece in bytes.chunks(piece) {
            decoder.push(piece, &mut out).ok()?;
        }
        decoder.finish(&mut out).ok()?;
        Some(out)
    };
    let whole = decode(usize::MAX);
    assert_eq!(decode(piece), whole);
    // Random access accepts less: all lines must end in the same way.
    if let Ok(view) = View::new(bytes) {
        let mut out = vec![0; view.size().expect("of a slice") as usize];
        if view.read_exact_at(0, &mut out).is_ok() {
            assert_eq!(Some(out), whole);
        }
    }
}
