//! Input requests (elicitation, sampling, roots) by the host functions of hyper-mcp.
//!
//! These functions return the client's answer, but this host does not wait for it. If there is no
//! answer yet, the function stops the call, and the call ends with an `input_required` result. When
//! the client retries with the answer, the servlet runs again from its beginning, and the function
//! returns.

use mcp_servlet_call::JsonObject;
use serde_json::{Value, json};
use wasmtime::{Caller, Linker, Result};

use super::{json::object, result};
use crate::{
    inspect::{
        USER,
        imports::{CREATE_ELICITATION, CREATE_MESSAGE, LIST_ROOTS},
    },
    state::State,
};

/// The host functions and the MCP requests that they send.
const FUNCTIONS: [(&str, &str); 3] = [
    (CREATE_ELICITATION, ELICITATION),
    (CREATE_MESSAGE, "sampling/createMessage"),
    (LIST_ROOTS, ROOTS),
];

const ELICITATION: &str = "elicitation/create";

/// `roots/list` has no parameters.
const ROOTS: &str = "roots/list";

/// The maximum size of the parameters of a request in bytes. Requests for sampling can have images.
const PARAMS: u64 = 8 << 20;

pub(super) fn link(linker: &mut Linker<State>) -> Result<()> {
    for (name, method) in FUNCTIONS {
        if method == ROOTS {
            linker.func_wrap(USER, name, move |mut caller: Caller<'_, State>| {
                ask(&mut caller, name, json!({ "method": method }))
            })?;
            continue;
        }
        linker.func_wrap(USER, name, move |mut caller: Caller<'_, State>, at: i64| {
            let params = as_in_mcp(method, object(&mut caller, name, at, PARAMS)?);
            ask(
                &mut caller,
                name,
                json!({ "method": method, "params": params }),
            )
        })?;
    }
    Ok(())
}

fn ask(caller: &mut Caller<'_, State>, name: &str, request: Value) -> Result<i64> {
    let answer = caller
        .data_mut()
        .call
        .input_requests
        .answer(name, request)?;
    result(caller, answer.to_string().as_bytes())
}

/// Converts parameters to MCP: removes hyper-mcp's time limit, since clients have their own, and
/// renames a format.
fn as_in_mcp(method: &str, mut params: JsonObject) -> JsonObject {
    if method != ELICITATION {
        return params;
    }
    params.shift_remove("timeout");
    let schema = params.get_mut("requestedSchema");
    let properties = schema.and_then(|schema| schema.get_mut("properties"));
    for property in properties
        .and_then(Value::as_object_mut)
        .into_iter()
        .flat_map(JsonObject::values_mut)
    {
        if property["format"] == "date_time" {
            property["format"] = "date-time".into();
        }
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_go_out_as_mcp_has_them() {
        let form = json!({ "mode": "form", "message": "format", "timeout": 30, "requestedSchema": {
            "type": "object",
            "properties": { "at": { "type": "string", "format": "date_time" }, "format": { "title": "date_time" } },
        }});
        let params = as_in_mcp(
            ELICITATION,
            serde_json::from_value(form).expect("an object"),
        );
        let expected = json!({ "mode": "form", "message": "format", "requestedSchema": {
            "type": "object",
            "properties": { "at": { "type": "string", "format": "date-time" }, "format": { "title": "date_time" } },
        }});
        assert_eq!(Value::Object(params), expected);
    }
}
