//! An option for the linker that makes the memory of the `servlet` command smaller.

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    compress_relocations();
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
