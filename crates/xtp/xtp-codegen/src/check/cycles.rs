//! Schemas that contain themselves.
//!
//! Through a list, a map or an optional property, such a schema describes a tree. Rust can express
//! trees, although XTP does not allow them. Otherwise every value of the schema would be infinite.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Report};
use crate::document::{Document, Item, Name, Shape};
use crate::node::Value;
use crate::read::Cursor;
use crate::rules::Rule;

/// How many schemas a message shows at the start and at the end of a long path.
const MAX_SHOWN_SCHEMAS: usize = 5;

pub(super) fn check_cycles(root: &Cursor<'_>, document: &Document, report: &mut Report) {
    let endless: Graph = document
        .schemas
        .iter()
        .map(|schema| {
            let mut edges = Vec::new();
            collect_required(&schema.value, "", &mut edges);
            (schema.name.text.clone(), edges)
        })
        .collect();
    let refused = uses(root);
    let mut reported = BTreeSet::new();
    for (graph, is_endless) in [(&endless, true), (&refused, false)] {
        let mut search = Search {
            graph,
            is_endless,
            path: Vec::new(),
            on_path: BTreeSet::new(),
            done: BTreeSet::new(),
            reported: &mut reported,
        };
        for schema in &document.schemas {
            search.visit(&schema.name.text, report);
        }
    }
}

/// The uses of other schemas in each schema.
type Graph = BTreeMap<String, Vec<Edge>>;

/// One use of a schema in another.
struct Edge {
    /// The step to it from the schema, such as `.property`.
    label: String,
    target: Name,
}

/// Collects the schemas that every value of a type contains.
fn collect_required(item: &Item, label: &str, edges: &mut Vec<Edge>) {
    let mut push = |target: &Name| {
        edges.push(Edge {
            label: label.to_owned(),
            target: target.clone(),
        });
    };
    match &item.shape {
        _ if item.nullable => {}
        Shape::Ref(target) => push(target),
        Shape::Object(object) => {
            let required = object.required_names();
            for property in &object.properties {
                let name = property.name.text.as_str();
                if required.contains(name) {
                    collect_required(&property.value, &format!("{label}.{name}"), edges);
                }
            }
        }
        // The first member is the default of the union, so its values must end.
        Shape::Union(union) => {
            if let Some(member) = union.members.first() {
                push(&member.target);
            }
        }
        Shape::Scalar(_)
        | Shape::FreeForm
        | Shape::Any
        | Shape::Enum(_)
        | Shape::List(_)
        | Shape::Map(_) => {}
    }
}

/// The uses that the official library follows: in properties, and one level into lists and maps.
fn uses(root: &Cursor<'_>) -> Graph {
    root.get("components")
        .and_then(|components| components.get("schemas"))
        .iter()
        .flat_map(Cursor::members)
        .map(|(name, schema)| (name.text, uses_in(&schema)))
        .collect()
}

fn uses_in(schema: &Cursor<'_>) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut push = |label: &str, part: Option<Cursor<'_>>| {
        if let Some(target) = part.as_ref().and_then(target) {
            edges.push(Edge {
                label: label.to_owned(),
                target,
            });
        }
    };
    let Some(properties) = schema.get("properties") else {
        push("", schema.get("additionalProperties"));
        return edges;
    };
    for (name, property) in properties.members() {
        let label = format!(".{}", name.text);
        push(&label, property.get("items"));
        push(&label, property.get("additionalProperties"));
        push(&label, Some(property));
    }
    edges
}

/// The schema that a type refers to, unless the type has the key `type`.
fn target(ty: &Cursor<'_>) -> Option<Name> {
    if ty.get("type").is_some_and(|ty| ty.value().is_truthy()) {
        return None;
    }
    let target = ty.get("$ref")?;
    let Value::Text(text) = target.value() else {
        return None;
    };
    Some(Name {
        text: text.split('/').nth(3)?.to_owned(),
        at: target.at(),
    })
}
/// A depth-first search with a stack of its own, so that a long chain of schemas does not overflow the call stack.
struct Search<'a> {
    graph: &'a Graph,
    is_endless: bool,
    path: Vec<Step<'a>>,
    /// The schemas of the path.
    on_path: BTreeSet<&'a str>,
    done: BTreeSet<&'a str>,
    /// The uses that have been reported, by their offsets.
    reported: &'a mut BTreeSet<usize>,
}

struct Step<'a> {
    schema: &'a str,
    /// The index of the next edge to follow.
    next: usize,
}

impl<'a> Search<'a> {
    fn visit(&mut self, start: &'a str, report: &mut Report) {
        self.enter(start);
        while let Some(step) = self.path.last_mut() {
            let (schema, index) = (step.schema, step.next);
            step.next += 1;
            let edges = self.graph.get(schema);
            let Some(edge) = edges.and_then(|edges| edges.get(index)) else {
                self.done.insert(schema);
                self.on_path.remove(schema);
                self.path.pop();
                continue;
            };
            self.follow(&edge.target, report);
        }
    }

    fn enter(&mut self, schema: &'a str) {
        if !self.done.contains(schema) && self.graph.contains_key(schema) {
            self.on_path.insert(schema);
            self.path.push(Step { schema, next: 0 });
        }
    }

    fn follow(&mut self, target: &'a Name, report: &mut Report) {
        let text = target.text.as_str();
        if !self.on_path.contains(text) {
            self.enter(text);
        } else if self.reported.insert(target.at.span.offset) {
            self.report(target, report);
        }
    }

    fn report(&self, target: &Name, report: &mut Report) {
        let circle = self.circle(&target.text);
        let name = &target.text;
        if self.is_endless {
            let message = format!("`{name}` requires itself: {circle}");
            let problem = report.error(Code::Endless, &target.at, message);
            problem.help("remove a property of the cycle from `required`, or make it `nullable`");
        } else {
            let message = format!("`{name}` contains itself: {circle}");
            let rule = Rule::LibraryNeedlessly;
            let problem = report.add(rule, Code::Cycle, &target.at, message);
            problem.help("the official generators refuse this; for them, use a free-form object");
        }
    }

    /// The path from a schema back to itself.
    fn circle(&self, schema: &str) -> String {
        let mut circle: Vec<String> = Vec::new();
        let steps = self.path.iter().skip_while(|step| step.schema != schema);
        for step in steps {
            let followed = step.next.saturating_sub(1);
            let edges = self.graph.get(step.schema);
            let edge = edges.and_then(|edges| edges.get(followed));
            let label = edge.map_or("", |edge| edge.label.as_str());
            circle.push(format!("`{}{label}`", step.schema));
        }
        circle.push(format!("`{schema}`"));
        if circle.len() > 2 * MAX_SHOWN_SCHEMAS {
            let left_out = MAX_SHOWN_SCHEMAS..circle.len() - MAX_SHOWN_SCHEMAS;
            circle.splice(left_out, ["…".to_owned()]);
        }
        circle.join(" → ")
    }
}
