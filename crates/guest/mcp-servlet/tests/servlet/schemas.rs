//! The description of a servlet: the schemas of its tools' arguments and results.
#![allow(deprecated, reason = "tools that only tests call have no descriptions")]
#![allow(dead_code, reason = "the types are described, not used")]
#![allow(clippy::unwrap_used, reason = "a test fails so")]
#![allow(clippy::too_many_lines, reason = "most of them are schemas")]
#![allow(
    clippy::too_many_arguments,
    reason = "one servlet with many is faster to compile than many"
)]
#![allow(
    clippy::boxed_local,
    clippy::needless_pass_by_value,
    clippy::option_option,
    reason = "tools own their arguments, whatever they are"
)]
#![allow(
    clippy::unnecessary_wraps,
    reason = "tools return what they are to describe"
)]

#[macro_use]
mod probe;

mod arguments;
mod closed;
mod defaults;
mod enums;
mod long;
mod round_trip;
mod servlets;
mod strict;
mod structs;
