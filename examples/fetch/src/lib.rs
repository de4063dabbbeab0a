//! Fetches pages for a model: HTML is converted to Markdown, other text is returned unchanged.

use htmd::HtmlToMarkdown;
use mcp_servlet::HttpRequest;
use mcp_servlet::prelude::*;

/// Fetches a URL. HTML is converted to Markdown, other text is unchanged. Text longer than `max_length` comes in parts.
#[tool(title = "Fetch", read_only, open_world, parts = 5000)]
fn fetch(
    context: &Context,
    /// the URL, with http:// or https://
    #[arg(example = "https://example.com/")]
    url: String,
    /// whether to return HTML unchanged
    #[arg(default = false)]
    raw: bool,
) -> Result<String, ToolError> {
    let request = HttpRequest::get(url).with_header("accept", "text/*, */*;q=0.5");
    let page = context.http(&request)?.success()?;
    let text = page.decode()?;
    let html = ["text/html", "application/xhtml+xml"].map(Some);
    if raw || !html.contains(&page.media_type().as_deref()) {
        return Ok(text);
    }
    let skip = vec!["head", "script", "style", "noscript", "template", "svg"];
    let markdown = HtmlToMarkdown::builder().skip_tags(skip).build();
    Ok(markdown.convert(&text)?)
}

mcp_servlet::export!(static SERVLET = { tools: [fetch] });

#[cfg(test)]
mod tests;
