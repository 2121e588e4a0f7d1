//! Keys from passphrases: Argon2id (RFC 9106).

use crate::prelude::*;
use argon2::{Algorithm, Argon2, Block, Params, Version};
use base::lanes::with_threads_for;

/// The cost parameters of Argon2id. The default is the second recommended option of RFC 9106,
/// section 4, for machines where 2 GiB are too much: 64 MiB, 3 passes and 4 lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Memory in KiB, at least 8 for each lane.
    pub memory_kib: u32,
    /// Number of passes over the memory. More passes take more time.
    pub passes: u32,
    /// Number of lanes: parts of the memory filled in parallel. It changes the key.
    pub lanes: u32,
}

impl Default for Cost {
    fn default() -> Self {
        Self { memory_kib: 64 << 10, passes: 3, lanes: 4 }
    }
}

/// Limit of the memory, to refuse a number of bytes instead of KiB.
const MAX_MEMORY_KIB: u32 = 4 << 20;
/// Limit of memory times passes: about a minute.
const MAX_WORK_KIB: u64 = 64 << 20;
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=1 << 16;
const NO_MEMORY: Error =
    Error::LimitExceeded("the key derivation needs more memory than this process can get");
const MIN_SALT_LEN: usize = 8;

/// Derives `length` bytes from `passphrase`, `salt` and the parameters of `cost` with Argon2id.
///
/// Several threads fill the lanes, at most one per core. Their number does not change the result.
///
/// The salt is not secret. Use 16 random bytes, different for each passphrase.
///
/// # Errors
/// Returns [`Misuse::DerivationParameters`] if the salt has less than 8 bytes, the length is not
/// from 4 to 65536, there is no pass or lane, a lane has less than 8 KiB, the memory is above 4
/// GiB, or memory times passes is above 64 GiB, and [`Error::LimitExceeded`] if the memory cannot
/// be allocated.
///
/// # Example
/// ```
/// use sealane::keys::{Cost, Key, derive};
///
/// let salt = Key::generate(16)?; // random, stored beside the data, and not secret
/// let bytes = derive(b"correct horse battery staple", salt.as_bytes(), 32, Cost::default())?;
/// let key = Key::from_bytes(&bytes);
/// # Ok::<(), sealane::Error>(())
/// ```
pub fn derive(passphrase: &[u8], salt: &[u8], length: usize, cost: Cost) -> Result<Zeroizing<Vec<u8>>> {
    Computation::Argon2id.check()?;
    check(salt, length, cost)?;
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(length)).map_err(refused)?;
    let (passphrase, salt) = (Zeroizing::new(memory::copy(passphrase)?), memory::copy(salt)?);
    interruptible(move || {
        // Allocated here to be wiped, because the last blocks determine the result. Any error is a
        // lack of memory.
        let blocks = memory::with_capacity(params.block_count()).map_err(|_| NO_MEMORY)?;
        let mut blocks = Zeroizing::new(blocks);
        // bounded: the capacity is there.
        blocks.resize(params.block_count(), Block::default());
        let mut out = Zeroizing::new(memory::zeroed(length)?);
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        with_threads_for(cost.lanes as usize, || {
            argon2
                .hash_password_into_with_memory(&passphrase, &salt, &mut out, &mut blocks[..])
                .map_err(refused)
        })??;
        Ok(out)
    })
}

fn check(salt: &[u8], length: usize, cost: Cost) -> Result<(), Misuse> {
    let Cost { memory_kib, passes, lanes } = cost;
    let (memory, work) = (u64::from(memory_kib), u64::from(memory_kib) * u64::from(passes));
    for (holds, otherwise) in [
        (salt.len() >= MIN_SALT_LEN, "the salt must have at least 8 bytes, better 16"),
        (LENGTHS.contains(&length), "the length must be 4 to 65536 bytes"),
        (passes >= 1, "there must be at least one pass"),
        (lanes >= 1, "there must be at least one lane"),
        (memory >= 8 * u64::from(lanes), "the memory must be at least 8 KiB for each lane"),
        (memory_kib <= MAX_MEMORY_KIB, "the memory must be at most 4 GiB; it is counted in KiB"),
        (work <= MAX_WORK_KIB, "memory times passes must be at most 64 GiB; memory is counted in KiB"),
    ] {
        if !holds {
            return Err(Misuse::DerivationParameters(otherwise));
        }
    }
    Ok(())
}

/// Translates the errors that remain after `check`: 4 GiB of salt or passphrase.
fn refused(_: argon2::Error) -> Error {
    Error::LimitExceeded("Argon2id takes at most 4 GiB of passphrase and salt")
}

