//! The official side of the benchmark: one tool of one string in the style of the official generator.
//!
//! `pdk` has the shape of its output. The servlet implements `call` and `describe` as authors do:
//! arguments from a JSON map, descriptions from `json!`.

mod greet;
mod pdk;

pub(crate) use greet::{call, describe};
