//! chunked-encryption@v1: published vectors, every changed byte and truncation, and all interfaces.

use proptest::prelude::*;
use sealane::file::{
    self, BufferDecryptor, BufferEncryptor, Concurrency, DecryptWith, Decryptor, EncryptWith, Encryptor,
    Options, ReadAt, Reader,
};
use sealane::{Error, Key, Misuse};
use std::io::{self, Read, Seek, SeekFrom};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use vectors::{ChunkedFlag, Outcome};

fn key() -> Key {
    Key::from_bytes(&[7; 32])
}

/// Returns bytes with the period 251, which is prime and below 256, so that any two chunks differ.
fn plain(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

/// Returns plaintext lengths around the ends of chunks, jobs and batches, where an error is most
/// likely.
fn lengths() -> Vec<usize> {
    let borders = [0, 16, 16_384, 32_768, 15 * 16_384, 262_144, 64 * 16_384, 4 << 20];
    borders.iter().flat_map(|&b: &usize| [b.saturating_sub(1), b, b + 1, b + 15]).collect()
}

fn decrypt_pieces(sealed: &[u8], piece: usize, key: &Key) -> Result<Vec<u8>, Error> {
    let mut decryptor = Decryptor::new(Vec::new(), &DecryptWith::key(key, b"context"));
    for piece in sealed.chunks(piece) {
        decryptor.push(piece)?;
    }
    decryptor.finish()
}

#[test]
fn all_interfaces_agree() {
    let key = key();
    for len in lengths() {
        let plain = plain(len);
        let sealed = file::encrypt(&plain, &EncryptWith::key(&key, b"context")).unwrap();
        assert_eq!(sealed.len(), 56 + len + 16 * (len / 16_384 + 1));
        assert_eq!(file::decrypt(&sealed, &DecryptWith::key(&key, b"context")).unwrap(), plain);
        assert_eq!(decrypt_pieces(&sealed, 65_537, &key).unwrap(), plain);
        let reader = Reader::new(&sealed[..], &DecryptWith::key(&key, b"context")).unwrap();
        let mut read = vec![0; len + 10];
        assert_eq!((reader.size(), reader.read_at(0, &mut read).unwrap()), (len as u64, len));
        assert_eq!(read[..len], plain);

        let mut encryptor = Encryptor::new(Vec::new(), &EncryptWith::key(&key, b"context")).unwrap();
        for piece in plain.chunks(99_991) {
            encryptor.push(piece).unwrap();
        }
        assert_eq!(
            file::decrypt(&encryptor.finish().unwrap(), &DecryptWith::key(&key, b"context")).unwrap(),
            plain
        );
    }
}

#[test]
fn streams_from_reader_to_writer() {
    let (key, plain) = (key(), plain(3_000_000));
    let sealed =
        file::encrypt_stream(&plain[..], Vec::new(), &EncryptWith::key(&key, b"c"), Options::default())
            .unwrap();
    assert_eq!(file::decrypt(&sealed, &DecryptWith::key(&key, b"c")).unwrap(), plain);
    assert_eq!(
        file::decrypt_stream(&sealed[..], Vec::new(), &DecryptWith::key(&key, b"c"), Options::default())
            .unwrap(),
        plain
    );
    let cut = &sealed[..sealed.len() - 1];
    assert!(
        file::decrypt_stream(cut, Vec::new(), &DecryptWith::key(&key, b"c"), Options::default()).is_err()
    );
}

// claim: file-commits
#[test]
fn published_vectors() {
    let cases = vectors::chunked();
    assert!(cases.len() >= 35);
    for case in cases {
        let key = Key::from_bytes(&case.key);
        let at = format!("{} {}", case.file, case.id);
        let open = Reader::new(&case.ciphertext[..], &DecryptWith::key(&key, &case.context));
        let whole = file::decrypt(&case.ciphertext, &DecryptWith::key(&key, &case.context));
        let mut decryptor = Decryptor::new(Vec::new(), &DecryptWith::key(&key, &case.context));
        let streamed = decryptor.push(&case.ciphertext).and_then(|()| decryptor.finish());
        if case.result == Outcome::Valid {
            let plain = whole.unwrap();
            assert_eq!(Some(plain.len() as u64), case.message_len, "{at}");
            assert_eq!(Some(sha512(&plain)), case.message_sha512, "{at}");
            assert_eq!(streamed.unwrap(), plain, "{at}");
            let mut read = vec![0; plain.len()];
            open.unwrap().read_at(0, &mut read).unwrap();
            assert_eq!(read, plain, "{at}");
        } else {
            assert!(whole.is_err() && streamed.is_err(), "{at}");
            // Random access opens the intact parts and fails at the damage.
            assert_eq!(open.is_ok(), case.flags.contains(&ChunkedFlag::ValidFinalChunk), "{at}");
            let read = open.and_then(|reader| reader.read_at(0, &mut vec![0; reader.size() as usize]));
            assert!(read.is_err(), "{at}");
        }
    }
}

fn sha512(data: &[u8]) -> Vec<u8> {
    use sha2::Digest;
    sha2::Sha512::digest(data).to_vec()
}

// claim: file-changed, file-commits, tested-every-byte
#[test]
fn rejects_every_changed_byte_and_truncation() {
    let (key, plain) = (key(), plain(200));
    let sealed = file::encrypt(&plain, &EncryptWith::key(&key, b"context")).unwrap();
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 0x10;
        // The header commits to the key, so only a changed header looks like another key.
        let whole = file::decrypt(&changed, &DecryptWith::key(&key, b"context"));
        for result in [whole, decrypt_pieces(&changed, 50, &key)] {
            match result {
                Err(Error::Authentication) => assert!(at < 56, "{at}"),
                Err(Error::DamagedChunk { index: 0, offset: 56 }) => assert!(at >= 56, "{at}"),
                other => panic!("{at}: {other:?}"),
            }
        }
        assert!(Reader::new(&changed[..], &DecryptWith::key(&key, b"context")).is_err(), "{at}");
        let cut = &sealed[..at];
        let error = file::decrypt(cut, &DecryptWith::key(&key, b"context")).unwrap_err();
        assert!(matches!(error, Error::Truncated | Error::DamagedChunk { .. }), "{at}: {error}");
        assert!(decrypt_pieces(cut, 50, &key).is_err(), "{at}");
        assert!(Reader::new(cut, &DecryptWith::key(&key, b"context")).is_err(), "{at}");
    }
    assert!(matches!(file::decrypt(&sealed, &DecryptWith::key(&key, b"other")), Err(Error::Authentication)));
    assert!(matches!(
        file::decrypt(&sealed, &DecryptWith::key(&Key::from_bytes(&[8; 32]), b"context")),
        Err(Error::Authentication)
    ));
    assert!(matches!(
        file::decrypt(&sealed, &DecryptWith::key(&Key::from_bytes(&[7; 16]), b"context")),
        Err(Error::Authentication)
    ));
    assert!(matches!(
        file::decrypt(&sealed, &DecryptWith::key(&Key::from_bytes(&[7; 24]), b"context")),
        Err(Error::Misuse(_))
    ));
}

