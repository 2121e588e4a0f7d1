//! Tests of batches: lists and packed messages, compared with single messages.

use sealane::error::OffsetProblem;
use sealane::{Aead, Algorithm, Error, Key, Misuse, Offset, Provider};
use std::num::NonZeroUsize;

/// Returns every algorithm from every provider that is available on this machine.
fn every_aead() -> impl Iterator<Item = Aead> {
    let pairs = Algorithm::ALL.iter().flat_map(|&a| Provider::all().into_iter().map(move |p| (a, p)));
    pairs.filter_map(|(algorithm, provider)| {
        let key = Key::from_bytes(&vec![7; algorithm.key_len()]);
        Aead::with_provider(algorithm, &key, Some(provider)).ok()
    })
}

fn gcm() -> Aead {
    Aead::new(Algorithm::Aes256Gcm, &Key::from_bytes(&[7; 32])).unwrap()
}

fn threads(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap()
}

/// Returns bytes without equal blocks.
fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 % 251) as u8).collect()
}

fn slices(vecs: &[Vec<u8>]) -> Vec<&[u8]> {
    vecs.iter().map(|vec| &vec[..]).collect()
}

/// Returns offsets that begin with `first`.
fn offsets<O: TryFrom<usize>>(first: usize, lens: &[usize]) -> Vec<O> {
    let mut at = first;
    let ends = lens.iter().map(|len| {
        at += len;
        at
    });
    [first].into_iter().chain(ends.collect::<Vec<_>>()).map(|at| O::try_from(at).ok().unwrap()).collect()
}

/// Numbers of messages around those of groups, and lengths around those of kernels.
fn batches() -> Vec<Vec<usize>> {
    let counts = [0, 1, 2, 3, 4, 5, 63, 64, 65, 127, 128, 129, 300].map(|count| vec![33; count]);
    let mixed =
        [(0..140).collect(), vec![64, 65, 64, 1, 0, 0, 17, 4096], (0..70).map(|i| i * i % 97).collect()];
    counts.into_iter().chain(mixed).collect()
}

fn seals_packed<O: Offset + TryFrom<usize> + PartialEq + std::fmt::Debug>(aead: &Aead, lens: &[usize]) {
    for first in [0, 5] {
        let data = bytes(first + lens.iter().sum::<usize>() + 3);
        let offsets: Vec<O> = offsets(first, lens);
        let (sealed, sealed_offsets) = aead.seal_packed(&data, &offsets, b"column").unwrap();
        let sealed_lens: Vec<_> = lens.iter().map(|len| len + aead.overhead()).collect();
        assert_eq!(sealed_offsets, self::offsets::<O>(0, &sealed_lens));
        // Each is a message as `seal` makes it, under a nonce of its own.
        let (mut at, mut from, mut nonces) = (0, first, std::collections::HashSet::new());
        for len in lens {
            let message = &sealed[at..][..len + aead.overhead()];
            assert_eq!(aead.open(message, b"column").unwrap(), data[from..][..*len]);
            assert!(nonces.insert(&message[..aead.nonce_len()]), "a nonce was repeated");
            (at, from) = (at + message.len(), from + len);
        }
        assert_eq!(at, sealed.len());
        let (opened, opened_offsets) = aead.open_packed(&sealed, &sealed_offsets, b"column").unwrap();
        assert_eq!(opened, data[first..][..opened.len()]);
        assert_eq!(opened_offsets, self::offsets::<O>(0, lens));
        if let Some(last) = lens.len().checked_sub(1) {
            let error = aead.open_packed(&sealed, &sealed_offsets, b"other").unwrap_err();
            assert!(is_authentication(&error, 0), "{error}");
            let mut changed = sealed.clone();
            *changed.last_mut().unwrap() ^= 1;
            let mut out = vec![0xee; opened.len() + 2];
            let error = aead.open_packed_into(&changed, &sealed_offsets, b"column", &mut out).unwrap_err();
            assert!(is_authentication(&error, last), "{error}");
            let (result, rest) = out.split_at(opened.len());
            assert!(result.iter().all(|&byte| byte == 0), "plaintext of a batch that failed");
            assert_eq!(rest, [0xee; 2]);
        }
    }
}

fn is_authentication(error: &Error, at: usize) -> bool {
    matches!(error, Error::InBatch { index, source } if *index == at && matches!(**source, Error::Authentication))
}

#[test]
fn packed_messages_equal_single_ones() {
    for aead in every_aead() {
        for lens in batches() {
            seals_packed::<i32>(&aead, &lens);
            seals_packed::<i64>(&aead, &lens);
        }
    }
}

#[test]
fn lists_equal_single_messages() {
    for aead in every_aead() {
        for lens in batches() {
            let messages: Vec<_> = lens.iter().map(|&len| bytes(len)).collect();
            let aads: Vec<_> = (0..lens.len()).map(|index| bytes(index % 40)).collect();
            for aads in [None, Some(slices(&aads))] {
                let sealed = aead.seal_many(&slices(&messages), aads.as_deref()).unwrap();
                for (index, sealed) in sealed.iter().enumerate() {
                    let aad = aads.as_ref().map_or(&b""[..], |aads| aads[index]);
                    assert_eq!(aead.open(sealed, aad).unwrap(), messages[index]);
                }
                assert_eq!(aead.open_many(&slices(&sealed), aads.as_deref()).unwrap(), messages);
            }
        }
    }
}

