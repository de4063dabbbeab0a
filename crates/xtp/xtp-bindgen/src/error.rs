//! Why a file could not be rendered.

use xtp_codegen::Diagnostics;

/// Why a file could not be rendered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The driver set no context.
    #[cfg(target_family = "wasm")]
    #[error(
        "the configuration key `ctx` is not set: it holds project, schema and feature flags as JSON"
    )]
    NoContext,
    /// The context does not follow the contract of bundles.
    #[error("the configuration key `ctx` is not a context: {0}")]
    Context(#[source] serde_json::Error),
    /// The template is not UTF-8.
    #[error("the template is not UTF-8")]
    TemplateEncoding,
    /// The schema has problems.
    #[error("{}", listed(.0))]
    Schema(Diagnostics),
    /// The template is invalid.
    #[error("{}", with_causes(.0))]
    Template(#[from] minijinja::Error),
}

/// Problems are named by JSON pointer: the schema arrives as one line, so a column would not help.
fn listed(problems: &Diagnostics) -> String {
    let lines = problems.shown().map(|problem| {
        let (at, severity, code) = (&problem.pointer, problem.severity, problem.code);
        let (message, help) = (&problem.message, &problem.help);
        format!("\n  {at}: {severity}[{code}]: {message}\n    help: {help}")
    });
    let more = problems.more().map(|more| format!("\n  {more}"));
    let lines: String = lines.chain(more).collect();
    format!("the schema has problems:{lines}")
}

fn with_causes(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_causes(cause)),
        None => error.to_string(),
    }
}
