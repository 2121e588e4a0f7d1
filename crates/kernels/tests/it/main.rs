//! Integration tests of the kernels: every variant against its reference implementation. The unit
//! tests of the sources run here too.

extern crate alloc;

// The files of the crate that have unit tests, and what they use. The tests run with their own copy
// of this code, without the tables of the ciphers: compiling the whole crate for them took minutes.
#[path = "../../src"]
#[allow(dead_code, unfulfilled_lint_expectations, unreachable_pub, unused_imports, unused_macros)]
mod of_the_crate {
    #[macro_use]
    pub(crate) mod vector;
    pub(crate) mod aegis {
        mod kind;
    }
    pub(crate) mod cpu;
    mod ct;
    pub(crate) mod error;
    pub(crate) mod ghash;
    mod poly1305 {
        mod body;
        #[path = "../../tests/it/bounds.rs"]
        mod bounds;
        mod radix;
        mod scalar;
    }
    mod speck {
        mod size;
    }
    pub(crate) mod variant;
    pub(crate) mod zero;
}
use of_the_crate::{cpu, error, ghash, vector, zero};
use vector::inout::InOut;

#[macro_use]
mod layout;

mod changing_memory;
mod every_aegis;
mod every_aes;
mod every_batch;
mod every_chacha20;
mod every_chacha20_poly1305;
mod every_eme;
mod every_gcm;
mod every_gcm_siv;
mod every_gcm_stream;
mod every_poly1305;
mod every_segment;
mod every_siv;
mod every_speck;
mod every_xsalsa20_poly1305;
mod guarded;
mod known_answers;
mod linear;
mod self_tests;
mod stack;
mod variants;
mod zeroing;
