#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| oracles::hl7v2::check(input));
