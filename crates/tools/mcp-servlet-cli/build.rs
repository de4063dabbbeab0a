//! Options for the linker that make the `servlet` command and its memory smaller.

use std::{env, error::Error, fs, path::Path, process::Command};

/// The functions that a start needs, in the order of their first calls. `./x bench order` writes it.
const ORDER: &str = "start-order.txt";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    compress_relocations();
    if uses_default_linker() {
        println!("cargo::rerun-if-changed={ORDER}");
        order_functions()?;
        if has_lld() {
            merge_functions();
        }
    }
    Ok(())
}

/// Compresses the relocations of the binary from 1.6 MB to 19 KB (`DT_RELR`), which saves four megabytes of memory at
/// startup.
///
/// Only glibc 2.36 and later can load such a binary. So the linker option is used only when a host with that glibc
/// builds for itself.
fn compress_relocations() {
    let is_for_this_system = env::var("TARGET") == env::var("HOST");
    let has_glibc = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    if is_for_this_system && has_glibc && glibc_version() >= Some((2, 36)) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

fn glibc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let output = String::from_utf8(output.ok()?.stdout).ok()?;
    let (major, minor) = output.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Whether this is an optimised build with Rust's own linker and flags. Other linkers may not know the script.
fn uses_default_linker() -> bool {
    let is = |name, value: &str| env::var(name).is_ok_and(|found| found == value);
    is("PROFILE", "release")
        && is("TARGET", "x86_64-unknown-linux-gnu")
        && is("CARGO_ENCODED_RUSTFLAGS", "")
        && env::var_os("RUSTC_LINKER").is_none()
}

/// Puts the functions that a start needs next to each other. The system maps code in pieces of 64 KiB, so scattered
/// functions pull in code that is not used: 14 MB instead of 3.
///
/// A name that the program does not have is ignored.
fn order_functions() -> Result<(), Box<dyn Error>> {
    let names = fs::read_to_string(ORDER)?;
    let sections = names
        .lines()
        .map(|name| format!("*(.text.{name} .text.unlikely.{name})"));
    let sections = sections.collect::<Vec<_>>().join("\n");
    let script = format!("SECTIONS {{ .text.start : {{\n{sections}\n}} }} INSERT BEFORE .text;\n");
    let path = Path::new(&env::var("OUT_DIR")?).join("order.ld");
    fs::write(&path, script)?;
    println!(
        "cargo::rustc-link-arg-bin=servlet=-Wl,-T,{}",
        path.display()
    );
    Ok(())
}

/// Whether this compiler came with LLD, which it then uses on this system. A compiler of a Linux distribution may use another linker.
fn has_lld() -> bool {
    let Some(rustc) = env::var_os("RUSTC") else {
        return false;
    };
    let output = Command::new(rustc).args(["--print", "sysroot"]).output();
    output.is_ok_and(|output| {
        let sysroot = String::from_utf8_lossy(&output.stdout);
        let programs = "lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld";
        Path::new(sysroot.trim()).join(programs).exists()
    })
}

/// Keeps one of several functions with the same machine code, which makes the command 1.5 % smaller.
///
/// They then have the same address. Rust does not promise different ones. Other linkers do not know the option.
fn merge_functions() {
    println!("cargo::rustc-link-arg-bin=servlet=-Wl,--icf=all");
}
