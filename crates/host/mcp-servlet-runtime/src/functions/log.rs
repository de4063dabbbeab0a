//! Sends log lines of servlets to `tracing`, with the servlet's name.

use extism::{CurrentPlugin, Error, Function, PTR, UserData, Val};
use tracing::Level;

use crate::inspect::{EXTISM, Module};

const FUNCTIONS: [(&str, Level); 5] = [
    ("log_trace", Level::TRACE),
    ("log_debug", Level::DEBUG),
    ("log_info", Level::INFO),
    ("log_warn", Level::WARN),
    ("log_error", Level::ERROR),
];

/// Replacements for the log functions of Extism that `module` imports.
///
/// Extism's own functions would log the name of the instance instead of the servlet's.
pub(crate) fn functions(servlet: &str, module: &Module) -> Vec<Function> {
    let chosen = FUNCTIONS
        .into_iter()
        .filter(|(name, _)| module.imports_extism(name));
    chosen
        .map(|(name, level)| function(servlet.to_owned(), name, level))
        .collect()
}

fn function(servlet: String, name: &str, level: Level) -> Function {
    let write =
        move |plugin: &mut CurrentPlugin, inputs: &[Val], _: &mut [Val], _: UserData<()>| {
            let handle = match inputs {
                // Extism's kernel has no block for an empty string.
                [Val::I64(0)] => {
                    event(level, &servlet, "");
                    return Ok(());
                }
                [at] => plugin.memory_from_val(at),
                _ => None,
            };
            let Some(handle) = handle else {
                return Err(Error::msg("log message is not in memory"));
            };
            if level <= tracing::level_filters::LevelFilter::current() {
                let text = String::from_utf8_lossy(plugin.memory_bytes(handle)?);
                event(level, &servlet, &text);
            }
            plugin.memory_free(handle)
        };
    Function::new(name, [PTR], [], UserData::default(), write).with_namespace(EXTISM)
}

/// Logs one event. `tracing` needs the level at compile time.
fn event(level: Level, servlet: &str, text: &str) {
    match level {
        Level::TRACE => tracing::trace!(target: "servlet", servlet, "{text}"),
        Level::DEBUG => tracing::debug!(target: "servlet", servlet, "{text}"),
        Level::INFO => tracing::info!(target: "servlet", servlet, "{text}"),
        Level::WARN => tracing::warn!(target: "servlet", servlet, "{text}"),
        Level::ERROR => tracing::error!(target: "servlet", servlet, "{text}"),
    }
}
