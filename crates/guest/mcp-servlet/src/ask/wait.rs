//! Requests to hosts that have a function for each and wait for the client: hyper-mcp.
//!
//! Such a host cannot return an error. It reports a failure as an answer of a shape that no client sends.

use mcp_servlet_json::{from_str, write_raw};

use super::Question;
use crate::error::ToolError;
use crate::json::member;

/// How often a request is repeated if its answer is invalid; the same as in this project's host.
const TIMES: usize = 16;

/// Sends the request with `put`, which takes the parameters of MCP's request and returns its result.
pub(super) fn answer<Q: Question>(
    question: &Q,
    put: impl Fn(&str) -> String,
) -> Result<Q::Answer, ToolError> {
    let request = question.request();
    for _ in 0..TIMES {
        let response = put(member(&request, "params"));
        if let Some(problem) = problem(&response) {
            return Err(unanswered(question.key(), &problem));
        }
        if let Some(answer) = question.read(&response) {
            return Ok(answer);
        }
    }
    Err(unanswered(question.key(), "no answer fits the question"))
}

/// Why there is no answer. No client sends `error` in the content to decline.
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
fn unanswered(key: &str, problem: &str) -> ToolError {
    let mut message = String::from("the client did not answer the question `");
    for part in [key, "`: ", problem] {
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
    fn parameters_go_out_and_the_result_is_the_answer() {
        let name = elicit::<Name>("name", "Who?");
        let put = |params: &str| {
            assert!(params.starts_with(r#"{"mode":"form","message":"Who?","requestedSchema":{"#));
            r#"{"action":"accept","content":{"name":"Ada"}}"#.to_owned()
        };
        let answered = answer(&name, put).unwrap();
        let name_given = "Ada".to_owned();
        assert_eq!(answered, Elicited::Accepted(Name { name: name_given }));
        for (response, expected) in [
            (r#"{"action":"decline"}"#, Elicited::Declined),
            (r#"{"action":"decline","content":{}}"#, Elicited::Declined),
            (r#"{"action":"cancel"}"#, Elicited::Cancelled),
        ] {
            assert_eq!(answer(&name, |_| response.to_owned()).unwrap(), expected);
        }
    }

    #[test]
    fn what_the_host_says_of_a_failure_is_an_error_and_no_answer() {
        let declined = r#"{"action":"decline","content":{"error":"no peer"}}"#;
        let error = answer(&elicit::<Name>("name", "Who?"), |_| declined.to_owned()).unwrap_err();
        let said = "the client did not answer the question `name`: no peer";
        assert_eq!(error.message(), said);
        let stopped = r#"{"role":"assistant","content":{"type":"text","text":"too busy"},"model":"","stopReason":"error"}"#;
        let error = answer(&sample("poem", "Write."), |_| stopped.to_owned()).unwrap_err();
        let said = "the client did not answer the question `poem`: too busy";
        assert_eq!(error.message(), said);
    }

    #[test]
    fn an_answer_that_does_not_fit_is_asked_for_again_but_not_for_ever() {
        let asked = Cell::new(0);
        let put = |params: &str| {
            assert_eq!(params, "");
            asked.set(asked.get() + 1);
            let uri = if asked.get() < 3 {
                "1"
            } else {
                "\"file:///a\""
            };
            format!(r#"{{"roots":[{{"uri":{uri}}}]}}"#)
        };
        let answered = answer(&roots("roots"), put).unwrap();
        assert_eq!((answered[0].uri.as_str(), asked.get()), ("file:///a", 3));
        let error = answer(&roots("roots"), |_| String::new()).unwrap_err();
        assert!(error.message().ends_with("no answer fits the question"));
    }
}
