//! The program that libFuzzer runs: `FUZZ_TARGET` names the reader.

#![no_main]

use std::sync::LazyLock;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET is the name of a target");
    fuzz::target(&name).expect("FUZZ_TARGET is the name of a target")
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| TARGET(bytes));
