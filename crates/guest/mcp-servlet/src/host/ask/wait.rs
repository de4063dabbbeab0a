//! Requests to hosts that have a function for each and wait for the client: hyper-mcp.
//!
//! Such a host cannot return an error. It reports a failure as a response of a shape that no client sends.

use mcp_servlet_json::{from_str, write_raw};

use super::InputRequest;
use crate::answer::error::ToolError;
use crate::json::member;

/// How often a request is repeated if its response is invalid; the same as in this project's host.
const MAX_REPEATS: usize = 16;

/// Sends the request with `put`, which takes the parameters of MCP's request and returns its result.
pub(super) fn send<Q: InputRequest>(
    request: &Q,
    put: impl Fn(&str) -> String,
) -> Result<Q::Response, ToolError> {
    let json = request.request();
    for _ in 0..MAX_REPEATS {
        let response = put(member(&json, "params"));
        if let Some(problem) = problem(&response) {
            return Err(no_response(request.key(), &problem));
        }
        if let Some(read) = request.read(&response) {
            return Ok(read);
        }
    }
    Err(no_response(request.key(), "no response was valid"))
}

/// Why there is no response. No client sends `error` in the content to decline.
fn problem(response: &str) -> Option<String> {
    let content = member(response, "content");
    let text = if member(response, "action") == "\"decline\"" {
        member(content, "error")
    } else if member(response, "stopReason") == "\"error\"" {
        member(content, "text")
    } else {
        return None;
    };
    from_str(text).ok()
}

#[cold]
fn no_response(key: &str, problem: &str) -> ToolError {
    let mut message = String::from("the input request `");
    for part in [key, "` failed: ", problem] {
        write_raw(&mut message, part);
    }
    ToolError::new(message)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::{Elicited, elicit, roots, sample};
    use super::*;
    use crate::schema::{Node, Property, Schema};

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Name {
        name: String,
    }

    impl Schema for Name {
        const NODE: &'static Node = &Node::object(&[Property::new::<String>("name", "")]);
    }

    #[test]
    fn parameters_go_out_and_the_result_is_the_response() {
        let name = elicit::<Name>("name", "Who?");
        let put = |params: &str| {
            assert!(params.starts_with(r#"{"mode":"form","message":"Who?","requestedSchema":{"#));
            r#"{"action":"accept","content":{"name":"Ada"}}"#.to_owned()
        };
        let answered = send(&name, put).unwrap();
        let name_given = "Ada".to_owned();
        assert_eq!(answered, Elicited::Accepted(Name { name: name_given }));
        for (response, expected) in [
            (r#"{"action":"decline"}"#, Elicited::Declined),
            (r#"{"action":"decline","content":{}}"#, Elicited::Declined),
            (r#"{"action":"cancel"}"#, Elicited::Cancelled),
        ] {
            assert_eq!(send(&name, |_| response.to_owned()).unwrap(), expected);
        }
    }

    #[test]
    fn a_failure_that_the_host_reports_is_an_error() {
        let declined = r#"{"action":"decline","content":{"error":"no peer"}}"#;
        let error = send(&elicit::<Name>("name", "Who?"), |_| declined.to_owned()).unwrap_err();
        let expected = "the input request `name` failed: no peer";
        assert_eq!(error.message(), expected);
        let stopped = r#"{"role":"assistant","content":{"type":"text","text":"too busy"},"model":"","stopReason":"error"}"#;
        let error = send(&sample("poem", "Write."), |_| stopped.to_owned()).unwrap_err();
        let expected = "the input request `poem` failed: too busy";
        assert_eq!(error.message(), expected);
    }

    #[test]
    fn invalid_response_is_requested_again_a_limited_number_of_times() {
        let sent = Cell::new(0);
        let put = |params: &str| {
            assert_eq!(params, "");
            sent.set(sent.get() + 1);
            let uri = if sent.get() < 3 { "1" } else { "\"file:///a\"" };
            format!(r#"{{"roots":[{{"uri":{uri}}}]}}"#)
        };
        let answered = send(&roots("roots"), put).unwrap();
        assert_eq!((answered[0].uri.as_str(), sent.get()), ("file:///a", 3));
        let error = send(&roots("roots"), |_| String::new()).unwrap_err();
        assert!(error.message().ends_with("no response was valid"));
    }
}
