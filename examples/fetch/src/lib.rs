//! Fetches pages for a model to read: HTML as Markdown, other text as it is.

use encoding_rs::{Encoding, UTF_8};
use htmd::HtmlToMarkdown;
use mcp_servlet::prelude::*;
use mcp_servlet::{HttpRequest, HttpResponse};

/// Fetches an address. HTML comes as Markdown, other text as it is; what is longer than `max_length` comes in parts.
#[tool(title = "Fetch", read_only, open_world)]
fn fetch(
    context: &Context,
    /// where to look, with http:// or https://
    #[arg(example = "https://example.com/")]
    url: String,
    /// how many characters to return at most
    #[arg(default = 5000, min = 1, max = 1_000_000)]
    max_length: usize,
    /// how many characters to skip, to go on where another part ended
    #[arg(default = 0)]
    start_index: usize,
    /// whether HTML comes as it is, too
    #[arg(default = false)]
    raw: bool,
) -> Result<String, ToolError> {
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(ToolError::new(format!(
            "`{url}` does not begin with http:// or https://"
        )));
    }
    let request = HttpRequest::get(url).with_header("accept", "text/*, */*;q=0.5");
    let response = context.http(&request)?.success()?;
    part(&read(&response, raw)?, start_index, max_length)
}

/// The text of a response, by the media type that it says it has.
fn read(response: &HttpResponse, raw: bool) -> Result<String, ToolError> {
    let header = response.header("content-type").unwrap_or("text/plain");
    let header = header.to_ascii_lowercase();
    let media_type = header.split(';').next().unwrap_or_default().trim();
    let is_html = ["text/html", "application/xhtml+xml"].contains(&media_type);
    let is_text = ["text/", "json", "xml", "javascript", "yaml"]
        .iter()
        .any(|word| media_type.contains(word));
    if !is_text {
        return Err(ToolError::new(format!(
            "this address has `{media_type}`, which is no text: look for one with HTML, text, JSON or XML"
        )));
    }
    let text = decode(&response.body, &header);
    if !is_html || raw {
        return Ok(text);
    }
    let skip = vec!["head", "script", "style", "noscript", "template", "svg"];
    let markdown = HtmlToMarkdown::builder().skip_tags(skip).build();
    Ok(markdown.convert(&text)?)
}

/// Decodes by the charset of the header, or by what the page says of itself near its beginning.
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

/// So many characters from there on, and where the next ones begin.
fn part(text: &str, start: usize, length: usize) -> Result<String, ToolError> {
    let total = text.chars().count();
    if start > 0 && start >= total {
        let message = format!("there are only {total} characters, so nothing begins at {start}");
        return Err(ToolError::new(message));
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

mcp_servlet::export!(static SERVLET = { tools: [fetch] });

#[cfg(test)]
mod tests;
