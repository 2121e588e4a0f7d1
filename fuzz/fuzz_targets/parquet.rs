#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::run("parquet", bytes));
