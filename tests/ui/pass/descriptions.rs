//! What has a description, needs none, or is allowed to have none, is no warning.
#![deny(warnings)]
#![allow(dead_code)]

use mcp_servlet::prelude::*;

/// The size of a thing.
#[derive(Deserialize, Schema)]
struct Size {
    width: u8,
}

#[tool(description = "")]
fn nothing() {}

#[tool(description = concat!("Says ", "it."))]
fn said(#[arg(description = "")] twice: bool, size: Size, list: Option<Size>) {
    let _ = (twice, size, list);
}

/// Takes a whole struct, whose fields speak for themselves.
#[tool]
fn whole(#[arg(flatten)] size: Size, context: &Context) {
    let _ = (size, context);
}

#[tool]
#[allow(deprecated)]
fn allowed(number: u8, #[arg(default = std::process::id())] id: u32) {
    let _ = (number, id);
}

#[allow(deprecated)]
mod old {
    #[mcp_servlet::tool]
    pub fn tool(number: u8) {
        let _ = number;
    }
}

mcp_servlet::export!(static SERVLET = { tools: [nothing, said, whole, allowed, old::tool] });

fn main() {}