// claim: file-changed
#[test]
fn rejects_moved_chunks() {
    let key = key();
    let sealed = file::encrypt(&plain(5 * 16_384 + 100), &EncryptWith::key(&key, b"context")).unwrap();
    let chunk = |i: usize| 56 + i * 16_400..56 + (i + 1) * 16_400;
    let mut swapped = sealed.clone();
    swapped[chunk(1)].copy_from_slice(&sealed[chunk(2)]);
    swapped[chunk(2)].copy_from_slice(&sealed[chunk(1)]);
    let doubled = [&sealed[..chunk(2).end], &sealed[chunk(2)], &sealed[chunk(3).start..]].concat();
    let dropped = [&sealed[..chunk(2).start], &sealed[chunk(3).start..]].concat();
    let trailing = [&sealed[..], b"x"].concat();
    let cut_on_a_border = sealed[..chunk(3).end].to_vec();
    for (what, damaged) in [
        ("swapped", swapped),
        ("doubled", doubled),
        ("dropped", dropped),
        ("trailing", trailing),
        ("cut on a border", cut_on_a_border),
    ] {
        assert!(file::decrypt(&damaged, &DecryptWith::key(&key, b"context")).is_err(), "{what}");
        assert!(decrypt_pieces(&damaged, 1 << 20, &key).is_err(), "{what}");
        let read = Reader::new(&damaged[..], &DecryptWith::key(&key, b"context"))
            .and_then(|reader| reader.read_at(0, &mut vec![0; reader.size() as usize]));
        assert!(read.is_err(), "{what}");
    }
}

