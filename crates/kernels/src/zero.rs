//! Wiping of secrets in memory.

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
use core::sync::atomic::{Ordering, compiler_fence};

mod sealed {
    pub trait Plain: Copy + Default {}
    impl Plain for u8 {}
    impl Plain for u32 {}
    impl Plain for u64 {}
    impl Plain for u128 {}
}

/// Overwrites `data` with zeros, even if the compiler can prove that the zeros are never read.
#[inline]
pub fn wipe<T: sealed::Plain>(data: &mut [T]) {
    data.fill(T::default());
    observe(data);
}

/// Makes the compiler assume that all of `data` is read, so that it must be written before. Wiping this way takes a
/// third of the time of volatile writes, and each message of AES-GCM-SIV wipes its keys.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#[inline(always)]
fn observe<T>(data: &mut [T]) {
    // SAFETY: it contains no instruction. Without `nomem` the compiler assumes that it reads through the pointer.
    unsafe { core::arch::asm!("/* {} */", in(reg) data.as_mut_ptr(), options(nostack, preserves_flags)) }
}

/// Does the same with volatile reads, for targets on which `asm!` is not used.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
fn observe<T: sealed::Plain>(data: &mut [T]) {
    for x in data {
        // SAFETY: `x` is a unique reference to an integer, so it is valid for a read.
        unsafe { core::ptr::read_volatile(x) };
    }
    // Code that frees or reuses the memory must stay after the reads.
    compiler_fence(Ordering::SeqCst);
}

/// Wipes the stack frame of the call before this one, in which the compiler may have spilled registers that hold
/// secrets. `WORDS` is at least the size of this frame in words of 64 bits.
#[inline(never)]
pub(crate) fn wipe_dead_stack<const WORDS: usize>() {
    let mut dead = [0u64; WORDS];
    wipe(&mut dead);
}

#[cfg(test)]
mod test {
    use super::wipe;

    #[test]
    fn wipes_exactly_the_slice() {
        for start in 0..16 {
            for end in start..40 {
                let mut data = [0xa5u8; 40];
                wipe(&mut data[start..end]);
                let zero = |i: usize| (start..end).contains(&i);
                assert!(data.iter().enumerate().all(|(i, b)| *b == if zero(i) { 0 } else { 0xa5 }));
            }
        }
        let mut words = [7u32; 5];
        wipe(&mut words[1..4]);
        assert_eq!(words, [7, 0, 0, 0, 7]);
    }
}
