//! Notifications that a client gets while a tool runs.

use mcp_servlet::prelude::*;

/// Writes three lines to the client's log.
#[tool(read_only)]
pub(crate) fn test_tool_with_logging(context: &Context) -> &'static str {
    for line in ["The tool has begun.", "The tool works.", "The tool ends."] {
        context.log_to_client(Level::Info, line);
    }
    "There are three lines in the log."
}

/// Writes to the client's log, if the request asks for that.
#[tool(read_only)]
pub(crate) fn test_logging_tool(context: &Context) -> &'static str {
    context.log_to_client(Level::Info, "A log message.");
    "The message was sent if the request asked for logs."
}

/// Reports progress at the beginning, in the middle and at the end.
#[tool(read_only)]
pub(crate) fn test_tool_with_progress(context: &Context) -> &'static str {
    for done in [0, 50, 100] {
        context.progress(done, Some(100), "counting to 100");
    }
    "It has counted to 100."
}

/// Answers at once, however often the connection breaks.
#[tool(read_only)]
pub(crate) fn test_reconnection() -> &'static str {
    "Still here."
}
