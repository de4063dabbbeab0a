//! Schemas that contain themselves.
//!
//! Through a list, a map or an optional property, such a schema describes a tree. Rust can express
//! trees, although XTP does not allow them. Otherwise every value of the schema would be infinite.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Report};
use crate::document::{Document, Item, Name, Shape};
use crate::rules::Refused;

/// How many schemas a message shows at the start and at the end of a long path.
const SHOWN: usize = 5;

pub(super) fn check(document: &Document, report: &mut Report) {
    let schemas = document.schemas.iter();
    let graph: Graph<'_> = schemas
        .map(|schema| {
            let mut edges = Vec::new();
            collect(&schema.value, true, Depth::Schema, "", &mut edges);
            (schema.name.text.as_str(), edges)
        })
        .collect();
    let only = |wanted: fn(&Edge<'_>) -> bool| -> Graph<'_> {
        let edges = graph.iter();
        let edges = edges.map(|(name, edges)| {
            let wanted = edges.iter().filter(|edge| wanted(edge));
            (*name, wanted.cloned().collect())
        });
        edges.collect()
    };
    let endless = only(|edge| edge.must);
    let refused = only(|edge| edge.is_seen);
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

/// One use of a schema in another.
#[derive(Clone)]
struct Edge<'a> {
    /// The step to it from the schema, such as `.property`.
    label: String,
    target: &'a Name,
    /// Whether every value contains the other schema.
    must: bool,
    /// Whether the official library follows it. It looks at properties, and one level into lists and maps.
    is_seen: bool,
}

/// The position of a type, as the official library distinguishes it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Schema,
    Property,
    /// In a list or a map that is a property, or in a map that is a schema.
    Part,
    Deeper,
}

/// The uses of other schemas in each schema.
type Graph<'a> = BTreeMap<&'a str, Vec<Edge<'a>>>;

fn collect<'a>(item: &'a Item, must: bool, depth: Depth, label: &str, edges: &mut Vec<Edge<'a>>) {
    let must = must && !item.nullable;
    match &item.shape {
        Shape::Ref(target) => edges.push(Edge {
            label: label.to_owned(),
            target,
            must,
            is_seen: matches!(depth, Depth::Property | Depth::Part),
        }),
        Shape::List(item) if depth == Depth::Property => {
            collect(item, false, Depth::Part, label, edges);
        }
        Shape::Map(item) if matches!(depth, Depth::Schema | Depth::Property) => {
            collect(item, false, Depth::Part, label, edges);
        }
        Shape::List(item) | Shape::Map(item) => {
            collect(item, false, Depth::Deeper, label, edges);
        }
        Shape::Object(object) => {
            let required = object.required.iter();
            let required: BTreeSet<&str> = required.map(|name| name.text.as_str()).collect();
            for property in &object.properties {
                let name = &property.name.text;
                let required = required.contains(name.as_str());
                let label = format!("{label}.{name}");
                let depth = match depth {
                    Depth::Schema => Depth::Property,
                    _ => Depth::Deeper,
                };
                collect(&property.value, must && required, depth, &label, edges);
            }
            if let Some(extra) = &object.extra {
                collect(extra, false, Depth::Deeper, label, edges);
            }
        }
        Shape::Union(union) => {
            // The first member is the default of the union, so its values must end.
            let members = union.members.iter().enumerate();
            edges.extend(members.map(|(index, member)| Edge {
                label: label.to_owned(),
                target: &member.target,
                must: must && index == 0,
                is_seen: false,
            }));
        }
        Shape::Scalar(_) | Shape::FreeForm | Shape::Any | Shape::Enum(_) => {}
    }
}

/// A depth-first search with a stack of its own, so that a long chain of schemas does not overflow the call stack.
struct Search<'a, 's> {
    graph: &'s Graph<'a>,
    is_endless: bool,
    path: Vec<Step<'a>>,
    /// The schemas of the path.
    on_path: BTreeSet<&'a str>,
    done: BTreeSet<&'a str>,
    /// The uses that have been reported, by their offsets.
    reported: &'s mut BTreeSet<usize>,
}

struct Step<'a> {
    schema: &'a str,
    /// The index of the next edge to follow.
    next: usize,
}

impl<'a> Search<'a, '_> {
    fn visit(&mut self, start: &'a str, report: &mut Report) {
        self.enter(start);
        while let Some(step) = self.path.last_mut() {
            let (schema, index) = (step.schema, step.next);
            step.next += 1;
            let edges = self.graph.get(schema).map_or(&[][..], Vec::as_slice);
            let Some(edge) = edges.get(index) else {
                self.done.insert(schema);
                self.on_path.remove(schema);
                self.path.pop();
                continue;
            };
            self.follow(edge.target, report);
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
            let by = Refused::LibraryNeedlessly;
            let problem = report.refused(by, Code::Cycle, &target.at, message);
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
        if circle.len() > 2 * SHOWN {
            let left_out = SHOWN..circle.len() - SHOWN;
            circle.splice(left_out, ["…".to_owned()]);
        }
        circle.join(" → ")
    }
}
