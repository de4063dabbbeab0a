//! Servlets that could call each other in a circle: two such calls could wait for each other's instances.

use std::{collections::BTreeSet, fmt};

use crate::servlet::Servlet;

/// A servlet that may call another one.
#[derive(Clone, Debug)]
pub struct PossibleCall {
    /// The name of the servlet that calls.
    pub from: String,
    /// The name of the one that is called.
    pub to: String,
    /// The line of the grant, if it is in a file.
    pub line: Option<usize>,
}

impl PossibleCall {
    /// Why a servlet may not call another one, next to these calls.
    pub fn circle_with(&self, others: &[Self]) -> Option<String> {
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

impl fmt::Display for PossibleCall {
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
    calls: &'e [PossibleCall],
    from: &'e str,
    to: &str,
    seen: &mut BTreeSet<&'e str>,
) -> Option<Vec<&'e PossibleCall>> {
    seen.insert(from);
    for call in calls.iter().filter(|call| call.from == from) {
        if call.to == to {
            return Some(vec![call]);
        }
        if !seen.contains(&*call.to)
            && let Some(mut rest) = path(calls, &call.to, to, seen)
        {
            rest.insert(0, call);
            return Some(rest);
        }
    }
    None
}

/// Why servlets that were loaded without a configuration must not run together: their options let them call each other in a circle.
pub fn circle_of_calls<'s>(servlets: impl Iterator<Item = &'s Servlet>) -> Option<String> {
    let callers: Vec<_> = servlets.filter(|one| one.module().calls_tools()).collect();
    let mut calls: Vec<PossibleCall> = Vec::new();
    for from in &callers {
        for grant in from.options().grants() {
            let is_caller = callers.iter().any(|one| one.name() == grant.member());
            // All servlets have the same grants, so one of them may be meant for another servlet.
            let is_own = grant.member() == from.name() && callers.len() > 1;
            if !is_caller || is_own {
                continue;
            }
            let call = PossibleCall {
                from: from.name().to_owned(),
                to: grant.member().to_owned(),
                line: None,
            };
            if let Some(problem) = call.circle_with(&calls) {
                return Some(problem);
            }
            calls.push(call);
        }
    }
    None
}
