//! Problems as JSON, for editors.

use serde_json::{Value, json};

use crate::diagnostic::{Diagnostic, Diagnostics};

impl Diagnostics {
    /// The problems as a JSON array, in the order of the source.
    ///
    /// Each is an object with `severity` (`error` or `warning`), `code`, `message`, `help`,
    /// `file`, `pointer` (a JSON Pointer as a URI fragment), and `start` and
    /// `end`, each with `line` and `column` counted from 1 and `offset` in bytes.
    pub fn to_json(&self) -> String {
        let problems: Vec<Value> = self.iter().map(problem).collect();
        format!("{:#}", Value::from(problems))
    }
}

fn problem(problem: &Diagnostic) -> Value {
    let span = problem.span;
    let (line, column) = problem.origin.end_of(span);
    json!({
        "severity": problem.severity.to_string(),
        "code": problem.code.as_str(),
        "message": problem.message,
        "help": problem.help,
        "file": problem.origin.to_string(),
        "pointer": problem.pointer,
        "start": { "line": span.line, "column": span.column, "offset": span.offset },
        "end": { "line": line, "column": column, "offset": span.offset + span.len },
    })
}
