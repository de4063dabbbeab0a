//! Which tools of a servlet or remote appear, and how.

use mcp_servlet_host::{Filter, Prefix};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { only = [\"get_*\"] }"
)]
pub(super) struct Tools {
    /// Patterns of the tools that clients see, with `*` and `?`. Default: all tools.
    only: Vec<String>,
    /// Patterns of tools to leave out.
    except: Vec<String>,
    /// The prefix of the names of its tools and prompts: `auto`, `never`, `name` for the servlet's name, or another prefix.
    prefix: Option<String>,
}

impl Tools {
    /// The prefix that the section describes.
    pub(super) fn prefix(&self) -> Prefix {
        match self.prefix.as_deref() {
            None | Some("auto") => Prefix::Auto,
            Some("never") => Prefix::Never,
            Some("name") => Prefix::Name(None),
            Some(prefix) => Prefix::Name(Some(prefix.to_owned())),
        }
    }

    /// The filter that the section describes.
    pub(super) fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        filter.only.clone_from(&self.only);
        filter.except.clone_from(&self.except);
        filter
    }
}