#[test]
fn failed_decryption_leaves_zeros() {
    let key = key();
    let mut sealed = file::encrypt(&plain(100_000), &EncryptWith::key(&key, b"")).unwrap();
    *sealed.last_mut().unwrap() ^= 1;
    let opening = BufferDecryptor::new(&sealed, &DecryptWith::key(&key, b"")).unwrap();
    assert!(!opening.is_empty());
    let empty = file::encrypt(b"", &EncryptWith::key(&key, b"")).unwrap();
    assert!(BufferDecryptor::new(&empty, &DecryptWith::key(&key, b"")).unwrap().is_empty());
    let mut out = vec![0xee; opening.len()];
    assert!(opening.decrypt_into(&mut out).is_err());
    assert!(out.iter().all(|&b| b == 0));
}

#[test]
fn rejects_short_buffers() {
    let (key, sealed) = (key(), file::encrypt(b"some", &EncryptWith::key(&key(), b"")).unwrap());
    let short = |result| matches!(result, Err(Error::Misuse(Misuse::OutputTooShort { .. })));
    let (lock, unlock) = (EncryptWith::key(&key, b""), DecryptWith::key(&key, b""));
    assert!(short(
        BufferEncryptor::new(b"some", &lock).unwrap().encrypt_into(&mut vec![0; sealed.len() - 1])
    ));
    assert!(short(BufferDecryptor::new(&sealed, &unlock).unwrap().decrypt_into(&mut [0; 3])));
    let mut long = [9; 6];
    BufferDecryptor::new(&sealed, &unlock).unwrap().decrypt_into(&mut long).unwrap();
    assert_eq!(&long, b"some\x09\x09");
}

#[test]
fn read_and_seek() {
    let (key, plain) = (key(), plain(100_000));
    let sealed = file::encrypt(&plain, &EncryptWith::key(&key, b"")).unwrap();
    let mut reader = Reader::new(&sealed[..], &DecryptWith::key(&key, b"")).unwrap();
    let mut ten = [0; 10];
    assert_eq!(reader.seek(SeekFrom::End(-10)).unwrap(), 99_990);
    reader.read_exact(&mut ten).unwrap();
    assert_eq!(ten, plain[99_990..]);
    assert_eq!(reader.read(&mut ten).unwrap(), 0);
    assert_eq!(reader.seek(SeekFrom::Start(1 << 40)).unwrap(), 1 << 40);
    assert_eq!(reader.read(&mut ten).unwrap(), 0);
    assert_eq!(reader.read_at(u64::MAX, &mut ten).unwrap(), 0);
    assert!(reader.seek(SeekFrom::Current(i64::MIN)).is_err());
    assert_eq!(reader.seek(SeekFrom::Start(16_380)).unwrap(), 16_380);
    reader.read_exact(&mut ten).unwrap();
    assert_eq!(ten, plain[16_380..16_390]);
}

/// A source with a variable end and a given concurrency of reads.
struct Source<'a> {
    bytes: &'a [u8],
    end: AtomicUsize,
    concurrency: Concurrency,
}

impl ReadAt for Source<'_> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.bytes[..self.end.load(Relaxed)].read_at(offset, into)
    }

    fn size(&self) -> io::Result<u64> {
        self.bytes.size()
    }

    fn concurrency(&self) -> Concurrency {
        self.concurrency
    }
}

const BIG: usize = 5 << 20;

fn source(bytes: &[u8], concurrency: Concurrency) -> Source<'_> {
    Source { bytes, end: AtomicUsize::new(bytes.len()), concurrency }
}

#[test]
fn long_reads_at_any_offset() {
    let (key, plain) = (key(), plain(BIG + 1234));
    let sealed = file::encrypt(&plain, &EncryptWith::key(&key, b"")).unwrap();
    for concurrency in [Concurrency::Parallel, Concurrency::Serialized] {
        let reader = Reader::new(source(&sealed, concurrency), &DecryptWith::key(&key, b"")).unwrap();
        let mut read = vec![0; plain.len()];
        for from in [0, 1, 16_383, 16_384, 16_385, 524_287, 1 << 20] {
            for len in [0, 1, 16_384, 65_536, 81_920, 524_287, 524_288, 600_001, 1 << 20, 4 << 20, BIG] {
                let to = (from + len).min(plain.len());
                let read = &mut read[..len];
                assert_eq!(reader.read_at(from as u64, read).unwrap(), to - from, "{from} {len}");
                assert!(read[..to - from] == plain[from..to], "{from} {len}");
                // The chunk that was last read in part is cached, and this read continues there.
                let next = (to + 100).min(plain.len());
                let n = reader.read_at(to as u64, &mut read[..len.min(100)]).unwrap();
                assert!(read[..n] == plain[to..next][..n], "{from} {len}");
            }
        }
    }
}

