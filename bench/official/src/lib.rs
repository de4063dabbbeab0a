//! The other side of the benchmark: servlets in the style that the official generator gives.
//!
//! `pdk` has the shape of its output, and each servlet fills in `call` and `describe` as its authors
//! do: arguments dug out of a JSON map, descriptions built by `json!`. A feature chooses the servlet.

#[macro_use]
mod tools;

mod pdk;
#[cfg_attr(feature = "greet", path = "greet.rs")]
#[cfg_attr(feature = "three", path = "three.rs")]
#[cfg_attr(feature = "many", path = "many.rs")]
#[cfg_attr(feature = "structured", path = "structured.rs")]
#[cfg_attr(feature = "float", path = "float.rs")]
mod servlet;

pub(crate) use servlet::{call, describe};
