//! From a bundle and a context to the files of a project.

use mcp_servlet_runtime::{LoadOptions, Plugin};
use serde_json::Value;
use xtp_bundle::{Bundle, Entry};

use super::Error;

/// The export that renders one file.
const RENDER: &str = "render";

/// Gives each file with the bundle's suffix to its plugin; all others stay what they are.
///
/// One instance renders all files. The plugin sees the bytes of a file as its input and `context` as the configuration
/// key `ctx`; it can reach neither files nor the network.
///
/// # Errors
///
/// If the plugin does not load, or does not render a file.
pub(crate) fn render(bundle: &Bundle, context: &Value) -> Result<Vec<Entry>, Error> {
    let options = LoadOptions {
        config: [("ctx".to_owned(), context.to_string())].into(),
        // A template is rendered by people at their desks, who can stop it.
        timeout: None,
        memory: None,
        compile: None,
        ..LoadOptions::default()
    };
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

/// The path without the suffix, if it has it and something else before it.
fn rendered_path<'a>(path: &'a str, suffix: &str) -> Option<&'a str> {
    let path = path.strip_suffix(suffix)?;
    (!path.is_empty() && !path.ends_with('/')).then_some(path)
}