// claim: file-reader
#[test]
fn long_read_rejects_changed_chunks() {
    let (key, plain) = (key(), plain(BIG));
    let sealed = file::encrypt(&plain, &EncryptWith::key(&key, b"")).unwrap();
    for chunk in [0, 1, 77, 200, 318] {
        let mut changed = sealed.clone();
        changed[56 + chunk * 16_400 + 5000] ^= 1;
        let reader = Reader::new(&changed[..], &DecryptWith::key(&key, b"")).unwrap();
        for from in [0, 9000] {
            let mut read = vec![0xee; BIG - from];
            let result = reader.read_at(from as u64, &mut read);
            match result {
                Err(Error::DamagedChunk { index, offset }) => {
                    assert_eq!((index, offset), (chunk as u64, 56 + 16_400 * chunk as u64));
                }
                other => panic!("{chunk}: {other:?}"),
            }
            for (at, (&read, &plain)) in read.iter().zip(&plain[from..]).enumerate() {
                assert!(read == plain || read == 0 || read == 0xee, "{chunk} {at}");
            }
            let bad = (chunk * 16_384).saturating_sub(from)..((chunk + 1) * 16_384).saturating_sub(from);
            // A chunk that is read in part is opened in another buffer.
            let untouched = if chunk == 0 && from > 0 { 0xee } else { 0 };
            assert!(read[bad].iter().all(|&byte| byte == untouched), "{chunk}");
        }
    }
}

#[test]
fn source_that_shrinks_is_an_error() {
    let (key, plain) = (key(), plain(BIG));
    let sealed = file::encrypt(&plain, &EncryptWith::key(&key, b"")).unwrap();
    let reader = Reader::new(source(&sealed, Concurrency::Parallel), &DecryptWith::key(&key, b"")).unwrap();
    reader.source().end.store(BIG / 2, Relaxed);
    for len in [100, 65_536, 1 << 20, BIG] {
        let result = reader.read_at((BIG / 2) as u64, &mut vec![0; len]);
        let Err(Error::Io { source, .. }) = result else { panic!("{result:?}") };
        assert_eq!(source.kind(), io::ErrorKind::UnexpectedEof);
    }
    assert_eq!(reader.read_at(0, &mut vec![0; 1 << 20]).unwrap(), 1 << 20);
}

/// Boxes and references are sources too, and report what the source in them reports.
#[test]
fn boxes_and_references_of_sources() {
    let bytes = plain(100);
    for concurrency in [Concurrency::Parallel, Concurrency::Serialized] {
        let inner = source(&bytes, concurrency);
        let boxed: Box<dyn ReadAt + '_> = Box::new(source(&bytes, concurrency));
        for (name, source) in [("box", &boxed as &dyn ReadAt), ("reference", &&inner)] {
            assert_eq!((source.size().unwrap(), source.concurrency()), (100, concurrency), "{name}");
            let mut read = [0; 10];
            assert_eq!(source.read_at(95, &mut read).unwrap(), 5, "{name}");
            assert_eq!(read[..5], bytes[95..], "{name}");
            source.read_exact_at(40, &mut read).unwrap();
            assert_eq!(read, bytes[40..50], "{name}");
        }
    }
}

/// A source that gives a few bytes at once, is interrupted between them, and fails at `fails_at` or
/// ends.
struct Halting<'a> {
    bytes: &'a [u8],
    fails_at: Option<usize>,
    calls: AtomicUsize,
    position: usize,
}

impl<'a> Halting<'a> {
    fn new(bytes: &'a [u8], fails_at: Option<usize>) -> Self {
        Self { bytes, fails_at, calls: AtomicUsize::new(0), position: 0 }
    }
}

impl ReadAt for Halting<'_> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        if self.calls.fetch_add(1, Relaxed).is_multiple_of(2) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if self.fails_at.is_some_and(|at| offset as usize + 1000 > at) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let len = into.len().min(1000);
        self.bytes.read_at(offset, &mut into[..len])
    }

    fn size(&self) -> io::Result<u64> {
        self.bytes.size()
    }
}

impl Read for Halting<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.read_at(self.position as u64, into)?;
        self.position += n;
        Ok(n)
    }
}

