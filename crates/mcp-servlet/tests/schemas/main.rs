//! What a servlet says of itself: the schemas of its tools' arguments and results.
#![allow(dead_code, reason = "the types are described, not used")]
#![allow(clippy::needless_pass_by_value, reason = "tools own their arguments")]
#![allow(clippy::unnecessary_wraps, reason = "tools return what they are to describe")]

#[macro_use]
mod probe;

mod arguments;
mod enums;
mod round_trip;
mod servlets;
mod strict;
mod structs;
