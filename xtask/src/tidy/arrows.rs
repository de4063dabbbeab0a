//! Checks which modules and crates use which: no cycles, and no forbidden dependency.

mod modules;
mod packages;
mod paths;
mod source;

use std::collections::{BTreeMap, BTreeSet};

use modules::Modules;

/// Problems of all crates under `crates` and of `xtask`.
pub(super) fn problems() -> anyhow::Result<Vec<String>> {
    let (mut problems, sources) = packages::check()?;
    for source in sources {
        let modules = Modules::read(&source)?;
        let source = source.strip_prefix(crate::shell::root()).unwrap_or(&source);
        problems.extend(modules.circles().into_iter().map(|circle| {
            format!(
                "{}: modules use each other in a circle: {circle}",
                source.display()
            )
        }));
    }
    Ok(problems)
}

/// Names, each with the names that it uses.
type Graph<T> = BTreeMap<T, BTreeSet<T>>;

/// The shortest cycle of a graph, as the path from a node back to itself.
fn shortest_circle<T: Ord + Clone>(graph: &Graph<T>) -> Option<Vec<T>> {
    let circles = graph.keys().filter_map(|start| circle_from(graph, start));
    circles.min_by_key(Vec::len)
}

/// The shortest path from a node back to itself.
fn circle_from<T: Ord + Clone>(graph: &Graph<T>, start: &T) -> Option<Vec<T>> {
    let mut ways = vec![vec![start.clone()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in graph.get(way.last()?).into_iter().flatten() {
                let mut way = way.clone();
                way.push(next.clone());
                if next == start {
                    return Some(way);
                }
                if seen.insert(next.clone()) {
                    longer.push(way);
                }
            }
        }
        ways = longer;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(arrows: &[(&'static str, &'static str)]) -> Option<String> {
        let mut graph = Graph::new();
        for (from, to) in arrows {
            graph.entry(*from).or_insert_with(BTreeSet::new).insert(*to);
        }
        shortest_circle(&graph).map(|circle| circle.concat())
    }

    #[test]
    fn finds_the_shortest_cycle() {
        assert_eq!(circle(&[("a", "b"), ("b", "c"), ("a", "c")]), None);
        let all = [("a", "b"), ("b", "c"), ("c", "a"), ("x", "y"), ("y", "x")];
        assert_eq!(circle(&all).as_deref(), Some("xyx"));
        assert_eq!(circle(&all[..3]).as_deref(), Some("abca"));
    }
}
