//! Prepares tools and resources of other servers, and returns the calls.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use mcp_servlet_json::{ObjectWriter, RawJson, write_i64};
use mcp_servlet_types::{CallToolResult, ReadResourceResult, ResourceContents};
use serde::Serialize;

use super::Client;
use super::prepare::json;
use crate::answer::tool_result::ToolResult;
use crate::host::context::ToolAnswer;
use crate::host::context::tools::{ToolsError, ToolsErrorKind};
use crate::testing::tool_calls::{RecordedCalls, ToolCall};

impl Client {
    /// A client with a tool of another server, `MEMBER:TOOL`, whose results have structured content; see
    /// [`Context::tools`](crate::Context::tools).
    ///
    /// The function gets the arguments. A call of any other tool ends the test.
    ///
    /// ```
    /// use mcp_servlet::prelude::*;
    /// use serde_json::{Value, json};
    ///
    /// /// Tells the price of two nights.
    /// #[tool]
    /// fn price(context: &Context) -> Result<u32, ToolError> {
    ///     #[derive(Serialize)]
    ///     struct Stay {
    ///         nights: u32,
    ///     }
    ///     #[derive(Deserialize)]
    ///     struct Price {
    ///         euros: u32,
    ///     }
    ///     let price: Price = context.tools().call("stay:price", Stay { nights: 2 })?;
    ///     Ok(price.euros)
    /// }
    ///
    /// mcp_servlet::export!(static SERVLET = { tools: [price], calls: ["stay:price"] });
    ///
    /// # fn main() -> Result<(), Fault> {
    /// let client = SERVLET.client().with_tool("stay:price", |arguments| {
    ///     let arguments: Value = serde_json::from_str(arguments.get()).unwrap();
    ///     Ok(json!({ "euros": arguments["nights"].as_u64().unwrap() * 80 }))
    /// });
    /// assert_eq!(client.call("price", json!({}))?.text(), "160");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_tool<T: Serialize>(
        &self,
        tool: &str,
        mut answer: impl FnMut(RawJson) -> Result<T, ToolsError> + 'static,
    ) -> Self {
        self.with_answer(tool, move |arguments| {
            answer(arguments).map(|value| ToolResult::structured("", &json(&value), "").into_json())
        })
    }

    /// A client with a tool of another server, `MEMBER:TOOL`, that returns whole results, such as images.
    ///
    /// ```
    /// use mcp_servlet::prelude::*;
    /// use mcp_servlet::testing::types::CallToolResult;
    /// use serde_json::json;
    ///
    /// /// Counts the blocks of a page.
    /// #[tool]
    /// fn blocks(context: &Context) -> Result<usize, ToolError> {
    ///     Ok(context.tools().call_raw("web:page", ())?.content.len())
    /// }
    ///
    /// mcp_servlet::export!(static SERVLET = { tools: [blocks], calls: ["web:page"] });
    ///
    /// # fn main() -> Result<(), Fault> {
    /// let page = CallToolResult::new(vec![Content::text("a map"), Content::image(b"GIF89a", "image/gif")]);
    /// let client = SERVLET.client().with_tool_result("web:page", move |_| Ok(page.clone()));
    /// assert_eq!(client.call("blocks", json!({}))?.text(), "2");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_tool_result(
        &self,
        tool: &str,
        mut answer: impl FnMut(RawJson) -> Result<CallToolResult, ToolsError> + 'static,
    ) -> Self {
        self.with_answer(tool, move |arguments| {
            answer(arguments).map(|result| json(&result))
        })
    }

    /// A client with the tools of other servers that a file has recorded, as `servlet call --record FILE` writes it.
    ///
    /// The file is a JSON list of `{"name", "arguments", "result"}`, and of `{"member", "uri", "result"}` for resources; or
    /// with `error`, which has `kind` and `message`, instead of `result`. The first entry with the name and the same
    /// arguments answers a call. A relative path begins at the
    /// folder of Cargo.toml.
    ///
    /// ```
    /// use mcp_servlet::prelude::*;
    /// use serde_json::json;
    ///
    /// mcp_servlet::export!(static SERVLET = { calls: ["air:*"] });
    ///
    /// # fn main() -> Result<(), ToolError> {
    /// let client = SERVLET.client().with_recorded_tools("tests/servlet/calls/recorded.json");
    /// let flights: Vec<String> = client.context().tools().call("air:search", json!({ "city": "Rome" }))?;
    /// assert_eq!(flights, ["a1"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If the file cannot be read, or is not such a list.
    #[must_use]
    #[track_caller]
    pub fn with_recorded_tools(&self, path: impl AsRef<Path>) -> Self {
        let recorded = Rc::new(RecordedCalls::read(path.as_ref()));
        self.with(|host| {
            for name in recorded.names() {
                let (calls, tool) = (Rc::clone(&recorded), name.to_owned());
                let answer: ToolAnswer = Rc::new(RefCell::new(move |arguments: RawJson| {
                    calls.answer(&tool, &arguments)
                }));
                host.tools.tools.insert(name.to_owned(), answer);
            }
            host.tools.resources.extend(recorded.resources());
        })
    }

    /// A client with a text resource of another server; see [`Tools::read`](crate::Tools::read).
    ///
    /// Reading any other resource ends the test.
    ///
    /// ```
    /// mcp_servlet::export!(static SERVLET = { reads: ["docs:*"] });
    ///
    /// # fn main() -> Result<(), mcp_servlet::ToolsError> {
    /// let client = SERVLET.client().with_resource("docs", "file:///rules.md", "Be polite.");
    /// let rules = client.context().tools().read("docs", "file:///rules.md")?;
    /// assert_eq!(rules[0].text.as_deref(), Some("Be polite."));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_resource(&self, member: &str, uri: &str, text: &str) -> Self {
        let contents = ResourceContents::text(uri, text);
        let result = json(&ReadResourceResult::new(vec![contents]));
        let name = format!("{member}:{uri}");
        self.with(|host| host.tools.resources.insert(name, answered(Ok(result))))
    }

    /// The calls of tools of other servers so far, including those that failed; see [`ToolCall`].
    pub fn calls(&self) -> Vec<ToolCall> {
        let host = self.context.host.state();
        let calls = host.tools.calls.iter().cloned();
        calls
            .map(|(name, arguments)| ToolCall { name, arguments })
            .collect()
    }

    fn with_answer(
        &self,
        tool: &str,
        mut answer: impl FnMut(RawJson) -> Result<String, ToolsError> + 'static,
    ) -> Self {
        let answer: ToolAnswer =
            Rc::new(RefCell::new(move |arguments| answered(answer(arguments))));
        self.with(|host| host.tools.tools.insert(tool.to_owned(), answer))
    }
}

/// The answer of a host with this result, both as JSON.
fn answered(result: Result<String, ToolsError>) -> String {
    let mut answer = ObjectWriter::new();
    match result {
        Ok(result) => answer.json("result", &result),
        // A tool that fails has a result.
        Err(error) if error.kind() == ToolsErrorKind::Tool => {
            answer.json("result", &ToolResult::error(error.message()).into_json());
        }
        Err(error) => answer.json("error", &error_json(&error)),
    }
    answer.finish()
}

fn error_json(error: &ToolsError) -> String {
    let mut json = ObjectWriter::new();
    json.string("kind", error.kind().name());
    json.string("message", error.message());
    if let Some(code) = error.code() {
        write_i64(json.key("code"), code);
    }
    if let Some(data) = error.data() {
        json.json("data", data.get());
    }
    json.finish()
}
