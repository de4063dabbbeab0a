//! The library's search for schemas that contain themselves.
//!
//! It follows properties, the items of a list, and the values of a map. It does not follow lists of
//! lists, or schemas that only rename another schema.

use std::collections::{BTreeMap, BTreeSet};

use saphyr::Yaml;

use super::Finding;
use super::script::{entries, get, truthy};

/// One finding for each cycle.
pub(super) fn find(root: &Yaml<'_>) -> Vec<Finding> {
    let schemas = get(root, "components").and_then(|node| get(node, "schemas"));
    let Some(schemas) = schemas else {
        return Vec::new();
    };
    let entries = entries(schemas);
    let mut search = Search {
        schemas: entries.iter().copied().collect(),
        done: BTreeSet::new(),
        found: Vec::new(),
    };
    for (name, _) in entries {
        search.visit(name);
    }
    search.found
}

/// A depth-first search with a stack of its own, so that a long chain of schemas does not overflow the call stack.
struct Search<'a> {
    schemas: BTreeMap<&'a str, &'a Yaml<'a>>,
    done: BTreeSet<&'a str>,
    found: Vec<Finding>,
}

/// A schema on the path.
struct Step<'a> {
    schema: &'a str,
    /// The labels of the edge that is followed.
    labels: Vec<&'a str>,
    /// The edges that are left.
    edges: std::vec::IntoIter<Edge<'a>>,
}

/// The labels of an edge, and the schema that it leads to.
type Edge<'a> = (Vec<&'a str>, &'a str);

impl<'a> Search<'a> {
    fn visit(&mut self, start: &'a str) {
        let mut way = Vec::new();
        self.enter(start, &mut way);
        while let Some(step) = way.last_mut() {
            let Some((labels, target)) = step.edges.next() else {
                self.done.insert(step.schema);
                way.pop();
                continue;
            };
            step.labels = labels;
            match way.iter().position(|step| step.schema == target) {
                Some(start) => self.record(&way, start, target),
                None => self.enter(target, &mut way),
            }
        }
    }

    fn enter(&self, schema: &'a str, way: &mut Vec<Step<'a>>) {
        if self.done.contains(schema) {
            return;
        }
        if let Some(node) = self.schemas.get(schema).copied() {
            way.push(Step {
                schema,
                labels: Vec::new(),
                edges: edges(node).into_iter(),
            });
        }
    }

    fn record(&mut self, way: &[Step<'_>], start: usize, target: &str) {
        let labels = |steps: &[Step<'_>]| -> Vec<String> {
            let labels = steps
                .iter()
                .flat_map(|step| [&[step.schema], step.labels.as_slice()].concat());
            labels.map(str::to_owned).collect()
        };
        let mut circle = labels(&way[start..]);
        circle.push(target.to_owned());
        self.found.push(Finding {
            message: format!("Detected circular reference: {}", circle.join(" -> ")),
            path: format!("#/components/schemas/{}", labels(way).join("/")),
            place: Vec::new(),
        });
    }
}

/// The schemas that a schema refers to, each with the labels of the way there.
fn edges<'a>(schema: &'a Yaml<'a>) -> Vec<Edge<'a>> {
    let mut edges = Vec::new();
    if let Some(properties) = get(schema, "properties") {
        for (name, property) in entries(properties) {
            let targets = targets(property).into_iter();
            edges.extend(targets.map(|(label, target)| ([&[name], label].concat(), target)));
        }
    } else if let Some(target) = map_value(schema) {
        edges.push((MAP.to_vec(), target));
    }
    edges
}

const MAP: &[&str] = &["additionalProperties", "value"];

fn targets<'a>(property: &'a Yaml<'a>) -> Vec<(&'static [&'static str], &'a str)> {
    let items = get(property, "items").and_then(target);
    let direct = target(property).map(|target| (&[][..], target));
    let items = items.map(|target| (&["items"][..], target));
    let values = map_value(property).map(|target| (MAP, target));
    [direct, items, values].into_iter().flatten().collect()
}

fn map_value<'a>(node: &'a Yaml<'a>) -> Option<&'a str> {
    target(get(node, "additionalProperties")?)
}

/// The schema that a `$ref` names. The library ignores `$ref` next to `type`.
fn target<'a>(node: &'a Yaml<'a>) -> Option<&'a str> {
    if truthy(node, "type").is_some() {
        return None;
    }
    get(node, "$ref")?.as_str()?.split('/').nth(3)
}
