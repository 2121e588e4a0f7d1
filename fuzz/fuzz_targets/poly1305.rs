#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::run("poly1305", bytes));
