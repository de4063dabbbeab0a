//! Renders a template into the files of a project.

use mcp_servlet_call::Limit;
use mcp_servlet_runtime::{LoadOptions, Plugin};
use serde_json::Value;
use xtp_bindgen::template;
use xtp_bundle::{Bundle, Config, Entry};

use super::Error;

/// The export of a plugin that renders one file.
const RENDER: &str = "render";

/// The template of this command, or of a bundle.
pub(crate) struct Template {
    pub(crate) config: Config,
    entries: Vec<Entry>,
    /// What renders the files of a bundle. Without it, this command does.
    plugin: Option<Vec<u8>>,
}

impl Template {
    pub(crate) fn ours() -> Result<Self, xtp_bundle::Error> {
        let files = template::FILES.iter();
        Ok(Self {
            config: Config::parse(template::CONFIG)?,
            entries: files.map(|(path, text)| Entry::file(path, text)).collect(),
            plugin: None,
        })
    }

    pub(crate) fn of_bundle(bundle: Bundle) -> Self {
        Self {
            config: bundle.config,
            entries: bundle.entries,
            plugin: Some(bundle.plugin),
        }
    }

    /// Renders each file with the template's suffix. All other files are copied unchanged.
    ///
    /// # Errors
    ///
    /// If the plugin cannot be loaded, or a file cannot be rendered.
    pub(crate) fn render(&self, context: &Value) -> Result<Vec<Entry>, Error> {
        let context = context.to_string();
        let Some(plugin) = &self.plugin else {
            return self.render_with(|file| {
                let text = xtp_bindgen::render(file, &context);
                text.map(String::into_bytes)
                    .map_err(|error| error.to_string())
            });
        };
        let mut plugin = load(plugin.clone(), context)?;
        self.render_with(|file| plugin.call(RENDER, file))
    }

    fn render_with(
        &self,
        mut render: impl FnMut(&[u8]) -> Result<Vec<u8>, String>,
    ) -> Result<Vec<Entry>, Error> {
        let suffix = format!(".{}", self.config.template_suffix);
        let mut entries = Vec::new();
        for entry in &self.entries {
            let (Some(path), Some(template)) =
                (rendered_path(&entry.path, &suffix), &entry.contents)
            else {
                entries.push(entry.clone());
                continue;
            };
            let text = render(template).map_err(|message| Error::Render {
                file: entry.path.clone(),
                message,
            })?;
            if text.is_empty() && self.config.skip_empty_files {
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
}

/// Loads the plugin of a bundle, which renders all files in one instance. Its input is the content of a file, and
/// `context` is the configuration key `ctx`. It cannot access files or the network.
fn load(plugin: Vec<u8>, context: String) -> Result<Plugin, Error> {
    let mut options = LoadOptions::default();
    options.config = [("ctx".to_owned(), context)].into();
    // The user can stop a template that does not end.
    options.limits.timeout = Limit::Unlimited;
    options.limits.memory = Limit::Unlimited;
    options.compile = None;
    Ok(Plugin::load("plugin.wasm", plugin, &options, Vec::new())?)
}

/// The path without the suffix. None if it lacks the suffix, or if nothing precedes it.
fn rendered_path<'a>(path: &'a str, suffix: &str) -> Option<&'a str> {
    let path = path.strip_suffix(suffix)?;
    (!path.is_empty() && !path.ends_with('/')).then_some(path)
}
