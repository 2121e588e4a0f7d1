//! Integration tests of the kernels: every variant against its reference implementation.

#[macro_use]
mod layout;

mod changing_memory;
mod every_aegis;
mod every_aes;
mod every_chacha20;
mod every_chacha20_poly1305;
mod every_gcm;
mod every_gcm_batch;
mod every_gcm_siv;
mod every_gcm_stream;
mod every_poly1305;
mod every_segment;
mod every_siv;
mod every_speck;
mod guarded;
mod known_answers;
mod linear;
mod stack;
mod variants;
mod zeroing;
