//! Times every provider of every algorithm, and prints the table that the ranks of the providers
//! rest on.
//!
//! ```text
//! cargo bench -p sealane-lab-bench --bench rank
//! ```
//!
//! The providers of an algorithm are timed in interleaved rounds, so that a slow moment of the
//! machine hits all of them; each number is a median. Providers are printed in the order of the
//! geometric mean of their times.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use lab_bench::clock::{medians, time};
use providers::{Algorithm, Entry, InOut, entries};
use std::hint::black_box;
use std::time::Duration;

const SIZES: [(&str, usize); 3] = [("64 B", 64), ("16 KiB", 16 << 10), ("1 MiB", 1 << 20)];
const OPERATIONS: [&str; 3] = ["seal in place", "seal apart", "open apart"];
const ROUNDS: usize = 201;
const SAMPLE: Duration = Duration::from_micros(50);

type Timed = Box<dyn FnMut()>;

fn main() {
    print!("| algorithm | provider |");
    for (size, _) in SIZES {
        for operation in OPERATIONS {
            print!(" {size} {operation} |");
        }
    }
    println!("\n|---|---|{}", "--:|".repeat(SIZES.len() * OPERATIONS.len()));
    for &algorithm in Algorithm::ALL {
        print_algorithm(algorithm);
    }
    let seal: Timed = Box::new(through_the_trait());
    let [through, direct] = medians_of(vec![seal, Box::new(direct())])[..] else { unreachable!() };
    println!(
        "\naes-256-gcm from aws-lc, 64 B in place: {through:.1} ns through the trait, {direct:.1} ns without"
    );
}

fn print_algorithm(algorithm: Algorithm) {
    let entries: Vec<&Entry> = entries().filter(|entry| entry.algorithm == algorithm).collect();
    let mut times: Vec<(&Entry, Vec<f64>)> = entries.iter().map(|entry| (*entry, Vec::new())).collect();
    for (_, len) in SIZES {
        let all = entries.iter().flat_map(|entry| operations(entry, len)).collect();
        for (i, time) in medians_of(all).into_iter().enumerate() {
            times[i / OPERATIONS.len()].1.push(time);
        }
    }
    let mean = |times: &[f64]| times.iter().map(|time| time.ln()).sum::<f64>();
    times.sort_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)));
    for (entry, times) in times {
        print!("| {} | {} |", algorithm.name(), entry.provider.name());
        for (i, time) in times.into_iter().enumerate() {
            match SIZES[i / OPERATIONS.len()].1 {
                64 => print!(" {time:.0} ns |"),
                len => print!(" {:.2} GB/s |", len as f64 / time),
            }
        }
        println!();
    }
}

/// Returns the operations of a provider, in the order of [`OPERATIONS`].
fn operations(entry: &Entry, len: usize) -> Vec<Timed> {
    let key = || entry.key(&[7; 32][..entry.algorithm.key_len()]).expect("a key of its length");
    let nonce = vec![5; entry.algorithm.nonce_len()];
    let (plaintext, mut sealed, mut tag) = (vec![1; len], vec![0; len], [0; 16]);
    key().seal(&nonce, b"", InOut::apart(&plaintext, &mut sealed), &mut tag).expect("seals");

    let in_place = (key(), nonce.clone(), vec![1; len], [0; 16]);
    let apart = (key(), nonce.clone(), vec![0; len], [0; 16]);
    let open = (key(), nonce, vec![0; len]);
    vec![
        Box::new({
            let (key, nonce, mut data, mut tag) = in_place;
            move || key.seal(&nonce, b"", InOut::in_place(&mut data), &mut tag).expect("seals")
        }),
        Box::new({
            let (key, nonce, mut out, mut tag) = apart;
            move || key.seal(&nonce, b"", InOut::apart(&plaintext, &mut out), &mut tag).expect("seals")
        }),
        Box::new({
            let (key, nonce, mut out) = open;
            move || key.open(&nonce, b"", InOut::apart(&sealed, &mut out), &tag).expect("opens")
        }),
    ]
}

fn through_the_trait() -> impl FnMut() {
    let entry = providers::choose(Algorithm::Aes256Gcm, Some(providers::Provider::AwsLc)).expect("is there");
    let key = entry.key(&[7; 32]).expect("a key of its length");
    let (mut data, mut tag, nonce) = ([1; 64], [0; 16], [5; 12]);
    move || {
        let data = InOut::in_place(&mut data);
        key.seal(black_box(&nonce), b"", data, &mut tag).expect("seals");
    }
}

fn direct() -> impl FnMut() {
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &[7; 32]).expect("a key of its length"));
    let (mut data, mut tag, nonce) = ([1; 64], [0; 16], [5; 12]);
    move || {
        let nonce = Nonce::assume_unique_for_key(*black_box(&nonce));
        key.seal_in_place_scatter(nonce, Aad::empty(), &mut data, &[], &mut tag).expect("seals");
    }
}

/// Returns the median nanoseconds of one call of each.
fn medians_of(mut timed: Vec<Timed>) -> Vec<f64> {
    medians(timed.len(), ROUNDS, SAMPLE, |contender, calls, _| time(calls, &mut timed[contender]))
}
