#![allow(deprecated)]
use std::error::Error;

use mcp_servlet::prelude::*;

#[tool]
fn read(text: String) -> Result<u8, Box<dyn Error + Send + Sync>> {
    Ok(text.parse()?)
}

mcp_servlet::export!(static SERVLET = { tools: [read] });
fn main() {}
