//! Servlets that could call each other in a circle: two such calls could wait for each other's instances.

use std::{collections::BTreeSet, fmt};

use mcp_servlet_host::Servlet;

/// A servlet that may call another one.
pub(crate) struct Edge {
    pub(crate) from: String,
    pub(crate) to: String,
    /// The line of the grant, if it is in a file.
    pub(crate) line: Option<usize>,
}

impl Edge {
    /// Why a servlet may not call another one, next to these calls.
    pub(crate) fn problem(&self, others: &[Self]) -> Option<String> {
        if self.from == self.to {
            let from = &self.from;
            return Some(format!(
                "servlet `{from}` cannot call its own tools: call the function"
            ));
        }
        let path = path(others, &self.to, &self.from, &mut BTreeSet::new())?;
        let calls: Vec<_> = path
            .into_iter()
            .chain([self])
            .map(Self::to_string)
            .collect();
        Some(format!(
            "servlets could call each other for ever: {}",
            calls.join(", ")
        ))
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` may call `{}`", self.from, self.to)?;
        match self.line {
            Some(line) => write!(f, " (line {line})"),
            None => Ok(()),
        }
    }
}

/// The calls by which one servlet can reach another one.
fn path<'e>(
    edges: &'e [Edge],
    from: &'e str,
    to: &str,
    seen: &mut BTreeSet<&'e str>,
) -> Option<Vec<&'e Edge>> {
    seen.insert(from);
    for edge in edges.iter().filter(|edge| edge.from == from) {
        if edge.to == to {
            return Some(vec![edge]);
        }
        if !seen.contains(&*edge.to)
            && let Some(mut rest) = path(edges, &edge.to, to, seen)
        {
            rest.insert(0, edge);
            return Some(rest);
        }
    }
    None
}

/// Why servlets that were loaded without a configuration must not run together: their options let them call each other in a circle.
pub fn circle_of_calls<'s>(servlets: impl Iterator<Item = &'s Servlet>) -> Option<String> {
    let callers: Vec<_> = servlets.filter(|one| one.module().calls_tools()).collect();
    let mut edges: Vec<Edge> = Vec::new();
    for from in &callers {
        for grant in from.options().grants() {
            let is_caller = callers.iter().any(|one| one.name() == grant.member());
            // All servlets have the same grants, so one of them may be meant for another servlet.
            let is_own = grant.member() == from.name() && callers.len() > 1;
            if !is_caller || is_own {
                continue;
            }
            let edge = Edge {
                from: from.name().to_owned(),
                to: grant.member().to_owned(),
                line: None,
            };
            if let Some(problem) = edge.problem(&edges) {
                return Some(problem);
            }
            edges.push(edge);
        }
    }
    None
}