#[cfg(test)]
mod test {
    use super::*;
    use vectors::{Argon2Variant, KdfPart};

    fn hex(passphrase: &[u8], salt: &[u8], length: usize, [memory_kib, passes, lanes]: [u32; 3]) -> String {
        hex::encode(&*derive(passphrase, salt, length, Cost { memory_kib, passes, lanes }).unwrap())
    }

    /// These vectors have a secret and associated data. `derive` takes neither, so they test the
    /// crate `argon2`.
    #[test]
    fn rfc_9106() {
        let mut cases = 0;
        for case in vectors::kdf() {
            let KdfPart::Argon2 { variant, secret, data, passes, memory_kib, lanes } = &case.part else {
                continue;
            };
            let algorithm = match variant {
                Argon2Variant::Argon2d => Algorithm::Argon2d,
                Argon2Variant::Argon2i => Algorithm::Argon2i,
                Argon2Variant::Argon2id => Algorithm::Argon2id,
            };
            let mut params = argon2::ParamsBuilder::new();
            let data = argon2::AssociatedData::new(data).unwrap();
            let params = params.m_cost(*memory_kib).t_cost(*passes).p_cost(*lanes).data(data);
            let params = params.output_len(case.output.len()).build().unwrap();
            let argon2 = Argon2::new_with_secret(secret, algorithm, Version::V0x13, params).unwrap();
            let mut out = vec![0; case.output.len()];
            let work = || argon2.hash_password_into(&case.secret, &case.salt, &mut out);
            with_threads_for(*lanes as usize, work).unwrap().unwrap();
            assert_eq!(out, case.output, "{} {}", case.file, case.id);
            cases += 1;
        }
        assert_eq!(cases, 3);
    }

    /// The first value is from the reference implementation's tests (phc-winner-argon2, test.c),
    /// the others from `cryptography` 48.0.0 (OpenSSL's `Argon2id`).
    #[test]
    fn values_of_other_implementations() {
        let derived = |length, cost| hex(b"password", b"somesalt", length, cost);
        assert_eq!(
            derived(32, [65536, 2, 1]),
            "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7"
        );
        assert_eq!(
            derived(32, [65536, 3, 4]),
            "661fefbd6f29bcbc8f4646abc32a9d7a4645bb5c059537f8a5587f31adbecccd"
        );
        assert_eq!(
            derived(32, [256, 2, 2]),
            "6d093c501fd5999645e0ea3bf620d7b8be7fd2db59c20d9fff9539da2bf57037"
        );
        assert_eq!(derived(16, [8, 1, 1]), "f73a73d271859d21ef45465da12bdf86");
        let default = Cost::default();
        assert_eq!([default.memory_kib, default.passes, default.lanes], [65536, 3, 4]);
    }

    /// One lane after another, as in a pool of one thread, and on the threads of the call.
    #[test]
    fn threads_do_not_change_the_result() {
        let one = rayon_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        for lanes in [1, 2, 3, 8] {
            let cost = [lanes * 64, 2, lanes];
            let threads = hex(b"password", b"somesalt", 32, cost);
            assert_eq!(threads, one.install(|| hex(b"password", b"somesalt", 32, cost)), "{lanes} lanes");
        }
    }

    #[test]
    fn rejects_parameters_out_of_range() {
        let cost = |memory_kib, passes, lanes| Cost { memory_kib, passes, lanes };
        for (salt, length, cost, says) in [
            (7, 32, Cost::default(), "salt"),
            (8, 3, Cost::default(), "length"),
            (8, 65537, Cost::default(), "length"),
            (8, usize::MAX, Cost::default(), "length"),
            (8, 32, cost(64, 0, 1), "pass"),
            (8, 32, cost(64, 1, 0), "lane"),
            (8, 32, cost(31, 1, 4), "8 KiB"),
            (8, 32, cost(64 << 20, 1, 4), "4 GiB"),
            (8, 32, cost(u32::MAX, u32::MAX, u32::MAX), "8 KiB"),
            (8, 32, cost(4 << 20, 17, 4), "64 GiB"),
            (8, 32, cost(64, u32::MAX, 4), "64 GiB"),
        ] {
            let refused = derive(b"", &vec![0; salt], length, cost);
            let Err(Error::Misuse(misuse @ Misuse::DerivationParameters(_))) = refused else {
                panic!("{salt} {length}")
            };
            assert!(misuse.to_string().contains(says), "{misuse}");
        }
    }

    #[test]
    fn empty_passphrases_and_short_keys() {
        assert_eq!(derive(b"", &[0; 8], 4, Cost { memory_kib: 8, passes: 1, lanes: 1 }).unwrap().len(), 4);
    }
}
