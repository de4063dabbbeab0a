//! The keys of a bundle.

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::{table::Table, units::ShortTime};

/// Any table.
type Values = BTreeMap<String, serde_json::Value>;

/// Virtual tools. They call tools of servlets with mapped arguments, results and errors.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub(in crate::config) struct BundleSection {
    /// The tools, by the names that clients see.
    #[schemars(with = "BTreeMap<String, ToolSection>")]
    tool: BTreeMap<String, Table<ToolSection>>,
}

/// A virtual tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { handler = \"weather:get_weather\" }"
)]
#[expect(
    dead_code,
    reason = "checks keys and types, and makes the JSON Schema; the values keep their order elsewhere"
)]
pub(in crate::config) struct ToolSection {
    /// The tool that it calls: the name of a servlet, `:`, and the servlet's own name for the tool.
    handler: String,
    /// The description. Default: the handler's.
    description: Option<String>,
    /// The title for people. Default: the handler's.
    title: Option<String>,
    /// The annotations, such as `{ readOnlyHint = true }`. Default: those of the handler.
    annotations: Option<Values>,
    /// The JSON Schema of its arguments: a table, or the path of a file. Default: made from the
    /// handler's schema.
    arguments: Option<SchemaOrPath>,
    /// All arguments of the handler. Strings may contain expressions: `${{ request.arguments.city }}`.
    inputs: Option<Values>,
    /// Some arguments of the handler. The others are those of the call.
    set: Option<Values>,
    /// The JSON Schema of the structured content: a table, or the path of a file. Default: that of
    /// the handler, if `result` is not set.
    output: Option<SchemaOrPath>,
    /// The result. Strings may contain expressions: `${{ result.summary }}`. Default: that of the
    /// handler.
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    result: Option<Values>,
    /// Errors for failures of the handler. The first entry that applies is used.
    #[serde(default)]
    #[schemars(with = "Vec<CatchSection>")]
    catches: Vec<Table<CatchSection>>,
    /// How long a call may take, if that is less than the handler may take.
    timeout: Option<ShortTime>,
}

impl ToolSection {
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout.map(|timeout| timeout.0)
    }
}

/// A JSON Schema, or the path of a file with one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a JSON Schema as a table, or the path of a file"
)]
#[expect(dead_code, reason = "checks the type")]
enum SchemaOrPath {
    Path(String),
    Schema(Values),
}

/// An error for some failures of the handler.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { code = \"TIMEOUT\", error = { code = -32001 } }"
)]
#[expect(dead_code, reason = "checks keys and types")]
struct CatchSection {
    /// The code of the failure: a name such as `TIMEOUT`, or a JSON-RPC number.
    code: Option<NameOrNumber>,
    /// The kind of the failure, such as `timeout`.
    kind: Option<String>,
    /// A condition: one expression, such as `${{ error.data.retry < 60 }}`.
    when: Option<String>,
    /// The error for the client.
    #[schemars(with = "ErrorSection")]
    error: Table<ErrorSection>,
}

/// The name of a failure, or its JSON-RPC number.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a name such as \"TIMEOUT\", or a JSON-RPC number"
)]
#[expect(dead_code, reason = "checks the type")]
enum NameOrNumber {
    Number(i64),
    Name(String),
}

/// A JSON-RPC error.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { code = -32001, message = \"try later\" }"
)]
#[expect(dead_code, reason = "checks keys and types")]
struct ErrorSection {
    /// The JSON-RPC code: -32000 to -32019, or below -32768, or -31999 to -1.
    code: i64,
    /// The message. Default: the failure's.
    message: Option<String>,
    /// Details for programs.
    data: Option<serde_json::Value>,
}
