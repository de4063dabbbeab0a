//! The audit log: what it says about a request. Nothing here writes a file.
//!
//! What clients and servlets choose, such as names and arguments, is cut to a length, and JSON escapes line breaks. So a request cannot
//! write a line of its own.
//!
//! See `docs/decisions/0078-audit-log.md`.

mod arguments;

use std::path::PathBuf;

use serde::Serialize;

use crate::caller::Caller;
pub use arguments::{ArgumentsAs, DigestKey, MaskPath};

/// The longest line, in bytes.
const MAX_LINE: usize = 8 << 10;
/// The longest text that a client chooses, except arguments, in bytes.
const MAX_TEXT: usize = 256;

/// The content of the audit log, and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditOptions {
    /// Where the lines go.
    pub to: AuditTarget,
    /// The size in bytes at which a file is renamed. None for never.
    pub rotate: Option<u64>,
    /// How many renamed files are kept.
    pub keep: u32,
    /// What happens while lines cannot be written.
    pub full: WhenFull,
    /// How arguments appear in it.
    pub arguments: ArgumentsAs,
    /// Whether it has requests for lists.
    pub lists: bool,
}

/// Where the lines of the audit log go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditTarget {
    /// The end of a file.
    File(PathBuf),
    /// Standard error.
    Stderr,
}

/// What happens while the audit log cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// New calls are refused.
    #[default]
    Refuse,
    /// Calls run, and their lines are counted as lost.
    Drop,
}

/// The subject of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A call of a tool has ended.
    Call,
    /// A resource was read.
    Read,
    /// A prompt was fetched.
    Prompt,
    /// A client read completions.
    Complete,
    /// A virtual tool or a servlet has called a tool or read a resource for a request.
    Inner,
    /// A client read a list.
    List,
    /// A session was opened, or has ended.
    Session,
    /// Rules or scopes denied a call, a read or a prompt.
    Denied,
    /// The caller was not accepted.
    Refused,
    /// A client sent plain HTTP where the server expects TLS.
    PlainHttp,
    /// A quota was used up.
    Quota,
    /// The configuration was loaded again.
    Reload,
    /// The process has started.
    Start,
    /// The process ends.
    Stop,
    /// Lines could not be written.
    Lost,
}

/// One line. Members without a value are left out.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    v: u8,
    /// The time, in UTC.
    pub time: String,
    /// The number of the line in its process. A missing number is a lost line.
    pub number: u64,
    /// What tells apart the processes that write to one log.
    pub process: String,
    /// What it is about.
    pub event: Event,
    /// The fields of the event.
    #[serde(flatten)]
    pub fields: Fields,
}

/// The fields of a line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Fields {
    /// The name of the endpoint in the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The address of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// Who called, if the endpoint knows its callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<CallerFields>,
    /// The first digits of the SHA-256 digest of the session's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The method of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'static str>,
    /// The name of the tool or prompt, or the URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the client called, fetched or read, if a virtual tool or a servlet calls for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outer: Option<String>,
    /// The step of the virtual tool that called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The number of the item, if the step runs for each item of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The tool of a search through which the client called, or the servlet that called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// The servlet, remote or bundle that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// How many calls of other tools it made.
    #[serde(skip_serializing_if = "is_zero")]
    pub steps: u64,
    /// The decision of the rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    /// The rule that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
    /// The status of the HTTP response, if the request was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// The bytes of the arguments.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// The bytes of the result.
    #[serde(rename = "out", skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// The fuel, if it was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
    /// The arguments, or their digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The id of the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// How many calls were still running at the end, and have no line.
    #[serde(skip_serializing_if = "is_zero")]
    pub running: u64,
    /// How many lines could not be written.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost: u64,
}

/// Who called.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallerFields {
    kind: &'static str,
    auth: String,
    subject: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl AuditTarget {
    /// The path, or `stderr`.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Stderr => "stderr".to_owned(),
        }
    }
}

impl CallerFields {
    /// A caller in the log: no claims, scopes or credentials.
    pub fn of(caller: &Caller) -> Self {
        Self {
            kind: caller.kind.name(),
            auth: caller.auth.clone(),
            subject: shortened(&caller.subject),
            issuer: caller.issuer.as_deref().map(shortened),
            client: caller.client.as_deref().map(shortened),
        }
    }
}

impl Line {
    /// A line about an event.
    pub fn new((process, number): (String, u64), time: String, event: Event, of: Fields) -> Self {
        Self {
            v: 1,
            time,
            number,
            process,
            event,
            fields: of,
        }
    }

    /// The line as JSON, with the line break. Arguments are cut until it is short enough.
    pub fn to_json(mut self) -> String {
        loop {
            let mut json = serde_json::to_string(&self).unwrap_or_default();
            if json.len() < MAX_LINE || self.fields.arguments.is_none() {
                json.push('\n');
                return json;
            }
            let half = |text: String| arguments::cut(&text, text.len() / 2);
            let shorter = self.fields.arguments.take().map(half);
            self.fields.arguments = shorter.filter(|text| text.len() > arguments::CUT.len());
        }
    }
}

/// A text that a client chose, as far as the log shows it.
pub fn shortened(text: &str) -> String {
    arguments::cut(text, MAX_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(fields: Fields) -> String {
        let process = ("a1".to_owned(), 7);
        Line::new(process, "now".to_owned(), Event::Call, fields).to_json()
    }

    #[test]
    fn a_line_has_what_is_known() {
        let fields = Fields {
            name: Some("t".to_owned()),
            outcome: Some("ok"),
            input: Some(2),
            ..Fields::default()
        };
        let expected = r#"{"v":1,"time":"now","number":7,"process":"a1","event":"call","name":"t","outcome":"ok","in":2}"#;
        assert_eq!(line(fields), format!("{expected}\n"));
    }

    #[test]
    fn a_request_cannot_write_a_line_of_its_own() {
        let forged = "t\"}\n{\"v\":1,\"event\":\"stop\"}\r\u{2028}\u{0}";
        let fields = Fields {
            name: Some(shortened(forged)),
            arguments: Some(forged.to_owned()),
            ..Fields::default()
        };
        let line = line(fields);
        assert_eq!(line.lines().count(), 1, "{line}");
        let read: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(
            (&read["event"], &read["name"]),
            (&"call".into(), &forged.into())
        );
    }

    #[test]
    fn a_line_has_an_end() {
        let long = "\u{1}".repeat(4096);
        let fields = Fields {
            name: Some(shortened(&long)),
            reason: Some(shortened(&long)),
            arguments: Some(long),
            ..Fields::default()
        };
        let line = line(fields);
        assert!(line.len() <= MAX_LINE, "{}", line.len());
        let read: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let arguments = read["arguments"].as_str().expect("text");
        assert!(arguments.ends_with('…') && arguments.len() > 200);
    }
}
