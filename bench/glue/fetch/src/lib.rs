//! Fetches pages for a model to read. HTML becomes Markdown; other text stays unchanged.

#[path = "../../../official/src/pdk.rs"]
mod pdk;

use encoding_rs::{Encoding, UTF_8};
use extism_pdk::{http, Error, HttpRequest, HttpResponse};
use htmd::HtmlToMarkdown;
use pdk::types::{CallToolRequest, CallToolResult, Content, ListToolsResult, ToolDescription};
use serde::Deserialize;
use serde_json::{json, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    url: String,
    #[serde(default = "default_length")]
    max_length: usize,
    #[serde(default)]
    start_index: usize,
    #[serde(default)]
    raw: bool,
}

fn default_length() -> usize {
    5000
}

pub(crate) fn call(input: CallToolRequest) -> Result<CallToolResult, Error> {
    let mut arguments = input.params.arguments.unwrap_or_default();
    arguments.retain(|_, value| !value.is_null());
    let arguments = Value::Object(arguments);
    let result = match input.params.name.as_str() {
        "fetch" => fetch(arguments),
        name => return Err(Error::msg(format!("unknown tool `{name}`"))),
    };
    let (text, is_error) = match result {
        Ok(text) => (text, None),
        Err(error) => (format!("{error:#}"), Some(true)),
    };
    Ok(CallToolResult {
        content: vec![Content {
            text: Some(text),
            ..Content::default()
        }],
        is_error,
    })
}

pub(crate) fn describe() -> Result<ListToolsResult, Error> {
    Ok(ListToolsResult {
        tools: vec![ToolDescription {
            name: "fetch".to_owned(),
            description: "Fetches a URL. HTML is converted to Markdown, other text is unchanged. Text longer than `max_length` comes in parts.".to_owned(),
            input_schema: serde_json::from_value(json!({
                "type": "object",
                "properties": {
                    "url": {
                        "type": "string",
                        "description": "the URL, with http:// or https://",
                        "examples": ["https://example.com/"],
                    },
                    "max_length": {
                        "type": "integer",
                        "description": "how many characters to return at most",
                        "minimum": 1,
                        "maximum": u32::MAX,
                        "default": 5000,
                    },
                    "start_index": {
                        "type": "integer",
                        "description": "how many characters to skip, to go on where another part ended",
                        "minimum": 0,
                        "maximum": u32::MAX,
                        "default": 0,
                    },
                    "raw": {
                        "type": "boolean",
                        "description": "whether to return HTML unchanged",
                        "default": false,
                    },
                },
                "required": ["url"],
            }))?,
        }],
    })
}

fn fetch(arguments: Value) -> Result<String, Error> {
    let arguments: Arguments = serde_path_to_error::deserialize(arguments)?;
    if arguments.max_length == 0 {
        return Err(Error::msg("max_length: must be at least 1"));
    }
    let url = arguments.url;
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(Error::msg(format!(
            "`{url}` does not begin with http:// or https://"
        )));
    }
    let request = HttpRequest::new(url).with_header("accept", "text/*, */*;q=0.5");
    let response = http::request::<()>(&request, None)?;
    let status = response.status_code();
    if !(200..300).contains(&status) {
        let body = response.body();
        let answer: String = String::from_utf8_lossy(&body).chars().take(200).collect();
        return Err(Error::msg(format!(
            "the server answered with status {status}: {answer}"
        )));
    }
    let text = read(&response, arguments.raw)?;
    part(&text, arguments.start_index, arguments.max_length)
}

/// The text of a response, according to its `Content-Type`.
fn read(response: &HttpResponse, raw: bool) -> Result<String, Error> {
    let header = response.header("content-type").unwrap_or("text/plain");
    let header = header.to_ascii_lowercase();
    let media_type = header.split(';').next().unwrap_or_default().trim();
    let is_html = ["text/html", "application/xhtml+xml"].contains(&media_type);
    let ends = ["json", "xml", "javascript", "yaml"];
    if !media_type.starts_with("text/") && !ends.iter().any(|end| media_type.ends_with(end)) {
        return Err(Error::msg(format!(
            "the body is `{media_type}`, which is not text"
        )));
    }
    let text = decode(&response.body(), &header);
    if !is_html || raw {
        return Ok(text);
    }
    let skip = vec!["head", "script", "style", "noscript", "template", "svg"];
    let markdown = HtmlToMarkdown::builder().skip_tags(skip).build();
    Ok(markdown.convert(&text)?)
}

/// Decodes with the charset of the header, or else with the charset that the page itself names.
fn decode(body: &[u8], header: &str) -> String {
    let beginning = String::from_utf8_lossy(&body[..body.len().min(1024)]);
    let label = [header, &beginning]
        .into_iter()
        .find_map(|text| text.split("charset=").nth(1))
        .and_then(|rest| {
            rest.split(['"', '\'', ';', '>', ' '])
                .find(|word| !word.is_empty())
        })
        .unwrap_or_default();
    let encoding = Encoding::for_label(label.as_bytes()).unwrap_or(UTF_8);
    encoding.decode(body).0.into_owned()
}

/// At most `length` characters from `start` on, and a note about where the next part starts.
fn part(text: &str, start: usize, length: usize) -> Result<String, Error> {
    let total = text.chars().count();
    if start > 0 && start >= total {
        let message = format!("there are only {total} characters, so nothing begins at {start}");
        return Err(Error::msg(message));
    }
    let part: String = text.chars().skip(start).take(length).collect();
    let end = start + length;
    if end >= total {
        return Ok(part);
    }
    Ok(format!(
        "{part}\n\n[{end} of {total} characters: go on with `start_index` {end}]"
    ))
}
