//! Renders the files of a template for a new XTP plugin.
//!
//! `xtp plugin init` and `servlet new` pass one file after the other, without their names, and each time the same context
//! as JSON: the project, the schema and the feature flags. Files are written in Jinja; the model in `model.rs` is what they
//! may use. `servlet new` links this crate, and a bundle for `xtp plugin init` has it as WebAssembly.

mod context;
mod error;
mod filters;
mod model;
mod names;
#[cfg(target_family = "wasm")]
mod plugin;
pub mod template;

use minijinja::{Environment, UndefinedBehavior, syntax::SyntaxConfig, value::Serde};

use context::Context;
pub use error::Error;
use model::Model;

/// Renders one template for a context in JSON.
///
/// # Errors
///
/// If the context does not follow the contract, the schema has problems, or the template is invalid.
pub fn render(template: &[u8], context: &str) -> Result<String, Error> {
    let template = std::str::from_utf8(template).map_err(|_| Error::TemplateEncoding)?;
    let context = Context::parse(context)?;
    let model = Model::new(&context)?;
    Ok(environment()?.render_str(template, Serde(model))?)
}

fn environment() -> Result<Environment<'static>, minijinja::Error> {
    // A block tag takes its line with it, so that templates look like their output.
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    let mut environment = Environment::new();
    // An unknown name is a mistake in the template, not an empty string.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(syntax);
    environment.add_filter("toml", filters::toml);
    environment.add_filter("doc", filters::doc);
    Ok(environment)
}

#[cfg(test)]
mod tests;
