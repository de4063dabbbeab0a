//! The official side of the benchmark: servlets in the style of the official generator.
//!
//! `pdk` has the shape of its output. Each servlet implements `call` and `describe` as authors do:
//! arguments from a JSON map, descriptions from `json!`. A feature chooses the servlet.

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
