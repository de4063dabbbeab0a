#![allow(deprecated)]
use std::collections::BTreeSet;

use mcp_servlet::prelude::*;

/// Tags.
#[tool]
fn tag(#[arg(min_items = 2)] _tags: BTreeSet<String>) {}

fn main() {}
