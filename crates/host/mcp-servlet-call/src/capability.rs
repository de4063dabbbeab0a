//! Which capabilities of the client input requests need.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::RpcError;

/// A capability that the client must declare for an input request, and the mode within it.
type Capability = (&'static str, Option<&'static str>);

fn capability(method: &str, params: &Value) -> Option<Capability> {
    let uses_tools = || !params["tools"].is_null() || !params["toolChoice"].is_null();
    Some(match method {
        "elicitation/create" if params["mode"] == "url" => ("elicitation", Some("url")),
        "elicitation/create" => ("elicitation", Some("form")),
        "sampling/createMessage" if uses_tools() => ("sampling", Some("tools")),
        "sampling/createMessage" => ("sampling", None),
        "roots/list" => ("roots", None),
        _ => return None,
    })
}

fn capability_for(input_request: &Value) -> Option<Capability> {
    capability(input_request["method"].as_str()?, &input_request["params"])
}

/// Whether a client has a capability. `elicitation` without modes means forms, as it did before modes existed.
fn has(declared: &Value, (name, part): Capability) -> bool {
    let whole = &declared[name];
    match part {
        None => !whole.is_null(),
        Some(part) if !whole[part].is_null() => true,
        Some("form") => whole.is_object() && whole["url"].is_null(),
        Some(_) => false,
    }
}

/// Whether this is a request to a client.
pub fn is_input_request(json: &Value) -> bool {
    capability_for(json).is_some()
}

/// Whether a client that has declared these capabilities can answer a request.
pub fn can_answer(declared: &Value, method: &str, params: &Value) -> bool {
    capability(method, params).is_some_and(|needed| has(declared, needed))
}

/// The error if a client has not declared a capability that one of these requests needs.
pub fn missing_capability<'a>(
    declared: &Value,
    input_requests: impl IntoIterator<Item = &'a Value>,
) -> Option<RpcError> {
    let needed: BTreeSet<_> = input_requests
        .into_iter()
        .filter_map(capability_for)
        .filter(|needed| !has(declared, *needed))
        .collect();
    if needed.is_empty() {
        return None;
    }
    let mut missing = json!({});
    let mut names = Vec::new();
    for (name, part) in needed {
        match part {
            // Clients from before modes existed support forms.
            None | Some("form") => {
                missing[name] = json!({});
                names.push(format!("`{name}`"));
            }
            Some(part) => {
                missing[name][part] = json!({});
                names.push(format!("`{name}.{part}`"));
            }
        }
    }
    let message = format!(
        "this needs a client with the capability {}",
        names.join(", ")
    );
    let error = RpcError::new(RpcError::MISSING_CLIENT_CAPABILITY, message);
    Some(error.with_data(json!({ "requiredCapabilities": missing })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_capability_is_not_the_whole() {
        let url = json!({ "mode": "url" });
        let tools = json!({ "tools": [] });
        let requests = [
            ("elicitation/create", json!({ "message": "m" })),
            ("elicitation/create", url),
            ("sampling/createMessage", json!({})),
            ("sampling/createMessage", tools),
        ];
        for (declared, expected) in [
            (json!({}), [false; 4]),
            (json!({ "elicitation": {} }), [true, false, false, false]),
            (
                json!({ "elicitation": { "form": {} } }),
                [true, false, false, false],
            ),
            (
                json!({ "elicitation": { "url": {} } }),
                [false, true, false, false],
            ),
            (
                json!({ "elicitation": { "form": {}, "url": {} } }),
                [true, true, false, false],
            ),
            (json!({ "sampling": {} }), [false, false, true, false]),
            (
                json!({ "sampling": { "tools": {} } }),
                [false, false, true, true],
            ),
        ] {
            let found = requests
                .each_ref()
                .map(|(method, params)| can_answer(&declared, method, params));
            assert_eq!(found, expected, "{declared}");
        }
    }

    #[test]
    fn the_error_names_all_capabilities_that_are_missing() {
        let requests = [
            json!({ "method": "roots/list" }),
            json!({ "method": "elicitation/create", "params": { "mode": "url" } }),
            json!({ "method": "sampling/createMessage", "params": {} }),
        ];
        let declared = json!({ "sampling": {} });
        let error = missing_capability(&declared, &requests).expect("an error");
        let expected = "this needs a client with the capability `elicitation.url`, `roots`";
        assert_eq!(error.message, expected);
        let missing = json!({ "elicitation": { "url": {} }, "roots": {} });
        assert_eq!(error.data, Some(json!({ "requiredCapabilities": missing })));
        assert_eq!(missing_capability(&declared, &requests[2..]), None);
    }
}