/// From 512 KiB on, the pool of threads does the work, if the machine has more than one core.
// claim: message-changed
#[test]
fn large_batches_equal_small_ones() {
    let ragged: Vec<_> = (0..20_000).map(|i| i * 7919 % 128).collect();
    for lens in [vec![64; 12_345], ragged, vec![1 << 20, 3, 1 << 19, 0, 700_000, 5]] {
        for threads in [None, Some(threads(1)), Some(threads(2)), Some(threads(100))] {
            let aead = threads.map_or(gcm(), |threads| gcm().with_threads(threads));
            seals_packed::<i32>(&aead, &lens);
            let messages: Vec<_> = lens.iter().map(|&len| bytes(len)).collect();
            let mut sealed = aead.seal_many(&slices(&messages), None).unwrap();
            assert_eq!(aead.open_many(&slices(&sealed), None).unwrap(), messages);
            // The first of several is reported, however many threads there are.
            for index in [lens.len() - 1, lens.len() / 2, 1] {
                sealed[index][3] ^= 1;
                let error = aead.open_many(&slices(&sealed), None).unwrap_err();
                assert!(is_authentication(&error, index), "{error}");
            }
            let mut out: Vec<_> = messages.iter().map(|message| vec![0xee; message.len()]).collect();
            let mut buffers: Vec<_> = out.iter_mut().map(|out| &mut out[..]).collect();
            aead.open_many_into(&slices(&sealed), None, &mut buffers).unwrap_err();
            assert!(out.iter().flatten().all(|&byte| byte == 0), "plaintext of a batch that failed");
        }
    }
}

#[test]
fn offsets_that_do_not_describe_messages() {
    let aead = gcm();
    let problem = |offsets: &[i64]| match aead.seal_packed(&[1; 100], offsets, b"").unwrap_err() {
        Error::Misuse(Misuse::Offsets(problem)) => {
            let opened = aead.open_packed(&[1; 100], offsets, b"").unwrap_err();
            assert!(matches!(opened, Error::Misuse(Misuse::Offsets(other)) if other == problem));
            let into = aead.seal_packed_into(&[1; 100], offsets, b"", &mut []).unwrap_err();
            assert!(matches!(into, Error::Misuse(Misuse::Offsets(other)) if other == problem));
            problem
        }
        error => panic!("{offsets:?}: {error}"),
    };
    assert_eq!(problem(&[]), OffsetProblem::Missing);
    assert_eq!(problem(&[-1, 5]), OffsetProblem::Negative { found: -1 });
    assert_eq!(problem(&[0, 5, 4, 6]), OffsetProblem::Decreasing { index: 2, found: 4, previous: 5 });
    assert_eq!(problem(&[0, 50, -50]), OffsetProblem::Decreasing { index: 2, found: -50, previous: 50 });
    assert_eq!(problem(&[0, 101]), OffsetProblem::PastEnd { found: 101, len: 100 });
    assert_eq!(problem(&[i64::MAX, i64::MAX]), OffsetProblem::PastEnd { found: i64::MAX, len: 100 });
    assert_eq!(aead.seal_packed(&[1; 100], &[100i64], b"").unwrap(), (vec![], vec![0]));
}

#[test]
fn messages_that_are_too_short() {
    let aead = gcm();
    let sealed = aead.seal(b"", b"").unwrap();
    let short = [&sealed[..], &sealed[..27]];
    assert!(is_authentication(&aead.open_many(&short, None).unwrap_err(), 1));
    let error = aead.open_packed(&short.concat(), &[0, 28, 55], b"").unwrap_err();
    assert!(is_authentication(&error, 1), "{error}");
}

#[test]
fn counts_and_lengths_that_do_not_fit() {
    let aead = gcm();
    let count = |error: Error| match error {
        Error::Misuse(Misuse::CountPerMessage { part, got, want }) => (part, got, want),
        error => panic!("{error}"),
    };
    let error = aead.seal_many(&[b"a", b"b"], Some(&[b"c"])).unwrap_err();
    assert_eq!(count(error), ("associated data", 1, 2));
    let error = aead.open_many(&[], Some(&[b"c"])).unwrap_err();
    assert_eq!(count(error), ("associated data", 1, 0));
    let error = aead.seal_many_into(&[b"a", b"b"], None, &mut [&mut [0; 29]]).unwrap_err();
    assert_eq!(count(error), ("an output buffer", 1, 2));
    for len in [28, 30] {
        let error = aead.seal_many_into(&[b"a"], None, &mut [&mut vec![0; len][..]]).unwrap_err();
        let Error::InBatch { index: 0, source } = error else { panic!("{error}") };
        assert!(matches!(*source, Error::Misuse(Misuse::OutputLength { got, want: 29 }) if got == len));
    }
    let error = aead.seal_packed_into(b"abc", &[0, 1, 3], b"", &mut [0; 58]).unwrap_err();
    assert!(matches!(error, Error::Misuse(Misuse::OutputTooShort { got: 58, need: 59 })));
}

/// A forked child seals batches, on threads of its own, under other nonces.
// claim: fork-nonces
#[cfg(unix)]
#[test]
fn a_forked_child_seals_batches() {
    let aead = gcm();
    let data = bytes(1 << 20);
    let offsets: Vec<i32> = (0..=1 << 14).map(|i| 64 * i).collect();
    let seal = || aead.seal_packed(&data, &offsets, b"").unwrap().0;
    seal();
    let mut pipe = [0; 2];
    // SAFETY: the child only computes, writes to the pipe and leaves without running any
    // destructor.
    unsafe {
        assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
        match libc::fork() {
            0 => {
                let sealed = seal();
                libc::write(pipe[1], sealed.as_ptr().cast(), 12);
                libc::_exit(0);
            }
            child => {
                assert!(child > 0);
                let mine = seal();
                let mut theirs = [0u8; 12];
                assert_eq!(libc::read(pipe[0], theirs.as_mut_ptr().cast(), 12), 12);
                libc::waitpid(child, std::ptr::null_mut(), 0);
                assert!(mine.chunks(92).all(|message| message[..12] != theirs));
            }
        }
    }
}
