//! What a service warns about, as text.

use mcp_servlet_host::UnmetNeeds;
use mcp_servlet_server::{Severity, Warning};

use crate::{
    failure::indented,
    terminal::{note, one_line},
};

/// Prints a warning of a service.
pub(crate) fn warn(warning: &Warning) {
    let message = &warning.message;
    if warning.severity == Severity::Note {
        tracing::info!("{message}");
        return;
    }
    if let Some(unmet) = &warning.unmet {
        return warn_of_needs(unmet);
    }
    note(format_args!("warning: {}", indented(message, "  ")));
    if let Some(help) = &warning.help {
        note(format_args!("  help: {}", indented(help, "        ")));
    }
}

/// Warns about needs that are not met, and says what meets them.
pub(crate) fn warn_of_needs(unmet: &UnmetNeeds) {
    let warning = format!("warning: {unmet}");
    note(format_args!("{}", one_line(&warning)));
    // No option replaces a placeholder.
    if let Some(help) = unmet.help() {
        let help = format!("  help: {help}");
        note(format_args!("{}", one_line(&help)));
    }
}
