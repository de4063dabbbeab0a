//! Turns the environment variable `MCP_SERVLET_ABI` into a `cfg` of this crate, and links the one function that Rust
//! cannot express.
//!
//! The ABI is not a cargo feature: features are additive, and a module has one ABI. It is not in rustflags either: the
//! variable `RUSTFLAGS` replaces the rustflags in a project's cargo configuration.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=MCP_SERVLET_ABI");
    println!(
        "cargo::rustc-check-cfg=cfg(mcp_servlet_abi, values(\"hyper-mcp-v2\", \"servlet-strict\"))"
    );
    println!("cargo::rustc-check-cfg=cfg(mcp_servlet_no_tools)");
    let abi = env::var_os("MCP_SERVLET_ABI").unwrap_or_default();
    match &*abi.to_string_lossy() {
        "" | "servlet" => {}
        abi @ ("hyper-mcp-v2" | "servlet-strict") => {
            println!("cargo::rustc-cfg=mcp_servlet_abi=\"{abi}\"");
        }
        abi => println!(
            "cargo::error=unknown ABI `{abi}` in MCP_SERVLET_ABI: expected `servlet`, `servlet-strict` or `hyper-mcp-v2`"
        ),
    }
    // Only the host of the default ABI calls tools. Native tests always use that ABI.
    let is_wasm = env::var_os("CARGO_CFG_TARGET_FAMILY").is_some_and(|family| family == "wasm");
    let is_for_other_hosts = !(abi.is_empty() || abi == "servlet");
    if is_wasm && (is_for_other_hosts || env::var_os("CARGO_FEATURE_NO_TOOLS").is_some()) {
        println!("cargo::rustc-cfg=mcp_servlet_no_tools");
    }
    if env::var_os("CARGO_CFG_TARGET_ARCH").is_some_and(|arch| arch == "wasm32") {
        link_stack();
    }
}

/// An object file with `mcp_servlet_set_stack_pointer`, as a compiler writes it for
///
/// ```text
/// local.get 0
/// global.set __stack_pointer
/// ```
///
/// Rust has no stable way to set the stack pointer of wasm, and assembling this would need a C compiler. The format is
/// the one of the tool conventions for linking: <https://github.com/WebAssembly/tool-conventions/blob/main/Linking.md>.
const STACK_OBJECT: &[&[u8]] = &[
    b"\0asm\x01\0\0\0",
    // Type 0 has one parameter, an i32.
    b"\x01\x05\x01\x60\x01\x7f\0",
    // Global 0 is imported: a mutable i32.
    b"\x02\x18\x01\x03env\x0f__stack_pointer\x03\x7f\x01",
    // Function 0 has type 0.
    b"\x03\x02\x01\0",
    // Its code; the index of the global has the length of every relocation.
    b"\x0a\x0c\x01\x0a\0\x20\0\x24\x80\x80\x80\x80\0\x0b",
    // The symbol table: the function, hidden, and the global, undefined.
    b"\0\x30\x07linking\x02\x08\x25\x02",
    b"\0\x04\0\x1dmcp_servlet_set_stack_pointer",
    b"\x02\x10\0",
    // The relocation: at byte 6 of section 3, the code, is the index of the global of symbol 1.
    b"\0\x10\x0areloc.CODE\x03\x01\x07\x06\x01",
];

/// Links the object file. Cargo only passes archives on to the crates that depend on this one.
fn link_stack() {
    const NAME: &str = "mcp_servlet_stack";
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it for build scripts"));
    let object = STACK_OBJECT.concat();
    // The name of the member, its time, owner, group, mode and size.
    let header = format!(
        "!<arch>\nstack.o/        0           0     0     644     {:<10}`\n",
        object.len()
    );
    let mut archive = [header.as_bytes(), &object].concat();
    // Members begin at even offsets.
    archive.resize(archive.len().next_multiple_of(2), b'\n');
    fs::write(folder.join(format!("lib{NAME}.a")), archive).expect("the folder is writable");
    println!("cargo::rustc-link-search=native={}", folder.display());
    println!("cargo::rustc-link-lib=static={NAME}");
}
