//! Any text is a schema, or is told why not: `cargo fuzz run schema` in `crates/xtp-codegen`.

#![no_main]

mod survive;

libfuzzer_sys::fuzz_target!(|text: &str| survive::survive(text));