/// Reads that a signal interrupts are repeated. Other errors end the operation.
#[test]
fn interrupted_reads_continue_and_others_fail() {
    let (key, plain) = (key(), plain(50_000));
    let (with, unlock) = (EncryptWith::key(&key, b""), DecryptWith::key(&key, b""));
    let sealed = file::encrypt(&plain, &with).unwrap();
    let timed_out =
        |error: Error| matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::TimedOut);
    let mut read = vec![0; plain.len()];
    let reader = Reader::new(Halting::new(&sealed, None), &unlock).unwrap();
    assert_eq!(reader.read_at(0, &mut read).unwrap(), plain.len());
    assert_eq!(read, plain);
    assert!(timed_out(Reader::new(Halting::new(&sealed, Some(49_000)), &unlock).map(drop).unwrap_err()));

    let mut heard = Vec::new();
    let mut hear = |done, total| {
        heard.push((done, total));
        ControlFlow::Continue(())
    };
    let options = Options { progress: Some(&mut hear), ..Options::default() };
    let stream = file::encrypt_stream(Halting::new(&plain, None), Vec::new(), &with, options).unwrap();
    assert_eq!(file::decrypt(&stream, &unlock).unwrap(), plain);
    // An interruption is reported, so that the callback can cancel.
    let mut expected: Vec<_> = (0..=50_u64).map(|n| (1000 * n, None)).collect();
    expected.push((50_000, Some(50_000)));
    assert_eq!(heard, expected);
    let mut stop = |_, _| ControlFlow::Break(());
    let options = Options { progress: Some(&mut stop), ..Options::default() };
    let cancelled = file::encrypt_stream(Halting::new(&plain, None), Vec::new(), &with, options);
    assert!(matches!(cancelled, Err(Error::Cancelled)));
    let source = Halting::new(&sealed, Some(49_000));
    assert!(timed_out(file::decrypt_stream(source, Vec::new(), &unlock, Options::default()).unwrap_err()));
}

/// The helpers of one reader request helpers of their own.
#[test]
fn reads_a_file_inside_an_encrypted_file() {
    struct Outer<'a>(Reader<&'a [u8]>);
    impl ReadAt for Outer<'_> {
        fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
            self.0.read_at(offset, into).map_err(io::Error::other)
        }
        fn size(&self) -> io::Result<u64> {
            Ok(self.0.size())
        }
    }
    let (key, plain) = (key(), plain(2 * BIG));
    let inner = file::encrypt(&plain, &EncryptWith::key(&key, b"inner")).unwrap();
    let outer = file::encrypt(&inner, &EncryptWith::key(&key, b"outer")).unwrap();
    let outer = Outer(Reader::new(&outer[..], &DecryptWith::key(&key, b"outer")).unwrap());
    let reader = Reader::new(outer, &DecryptWith::key(&key, b"inner")).unwrap();
    let mut read = vec![0; plain.len()];
    for from in [0, 5] {
        let n = reader.read_at(from, &mut read).unwrap();
        assert!(read[..n] == plain[from as usize..]);
    }
}

#[test]
fn long_reads_of_many_threads() {
    let (key, plain) = (key(), plain(BIG));
    let sealed = file::encrypt(&plain, &EncryptWith::key(&key, b"")).unwrap();
    let reader = Reader::new(&sealed[..], &DecryptWith::key(&key, b"")).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (reader, plain) = (&reader, &plain);
            scope.spawn(move || {
                let mut some = vec![0; 1 << 20];
                for i in 0..20 {
                    let at = (i * 79_190 + thread * 104_729) % (BIG - (1 << 20));
                    let n = reader.read_at(at as u64, &mut some[..(i + 1) * 52_428]).unwrap();
                    assert!(some[..n] == plain[at..at + n]);
                }
            });
        }
    });
}

