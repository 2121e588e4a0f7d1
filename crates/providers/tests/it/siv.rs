//! Published vectors of AES-SIV, with keys of all lengths and every variant of AES.

use kernels::aes;
use kernels::cpu::Features;
use kernels::siv::Siv;
use providers::InOut;
use vectors::Outcome;

#[test]
fn every_variant_reproduces_the_published_vectors() {
    let cases = vectors::siv();
    assert_eq!(cases.len(), 442 + 4);
    let here = Features::detect();
    for variant in aes::variants().filter(|variant| variant.check(here).is_ok()) {
        let features = here.intersection(variant.needs);
        for case in &cases {
            let name = format!("{} #{} with {}", case.file, case.id, variant.name);
            let siv = Siv::new(&case.key, features).unwrap();
            let headers: Vec<&[u8]> = case.headers.iter().map(|header| &header[..]).collect();
            let (v, ciphertext) = case.sealed.split_first_chunk().unwrap();
            let mut opened = vec![0; ciphertext.len()];
            let result = siv.open(&headers, InOut::apart(ciphertext, &mut opened), v);
            assert_eq!(result.is_ok(), case.result == Outcome::Valid, "{name}");
            if case.result == Outcome::Invalid {
                assert!(opened.iter().all(|byte| *byte == 0), "{name}");
                continue;
            }
            assert_eq!(opened, case.plaintext, "{name}");
            let (mut data, mut made) = (opened, [0; 16]);
            siv.seal(&headers, InOut::in_place(&mut data), &mut made);
            assert_eq!((&made, &data[..]), (v, ciphertext), "{name}");
        }
    }
}
