//! The wasm export.

use extism_pdk::{FnResult, config, plugin_fn};

/// Input: a template. Configuration key `ctx`: the context. Output: the rendered text.
#[plugin_fn]
pub fn render(template: Vec<u8>) -> FnResult<String> {
    let context = config::get("ctx")?.ok_or(crate::Error::NoContext)?;
    Ok(crate::render(&template, &context)?)
}
