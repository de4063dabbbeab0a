//! What each host makes of each feature: the one table, behind findings and documentation alike.

mod table;

use mcp_servlet_host::FeatureKind;
use mcp_servlet_runtime::Abi;

use super::{finding::Level, target::Target};
pub(super) use table::THEMES;

/// Something that servlets can have, say or do.
pub(super) struct Feature {
    /// What documents call it, in the plural or without a number: it follows "clients see no".
    name: &'static str,
    /// How it is told from the module, and what else its author can do; for nothing that only shows in calls.
    pub(super) seen: Option<(Sign, &'static str)>,
    /// What comes of it, by [`COLUMNS`].
    shown: [Shown; 4],
}

/// By what a servlet is known to have a feature.
pub(super) enum Sign {
    /// This member of an item in a list.
    Member(FeatureKind, &'static str),
    /// This member beside the items of a list.
    Answer(&'static str),
    /// An export.
    Export(&'static str),
    /// A function of [`USER`](mcp_servlet_runtime::USER) that it imports.
    Import(&'static str),
}

/// What comes of a feature in a host.
#[derive(Clone, Copy)]
pub(super) enum Shown {
    /// It reaches the client.
    Yes,
    /// It does, with a difference.
    But(&'static str),
    /// It does not.
    No,
    /// It does not, and why.
    Not(&'static str),
}

/// Hosts, each with the interface by which it talks to the servlet.
const COLUMNS: [&str; 4] = ["mcp.run", "hyper-mcp v1", "hyper-mcp v2", "mcp-servlet"];

impl Feature {
    /// What comes of it in a host, for a servlet of that interface.
    fn shown(&self, host: Target, interface: Abi) -> Shown {
        self.shown[match (host, interface) {
            (Target::McpRun, _) => 0,
            (Target::HyperMcp, Abi::Servlet) => 1,
            (Target::HyperMcp, Abi::HyperMcpV2) => 2,
            (Target::McpServlet, _) => 3,
        }]
    }

    /// What clients miss of it in a host.
    pub(super) fn loss(&self, host: Target, interface: Abi) -> Option<(Level, String)> {
        let name = self.name;
        match self.shown(host, interface) {
            Shown::Yes => None,
            Shown::But(how) => Some((Level::Note, format!("clients see {name} {how}"))),
            Shown::No => Some((Level::Warning, format!("clients see no {name}"))),
            Shown::Not(why) => Some((Level::Warning, format!("clients see no {name}: {why}"))),
        }
    }
}

/// What each host shows of each feature, as a table in Markdown.
pub fn table() -> String {
    let head = [row("", COLUMNS), row("---", ["---"; 4])];
    let themes = THEMES.iter().flat_map(|(theme, features)| {
        let rows = features.iter();
        let rows = rows.map(|feature| row(feature.name, feature.shown.map(Shown::cell)));
        std::iter::once(row(&format!("**{theme}**"), [""; 4])).chain(rows)
    });
    head.into_iter().chain(themes).collect()
}

fn row<S: std::borrow::Borrow<str>>(name: &str, cells: [S; 4]) -> String {
    format!("| {name} | {} |\n", cells.join(" | "))
}

impl Shown {
    fn cell(self) -> String {
        match self {
            Self::Yes => "yes".to_owned(),
            Self::But(how) => how.to_owned(),
            Self::No => "no".to_owned(),
            Self::Not(why) => format!("no: {why}"),
        }
    }
}
