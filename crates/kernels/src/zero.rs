//! Wiping of secrets in memory.

use alloc::vec::Vec;
use core::mem::MaybeUninit;
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

/// Makes the compiler assume that all of `data` is read, so that it must be written before. Wiping
/// this way takes a third of the time of volatile writes, and each message of AES-GCM-SIV wipes its
/// keys.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#[inline(always)]
fn observe<T>(data: &mut [T]) {
    // SAFETY: it contains no instruction. Without `nomem` the compiler assumes that it reads
    // through the pointer.
    unsafe { core::arch::asm!("/* {} */", in(reg) data.as_mut_ptr(), options(nostack, preserves_flags)) }
}

/// Does the same with volatile reads, for targets without `asm!`.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
fn observe<T: Copy>(data: &mut [T]) {
    for x in data {
        // SAFETY: `x` is a unique reference to a value without a destructor, so it is valid for a
        // read.
        unsafe { core::ptr::read_volatile(x) };
    }
    // Code that frees or reuses the memory must stay after the reads.
    compiler_fence(Ordering::SeqCst);
}

/// Wipes the stack frame of the call before this one, in which the compiler may have spilled
/// registers that hold secrets. `WORDS` is at least the size of this frame in words of 64 bits.
#[inline(never)]
pub fn wipe_dead_stack<const WORDS: usize>() {
    let mut dead = [MaybeUninit::<u64>::uninit(); WORDS];
    // The `memset` of glibc takes 25 ns longer from 2 KiB on, where it uses `rep stosb`.
    for part in dead.chunks_mut(192) {
        part.fill(MaybeUninit::new(0));
        observe(part);
    }
}

/// Wipes the vector registers that a call need not preserve. A kernel leaves round keys in them,
/// and whatever saves all registers writes the keys to the stack: a signal, or the dynamic linker
/// when it binds a function at its first call.
pub fn wipe_registers() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    let has = |feature| crate::cpu::Features::detect().names().any(|name| name == feature);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if has("avx") {
        // SAFETY: the processor has AVX, and the ABI that is named says that all vector registers
        // may change.
        unsafe {
            core::arch::asm!("vzeroall", clobber_abi("sysv64"), options(nomem, nostack, preserves_flags))
        }
        if has("avx512f") {
            // SAFETY: the processor has AVX-512, and the ABI that is named says that all vector
            // registers may change.
            unsafe {
                core::arch::asm!(
                    ".irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
                    "vpxord zmm\\n, zmm\\n, zmm\\n",
                    ".endr",
                    clobber_abi("sysv64"),
                    options(nomem, nostack, preserves_flags)
                );
            }
        }
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: NEON is a part of the architecture, and the ABI that is named says that these
    // registers may change.
    unsafe {
        core::arch::asm!(
            ".irp n,0,1,2,3,4,5,6,7,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
            "movi v\\n\\().2d, #0",
            ".endr",
            clobber_abi("C"),
            options(nomem, nostack, preserves_flags)
        );
    }
}

/// Returns `len` zeros, or `None` if the memory is not available. `vec![0; len]` would abort the
/// process then.
///
/// The allocator returns long buffers as pages that the operating system clears at their first use,
/// so each thread clears its own part. `try_reserve` and `resize` would write all of them here.
pub fn try_zeroed(len: usize) -> Option<Vec<u8>> {
    // The error carries no detail: the length is above `isize::MAX`.
    let layout = core::alloc::Layout::array::<u8>(len).ok()?;
    if len == 0 {
        return Some(Vec::new());
    }
    // SAFETY: the layout's size is `len`, not zero here.
    let bytes = unsafe { alloc::alloc::alloc_zeroed(layout) };
    // SAFETY: if it is not null, the global allocator returned it for this layout, and all `len`
    // bytes are zeros.
    (!bytes.is_null()).then(|| unsafe { Vec::from_raw_parts(bytes, len, len) })
}

#[cfg(test)]
mod test {
    use super::{try_zeroed, wipe};

    #[test]
    fn zeros_or_nothing() {
        for len in [0, 1, 4096, 1 << 20] {
            let mut bytes = try_zeroed(len).unwrap();
            assert!(bytes.len() == len && bytes.iter().all(|&byte| byte == 0));
            bytes.push(1);
        }
        // A process of 32 bits may get half of its addresses.
        let longest = cfg!(target_pointer_width = "64").then_some(isize::MAX as usize);
        for len in [isize::MAX as usize + 1, usize::MAX].into_iter().chain(longest) {
            // The compiler may leave out an allocation that it can see is not used.
            assert!(std::hint::black_box(try_zeroed(len)).is_none(), "{len}");
        }
    }

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
