//! Assembles the kernel.

use std::{env, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=src/engine/kernel.wat");
    let wasm = wat::parse_file("src/engine/kernel.wat").expect("the kernel is a module");
    let directory = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&directory).join("kernel.wasm"), wasm).expect("cargo made the directory");
}
