//! Results that ask the client.

use crate::JsonObject;

/// The `resultType` of a result that asks the client.
pub const INPUT_REQUIRED: &str = "input_required";

/// Whether a result asks the client and is not the final one.
pub fn asks_client(result: &JsonObject) -> bool {
    let kind = result.get("resultType");
    kind.is_some_and(|kind| kind == INPUT_REQUIRED)
}
