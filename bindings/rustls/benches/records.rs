//! TLS 1.3 records: nanoseconds to encrypt and to decrypt one, beside rustls's providers.
//!
//! `cargo bench -p sealane-rustls --features aws-lc-rs`. In each round every provider works for
//! about 2 ms in turn, and each goes first every third round. The figures are medians of all
//! rounds; the last column is the median of each round's ratio. To decrypt, every provider first
//! copies the record into a buffer.

use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, Iv, MessageDecrypter, MessageEncrypter, OutboundChunks,
    OutboundOpaqueMessage, OutboundPlainMessage,
};
use rustls::crypto::{CryptoProvider, aws_lc_rs, ring};
use rustls::{CipherSuite, ContentType, ProtocolVersion};
use sealane_rustls::with_sealane;
use std::hint::black_box;
use std::time::{Duration, Instant};

const LENS: [usize; 4] = [64, 1024, 4096, 16_384];
const ROUNDS: usize = 61;
const ROUND: Duration = Duration::from_millis(2);
/// Suites with 32-byte keys: rustls has no public constructor for a shorter [`AeadKey`].
const SUITES: [CipherSuite; 2] =
    [CipherSuite::TLS13_AES_256_GCM_SHA384, CipherSuite::TLS13_CHACHA20_POLY1305_SHA256];
/// Sequence number of the first record, the one to decrypt. AWS-LC takes the first nonce for number
/// 0 and encrypts only under increasing numbers.
const FIRST: u64 = 0;

/// Records of one provider, cipher suite and length.
struct Records {
    encrypter: Box<dyn MessageEncrypter>,
    decrypter: Box<dyn MessageDecrypter>,
    next: u64,
    data: Vec<u8>,
    sealed: Vec<u8>,
    buffer: Vec<u8>,
}

impl Records {
    fn new(provider: &CryptoProvider, suite: CipherSuite, len: usize) -> Self {
        let found = provider.cipher_suites.iter().find(|known| known.suite() == suite);
        let aead = found.and_then(|suite| suite.tls13()).expect("every provider has the suite").aead_alg;
        let key = || AeadKey::from([7; 32]);
        let mut records = Self {
            encrypter: aead.encrypter(key(), Iv::new([3; 12])),
            decrypter: aead.decrypter(key(), Iv::new([3; 12])),
            next: FIRST,
            data: vec![5; len],
            sealed: Vec::new(),
            buffer: Vec::new(),
        };
        records.sealed = records.encrypt().payload.as_ref().to_vec();
        records.buffer = records.sealed.clone();
        records
    }

    fn encrypt(&mut self) -> OutboundOpaqueMessage {
        let message = OutboundPlainMessage {
            typ: ContentType::ApplicationData,
            version: ProtocolVersion::TLSv1_2,
            payload: OutboundChunks::Single(black_box(&self.data)),
        };
        let sequence = self.next;
        self.next += 1;
        self.encrypter.encrypt(message, sequence).unwrap()
    }

    fn encrypt_once(&mut self) {
        black_box(self.encrypt());
    }

    fn decrypt_once(&mut self) {
        self.buffer.copy_from_slice(&self.sealed);
        let message = InboundOpaqueMessage::new(
            ContentType::ApplicationData,
            ProtocolVersion::TLSv1_2,
            &mut self.buffer,
        );
        black_box(self.decrypter.decrypt(message, FIRST).unwrap());
    }
}

fn nanoseconds(count: u32, records: &mut Records, once: fn(&mut Records)) -> f64 {
    let began = Instant::now();
    for _ in 0..count {
        once(records);
    }
    began.elapsed().as_secs_f64() * 1e9 / f64::from(count)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Returns each round's nanoseconds with each provider.
fn measure(contenders: &mut [Records; 3], once: fn(&mut Records)) -> Vec<[f64; 3]> {
    let mut count = 0;
    let began = Instant::now();
    while began.elapsed() < ROUND {
        once(&mut contenders[0]);
        count += 1;
    }
    let round = |first: usize| {
        let mut times = [0.0; 3];
        for i in (0..3).map(|i| (first + i) % 3) {
            times[i] = nanoseconds(count, &mut contenders[i], once);
        }
        times
    };
    // The first round warms up.
    (0..=ROUNDS).map(round).skip(1).collect()
}

fn main() {
    let providers: [CryptoProvider; 3] = [
        with_sealane(ring::default_provider()).expect("a provider"),
        aws_lc_rs::default_provider(),
        ring::default_provider(),
    ];
    println!("| records | bytes | sealane | aws-lc-rs | ring | the faster of these over sealane |");
    println!("|---|---|---|---|---|---|");
    let works: [(&str, fn(&mut Records)); 2] =
        [("encrypt", Records::encrypt_once), ("decrypt", Records::decrypt_once)];
    for suite in SUITES {
        for (name, once) in works {
            for len in LENS {
                let mut contenders = providers.each_ref().map(|of| Records::new(of, suite, len));
                let equal = contenders.iter().all(|one| one.sealed == contenders[0].sealed);
                assert!(equal, "the providers do not encrypt equally");
                let rounds = measure(&mut contenders, once);
                let of = |i: usize| median(rounds.iter().map(|times| times[i]));
                let ratio = median(rounds.iter().map(|times| times[1].min(times[2]) / times[0]));
                let suite = suite.as_str().unwrap_or_default();
                let [ours, aws, ring] = [of(0), of(1), of(2)];
                println!(
                    "| {name} {suite} | {len} | {ours:.0} ns | {aws:.0} ns | {ring:.0} ns | {ratio:.2} |"
                );
            }
        }
    }
}
