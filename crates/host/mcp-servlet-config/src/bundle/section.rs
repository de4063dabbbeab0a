//! The keys of a bundle.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{table::Table, units::ShortTime};

/// Any table.
type Values = BTreeMap<String, serde_json::Value>;

/// Virtual tools. They call tools of servlets with mapped arguments, results and errors.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub(crate) struct BundleSection {
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
pub(crate) struct ToolSection {
    /// The tool that it calls: the name of a servlet or remote, `:`, and its own name for the tool. A tool has this or `step`.
    handler: Option<String>,
    /// Several calls, by name. Each begins when the values of the steps that it reads are there.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, StepSection>")]
    step: BTreeMap<String, Table<StepSection>>,
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
    /// The result. Strings may contain expressions: `${{ result.summary }}`, or `${{ steps.NAME.summary }}` in a tool with
    /// steps. Default: that of the handler.
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    result: Option<Values>,
    /// Errors for failures of the handler. The first entry that applies is used.
    #[serde(default)]
    #[schemars(with = "Vec<CatchSection>")]
    catches: Vec<Table<CatchSection>>,
    /// How long a call may take, with all of its steps.
    pub(super) timeout: Option<ShortTime>,
}

impl ToolSection {
    /// The limits of time of the steps.
    pub(super) fn step_timeouts(self) -> BTreeMap<String, ShortTime> {
        let steps = self.step.into_iter();
        steps
            .filter_map(|(name, step)| Some((name, step.timeout?)))
            .collect()
    }
}

/// A call of a tool, or the reading of a resource.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { handler = \"weather:get_weather\" }"
)]
#[expect(
    dead_code,
    reason = "checks keys and types, and makes the JSON Schema; the values keep their order elsewhere"
)]
struct StepSection {
    /// The tool that it calls: `MEMBER:TOOL`. A step has this or `resource`.
    handler: Option<String>,
    /// The resource that it reads: `MEMBER:URI`, or `MEMBER:TEMPLATE` with a URI template such as `rules://{country}`.
    resource: Option<String>,
    /// All arguments of the tool, or the variables of the template. Strings may contain expressions, such as
    /// `${{ request.arguments.city }}` and `${{ steps.search.id }}`.
    inputs: Option<Values>,
    /// A condition: one expression. If it is false, the step does not run.
    when: Option<String>,
    /// A list: one expression. The step runs once for each item, which inputs read as `item` and `index`.
    each: Option<String>,
    /// How many calls of `each` run at once: 1 to 16. Default: 4.
    parallel: Option<i64>,
    /// How long the list of `each` may be: 1 to 200. A longer one is an error. Default: 20.
    most: Option<i64>,
    /// The names of steps that must be over first, although no expression reads them.
    after: Option<Vec<String>>,
    /// Whether a failure becomes the value of the step, instead of that of the tool. Default: false.
    may_fail: Option<bool>,
    /// How long each call may take, if that is less than the handler may take.
    timeout: Option<ShortTime>,
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
