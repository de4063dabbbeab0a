//! An MCP server over standard input and output with 10,000 tools, each with 1 KB of JSON.

use std::io::{BufRead as _, Write as _, stdin, stdout};

use serde::Deserialize;
use serde_json::{Value, json};

const TOOLS: usize = 10_000;
/// How many tools a page has.
const PAGE: usize = 500;
/// The length of a tool as JSON, in bytes.
const LENGTH: usize = 1024;

#[derive(Deserialize)]
struct Request {
    /// None for a notification.
    id: Option<Value>,
    method: String,
    #[serde(default)]
    params: Value,
}

fn main() -> anyhow::Result<()> {
    let mut output = stdout().lock();
    for line in stdin().lock().lines() {
        let request: Request = serde_json::from_str(&line?)?;
        let Some(id) = &request.id else { continue };
        let mut response = match request.method.as_str() {
            "initialize" => json!({ "result": {
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "tools", "version": "1" },
            } }),
            "tools/list" => json!({ "result": page(&request.params)? }),
            _ => json!({ "error": { "code": -32601, "message": "no such method" } }),
        };
        response["jsonrpc"] = json!("2.0");
        response["id"] = id.clone();
        writeln!(output, "{response}")?;
        output.flush()?;
    }
    Ok(())
}

/// The page at the cursor of a request, which is the number of the first tool.
fn page(params: &Value) -> anyhow::Result<Value> {
    let first = match params["cursor"].as_str() {
        Some(cursor) => cursor.parse()?,
        None => 0,
    };
    let end = TOOLS.min(first + PAGE);
    let tools: Vec<Value> = (first..end).map(tool).collect();
    let mut page = json!({ "tools": tools });
    if end < TOOLS {
        page["nextCursor"] = json!(end.to_string());
    }
    Ok(page)
}

/// A tool with arguments and a result. Its description fills it up to the length.
fn tool(number: usize) -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let mut tool = json!({
        "name": format!("get_forecast_{number:05}"),
        "title": "Weather forecast",
        "description": "",
        "inputSchema": {
            "type": "object",
            "properties": {
                "city": text("the name of the city"),
                "days": { "type": "integer", "minimum": 1, "maximum": 14, "default": 3 },
                "units": { "type": "string", "enum": ["metric", "imperial"] },
            },
            "required": ["city"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "summary": text("the forecast in one sentence"),
                "temperatures": { "type": "array", "items": { "type": "number" } },
            },
            "required": ["summary", "temperatures"],
        },
        "annotations": { "readOnlyHint": true, "openWorldHint": true },
    });
    let sentence = "Returns the weather forecast of a city for the next days. ";
    let room = LENGTH.saturating_sub(tool.to_string().len());
    let description: String = sentence.chars().cycle().take(room).collect();
    tool["description"] = json!(description);
    tool
}
