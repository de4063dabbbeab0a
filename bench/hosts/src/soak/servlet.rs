//! The calls of the servlet.

use serde_json::json;

use super::clients::Call;
use super::expected::Expected::{Fault, Success, ToolError};

/// One of this many requests runs a loop, which uses processor time until its timeout.
const LOOP_EVERY: usize = 3000;
/// Takes weeks on any machine.
const ENDLESS: u64 = 1 << 52;

/// Small and large calls, computation, invalid arguments, an unknown tool, and now and then an endless loop.
pub(super) fn next<'a>(turn: usize) -> Call<'a> {
    let greet = |name: &str, expected| Call::new("greet", &json!({ "name": name }), expected);
    let spin = |rounds, expected| Call::new("spin", &json!({ "rounds": rounds }), expected);
    if turn.is_multiple_of(LOOP_EVERY) {
        return spin(ENDLESS, Fault);
    }
    match turn % 6 {
        0 => greet(&"a".repeat(65_536), Success("a!".to_owned())),
        1 => spin(100_000, Success(String::new())),
        2 => Call::new("greet", &json!({}), ToolError),
        3 => Call::new("no_such_tool", &json!({}), Fault),
        _ => greet("Ada Lovelace", Success("Ada Lovelace!".to_owned())),
    }
}
