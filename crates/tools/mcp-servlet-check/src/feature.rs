//! What each host does with each feature: one table, used for findings and for the documentation.

mod table;

use mcp_servlet_host::FeatureKind;
use mcp_servlet_runtime::{Abi, ContentFeature};

use super::{finding::Level, target::Target};
pub(super) use table::THEMES;

/// A feature of servlets: something that they can list, return or do.
pub(super) struct Feature {
    /// The name in the documentation, in the plural or uncountable: it follows "clients see no".
    name: &'static str,
    /// How the module shows the feature, and what its author can do instead. `None` if only calls show it.
    pub(super) seen: Option<(Sign, &'static str)>,
    /// Whether each host supports it, in the order of [`COLUMNS`].
    shown: [Shown; 4],
}

/// How to detect that a servlet has a feature.
pub(super) enum Sign {
    /// This member of an item in a list.
    Member(FeatureKind, &'static str),
    /// This member next to the items of a list.
    Answer(&'static str),
    /// A list that is not empty.
    Listed(FeatureKind),
    /// An export.
    Export(&'static str),
    /// A request for input from the client.
    InputRequest,
    /// Content that has these features, and not those; unless the ABI lowers content.
    Content(&'static [ContentFeature], &'static [ContentFeature]),
    /// More than one tool.
    SeveralTools,
    /// This function of [`USER`](mcp_servlet_runtime::USER) among the imports.
    Import(&'static str),
}

/// Whether a host supports a feature.
#[derive(Clone, Copy)]
pub(super) enum Shown {
    /// The client gets it.
    Yes,
    /// The client gets it with this difference.
    But(&'static str),
    /// The client does not get it.
    No,
    /// The client does not get it, for this reason.
    Not(&'static str),
}

/// The hosts, each with the ABI that it uses for the servlet.
const COLUMNS: [&str; 4] = ["mcp.run", "hyper-mcp v1", "hyper-mcp v2", "mcp-servlet"];

impl Feature {
    /// Whether a host supports the feature, for a servlet with this ABI.
    fn shown(&self, host: Target, abi: Abi) -> Shown {
        self.shown[match (host, abi) {
            (Target::McpRun, _) => 0,
            (Target::HyperMcp, Abi::Servlet) => 1,
            (Target::HyperMcp, Abi::HyperMcpV2) => 2,
            (Target::McpServlet, _) => 3,
        }]
    }

    /// What clients of a host miss of the feature.
    pub(super) fn loss(&self, host: Target, abi: Abi) -> Option<(Level, String)> {
        let name = self.name;
        match self.shown(host, abi) {
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
        let rows = features
            .iter()
            .map(|feature| row(feature.name, feature.shown.map(Shown::cell)));
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
