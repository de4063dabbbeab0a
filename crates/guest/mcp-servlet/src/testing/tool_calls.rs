//! Calls of tools of other servers: those of a servlet, and those that a file has recorded.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_caller::Value;
use mcp_servlet_json::{ObjectWriter, RawJson, from_str, to_string};
use serde::{Deserialize, Serialize};

/// A call of a tool of another server, from [`Client::calls`](super::Client::calls).
///
/// It is equal to a pair of the name and the arguments, which may be `json!({…})` or a struct:
///
/// ```
/// use serde_json::json;
///
/// mcp_servlet::export!(static SERVLET = { calls: ["users:*"] });
///
/// # fn main() -> Result<(), mcp_servlet::ToolsError> {
/// let client = SERVLET.client().with_tool("users:name", |_| Ok("Ada"));
/// let _: String = client.context().tools().call("users:name", json!({ "id": 7, "short": true }))?;
/// assert_eq!(client.calls(), [("users:name", json!({ "short": true, "id": 7 }))]);
/// assert_eq!(client.calls()[0].arguments.get(), r#"{"id":7,"short":true}"#);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// `MEMBER:TOOL`
    pub name: String,
    /// The arguments.
    pub arguments: RawJson,
}

impl<N: AsRef<str>, A: Serialize> PartialEq<(N, A)> for ToolCall {
    fn eq(&self, (name, arguments): &(N, A)) -> bool {
        let arguments = to_string(arguments).expect("the arguments cannot be written as JSON");
        self.name == name.as_ref() && is_same(self.arguments.get(), &arguments)
    }
}

/// Whether two JSON texts have the same value. The order of members does not count.
fn is_same(one: &str, other: &str) -> bool {
    let value = |text| from_str::<Value>(text).ok();
    value(one).is_some_and(|one| Some(one) == value(other))
}

/// The calls in a file.
pub(super) struct RecordedCalls {
    path: PathBuf,
    calls: Vec<RecordedCall>,
}

/// A call of a tool by its name, or a read of a resource of a member.
#[derive(Deserialize)]
struct RecordedCall {
    name: Option<String>,
    #[serde(default = "RawJson::object")]
    arguments: RawJson,
    member: Option<String>,
    uri: Option<String>,
    result: Option<RawJson>,
    error: Option<RawJson>,
}

impl RecordedCall {
    /// `MEMBER:URI`, if it reads a resource.
    fn resource(&self) -> Option<String> {
        Some(format!("{}:{}", self.member.as_ref()?, self.uri.as_ref()?))
    }

    /// The answer of the host, as JSON.
    fn answer(&self) -> String {
        let mut answer = ObjectWriter::new();
        for (member, value) in [("result", &self.result), ("error", &self.error)] {
            if let Some(value) = value {
                answer.json(member, value.get());
            }
        }
        answer.finish()
    }
}

impl RecordedCalls {
    /// # Panics
    ///
    /// If the file cannot be read, or has no calls in it.
    #[track_caller]
    pub(super) fn read(path: &Path) -> Self {
        let shown = path.display();
        let text = fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("cannot read the recorded calls in {shown}: {error}"));
        let calls: Vec<RecordedCall> = from_str(&text).unwrap_or_else(|error| {
            let pointer = error.pointer(&text);
            panic!("{shown} is no list of recorded calls: {error} in `{pointer}`")
        });
        for (index, call) in calls.iter().enumerate() {
            assert!(
                call.result.is_some() != call.error.is_some(),
                "{shown}: expected `result` or `error` in the call `/{index}`"
            );
            assert!(
                call.name.is_some() != call.resource().is_some(),
                "{shown}: expected `name`, or `member` and `uri`, in the call `/{index}`"
            );
        }
        let path = path.to_owned();
        Self { path, calls }
    }

    /// The tools that were called.
    pub(super) fn names(&self) -> BTreeSet<&str> {
        let names = self.calls.iter();
        names.filter_map(|call| call.name.as_deref()).collect()
    }

    /// The resources that were read, and the answers of the host. The first read of a resource counts.
    pub(super) fn resources(&self) -> impl Iterator<Item = (String, String)> {
        let reads = self.calls.iter().rev();
        reads.filter_map(|call| Some((call.resource()?, call.answer())))
    }

    /// The answer of the host to this call, as JSON.
    ///
    /// # Panics
    ///
    /// If there is no such call.
    pub(super) fn answer(&self, tool: &str, arguments: &RawJson) -> String {
        let recorded = self.calls.iter().find(|call| {
            call.name.as_deref() == Some(tool) && is_same(call.arguments.get(), arguments.get())
        });
        let Some(call) = recorded else {
            let path = self.path.display();
            panic!(
                "the test has no call of `{tool}` with {arguments}; the recorded ones are in {path}"
            )
        };
        call.answer()
    }
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn values_are_the_same_in_any_order_of_their_members() {
        assert!(is_same(
            r#"{"a": 1, "b": [true]}"#,
            r#"{"b":[true],"a":1.0}"#
        ));
        assert!(!is_same(r#"{"a": [1, 2]}"#, r#"{"a": [2, 1]}"#));
        assert!(!is_same(r#"{"a": 1}"#, r#"{"a": 1, "b": null}"#));
        assert!(!is_same("", ""));
    }
}
