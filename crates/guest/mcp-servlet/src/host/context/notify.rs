//! Notifications to clients while a tool is running.

use mcp_servlet_json::{ObjectWriter, write_u64};

use super::Context;
use crate::host::level::Level;

impl Context {
    /// Sends the client a progress notification: `done` of `total`, both in a unit of your choice.
    ///
    /// Clients only get it if their request has a progress token; then `done` must grow with each
    /// notification. An empty `message` and a `total` of `None` are left out. The host must provide
    /// hyper-mcp's `notify_progress`, as this project's host does; otherwise the servlet does not load.
    ///
    /// ```
    /// use mcp_servlet::prelude::*;
    ///
    /// /// Reads many pages.
    /// #[tool]
    /// fn read(context: &Context, pages: u8) -> u8 {
    ///     for page in 0..pages {
    ///         context.progress(page.into(), Some(pages.into()), "reading");
    ///     }
    ///     pages
    /// }
    /// ```
    pub fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        let Some(token) = self.meta_value("progressToken") else {
            return;
        };
        let mut json = ObjectWriter::new();
        json.json("progressToken", token.get());
        write_u64(json.key("progress"), done);
        if let Some(total) = total {
            write_u64(json.key("total"), total);
        }
        if !message.is_empty() {
            json.string("message", message);
        }
        self.host.notify_progress(json.finish());
    }

    /// Sends a line to the client's log; [`log`](Self::log) writes to the host's.
    ///
    /// Clients set the level from which on they get lines. The host must provide hyper-mcp's
    /// `notify_logging_message`, as this project's host does; otherwise the servlet does not load.
    pub fn log_to_client(&self, level: Level, text: &str) {
        let mut json = ObjectWriter::new();
        json.string("level", level.name());
        json.string("data", text);
        self.host.notify_logging_message(json.finish());
    }

    /// Tells the host that the resources have changed which a `list` function of
    /// [`#[resource_template]`](macro@crate::resource_template) returns.
    ///
    /// The host reads the list after the call, and notifies all clients. The host must provide hyper-mcp's
    /// `notify_resource_list_changed`, as this project's host does; otherwise the servlet does not load. Calls of a servlet that
    /// uses this share instances by default; operators can set `isolation = "call"`.
    pub fn resource_list_changed(&self) {
        self.host.notify_resource_list_changed();
    }
}
