//! Turns the environment variable `MCP_SERVLET_ABI` into a `cfg` of this crate.
//!
//! The ABI is not a cargo feature: features are additive, and a module has one ABI. It is not in rustflags either: the
//! variable `RUSTFLAGS` replaces the rustflags in a project's cargo configuration.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=MCP_SERVLET_ABI");
    println!("cargo::rustc-check-cfg=cfg(mcp_servlet_abi, values(\"hyper-mcp-v2\"))");
    let abi = env::var_os("MCP_SERVLET_ABI").unwrap_or_default();
    match &*abi.to_string_lossy() {
        "" | "servlet" => {}
        abi @ "hyper-mcp-v2" => println!("cargo::rustc-cfg=mcp_servlet_abi=\"{abi}\""),
        abi => println!(
            "cargo::error=unknown ABI `{abi}` in MCP_SERVLET_ABI: expected `servlet` or `hyper-mcp-v2`"
        ),
    }
}
