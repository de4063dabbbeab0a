//! Renders a bundle into the files of a project.

use mcp_servlet_runtime::{LoadOptions, Plugin};
use serde_json::Value;
use xtp_bundle::{Bundle, Entry};

use super::Error;

/// The export that renders one file.
const RENDER: &str = "render";

/// Renders each file with the bundle's suffix by its plugin. All other files are copied unchanged.
///
/// One instance renders all files. Its input is the content of a file, and `context` is the
/// configuration key `ctx`. The plugin cannot access files or the network.
///
/// # Errors
///
/// If the plugin cannot be loaded, or fails to render a file.
pub(crate) fn render(bundle: &Bundle, context: &Value) -> Result<Vec<Entry>, Error> {
    let mut options = LoadOptions::default();
    options.config = [("ctx".to_owned(), context.to_string())].into();
    // The user can stop a template that does not end.
    options.timeout = None;
    options.memory = None;
    options.compile = None;
    let mut plugin = Plugin::load("plugin.wasm", bundle.plugin.clone(), &options, Vec::new())?;
    let suffix = format!(".{}", bundle.config.template_suffix);
    let mut entries = Vec::new();
    for entry in &bundle.entries {
        let (Some(path), Some(template)) = (rendered_path(&entry.path, &suffix), &entry.contents)
        else {
            entries.push(entry.clone());
            continue;
        };
        let text = plugin
            .call(RENDER, template)
            .map_err(|message| Error::Render {
                file: entry.path.clone(),
                message,
            })?;
        if text.is_empty() && bundle.config.skip_empty_files {
            continue;
        }
        entries.push(Entry {
            path: path.to_owned(),
            contents: Some(text),
            is_executable: entry.is_executable,
        });
    }
    entries.sort();
    Ok(entries)
}

/// The path without the suffix. None if it lacks the suffix, or if nothing precedes it.
fn rendered_path<'a>(path: &'a str, suffix: &str) -> Option<&'a str> {
    let path = path.strip_suffix(suffix)?;
    (!path.is_empty() && !path.ends_with('/')).then_some(path)
}