#[test]
fn one_reader_serves_many_threads() {
    let (key, plain) = (key(), plain(300_000));
    let sealed = file::encrypt(&plain, &EncryptWith::key(&key, b"")).unwrap();
    let reader = Reader::new(&sealed[..], &DecryptWith::key(&key, b"")).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (reader, plain) = (&reader, &plain);
            scope.spawn(move || {
                for i in 0..200 {
                    let at = (i * 7919 + thread * 104_729) % 290_000;
                    let mut some = vec![0; 5000];
                    let n = reader.read_at(at as u64, &mut some).unwrap();
                    assert_eq!(some[..n], plain[at..at + n]);
                }
            });
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_ranges_equal_the_plaintext(len in 0usize..200_000, at in 0u64..220_000, n in 0usize..120_000) {
        let (key, plain) = (key(), plain(len));
        let sealed = file::encrypt(&plain, &EncryptWith::key(&key, b"")).unwrap();
        let mut read = vec![0xee; n];
        let got = Reader::new(&sealed[..], &DecryptWith::key(&key, b"")).unwrap().read_at(at, &mut read).unwrap();
        let from = (at as usize).min(len);
        prop_assert_eq!(&read[..got], &plain[from..(from + n).min(len)]);
        prop_assert!(read[got..].iter().all(|&b| b == 0xee));
    }

    #[test]
    fn random_pieces_round_trip(len in 0usize..400_000, cuts in prop::collection::vec(1usize..150_000, 1..8)) {
        let (key, plain) = (key(), plain(len));
        let mut encryptor = Encryptor::new(Vec::new(), &EncryptWith::key(&key, b"context")).unwrap();
        let (mut rest, mut cuts) = (&plain[..], cuts.iter().cycle());
        while !rest.is_empty() {
            let (now, later) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
            encryptor.push(now).unwrap();
            rest = later;
        }
        let sealed = encryptor.finish().unwrap();
        prop_assert_eq!(decrypt_pieces(&sealed, *cuts.next().unwrap(), &key).unwrap(), plain);
    }

    // claim: file-changed
    #[test]
    fn rejects_random_bytes(noise in prop::collection::vec(any::<u8>(), 0..40_000)) {
        prop_assert!(file::decrypt(&noise, &DecryptWith::key(&key(), b"")).is_err());
        prop_assert!(decrypt_pieces(&noise, 999, &key()).is_err());
    }
}

#[test]
fn progress_reports_the_end_and_may_cancel() {
    let folder = std::env::temp_dir().join(format!("sealane-progress-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (from, to) = (folder.join("from"), folder.join("to"));
    std::fs::write(&from, plain(3_000_000)).unwrap();
    let mut heard = Vec::new();
    let mut hear = |done, total| {
        heard.push((done, total));
        ControlFlow::Continue(())
    };
    // With one thread each step is reported. With more, the calling thread may find that all is
    // done.
    let options = Options { progress: Some(&mut hear), threads: NonZeroUsize::new(1), ..Options::default() };
    file::encrypt_file(&from, &to, &EncryptWith::key(&key(), b""), options).unwrap();
    assert!(heard.len() >= 10 && heard.is_sorted(), "{heard:?}");
    assert_eq!(heard.last(), Some(&(3_000_000, Some(3_000_000))));
    std::fs::remove_file(&to).unwrap();
    let mut stop = |_, _| ControlFlow::Break(());
    let options = Options { progress: Some(&mut stop), ..Options::default() };
    assert!(matches!(
        file::encrypt_file(&from, &to, &EncryptWith::key(&key(), b""), options),
        Err(Error::Cancelled)
    ));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Continuing after a failure could seal other bytes under a used nonce.
// claim: file-stream
#[test]
fn failed_stream_stays_poisoned() {
    struct Full(usize);
    impl io::Write for Full {
        fn write(&mut self, from: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(from.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(from.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let lost = |result| matches!(result, Err(Error::Misuse(Misuse::Poisoned)));
    let mut encryptor = Encryptor::new(Full(100), &EncryptWith::key(&key(), b"")).unwrap();
    assert!(matches!(encryptor.push(&plain(3 << 20)), Err(Error::Io { .. })));
    assert!(lost(encryptor.push(b"more")) && lost(encryptor.finish().map(drop)));

    let sealed = file::encrypt(&plain(3 << 20), &EncryptWith::key(&key(), b"")).unwrap();
    let mut decryptor = Decryptor::new(Full(100), &DecryptWith::key(&key(), b""));
    assert!(matches!(decryptor.push(&sealed), Err(Error::Io { .. })));
    assert!(lost(decryptor.push(b"more")) && lost(decryptor.finish().map(drop)));
    let mut decryptor = Decryptor::new(Vec::new(), &DecryptWith::key(&key(), b"other"));
    assert!(matches!(decryptor.push(&sealed[..100]), Err(Error::Authentication)));
    assert!(lost(decryptor.push(&sealed[100..])) && decryptor.finish().is_err());
}
