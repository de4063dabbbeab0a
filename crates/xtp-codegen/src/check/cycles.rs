//! No schema contains itself, not even through a list: XTP has no tree types.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Report};
use crate::document::{Body, Document, Name, Property};

pub(super) fn check(document: &Document, report: &mut Report) {
    let schemas = document.schemas.iter();
    let graph: Graph<'_> = schemas
        .map(|schema| (schema.name.text.as_str(), edges(&schema.body)))
        .collect();
    let mut search = Search {
        graph: &graph,
        path: Vec::new(),
        on_path: BTreeSet::new(),
        done: BTreeSet::new(),
    };
    for schema in &document.schemas {
        search.visit(&schema.name.text, report);
    }
}

/// The properties of each schema, with the schemas they refer to.
type Graph<'a> = BTreeMap<&'a str, Vec<(&'a Property, &'a Name)>>;

fn edges(body: &Body) -> Vec<(&Property, &Name)> {
    let Body::Object { properties, .. } = body else {
        return Vec::new();
    };
    let targets = properties
        .iter()
        .map(|property| (property, property.value.shape.target()));
    targets
        .filter_map(|(property, target)| Some((property, target?)))
        .collect()
}

/// A depth-first walk that keeps its own stack, however long a chain of schemas is.
struct Search<'a> {
    graph: &'a Graph<'a>,
    path: Vec<Step<'a>>,
    /// The schemas of the path.
    on_path: BTreeSet<&'a str>,
    done: BTreeSet<&'a str>,
}

struct Step<'a> {
    schema: &'a str,
    /// The edge of the schema that is followed next.
    next: usize,
}

impl<'a> Search<'a> {
    fn visit(&mut self, start: &'a str, report: &mut Report) {
        self.enter(start);
        while let Some(step) = self.path.last_mut() {
            let (schema, index) = (step.schema, step.next);
            step.next += 1;
            let edges = self.graph.get(schema).map_or(&[][..], Vec::as_slice);
            let Some((_, target)) = edges.get(index) else {
                self.done.insert(schema);
                self.on_path.remove(schema);
                self.path.pop();
                continue;
            };
            self.follow(target, report);
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
        if self.on_path.contains(text) {
            let message = format!("`{text}` contains itself: {}", self.circle(text));
            let problem = report.error(Code::Cycle, &target.at, message);
            problem.help("XTP has no types that contain themselves; use a free-form object");
        } else {
            self.enter(text);
        }
    }

    /// The way from a schema back to itself.
    fn circle(&self, schema: &str) -> String {
        let mut circle: Vec<String> = Vec::new();
        let steps = self.path.iter().skip_while(|step| step.schema != schema);
        for step in steps {
            let followed = step.next.saturating_sub(1);
            let edges = self.graph.get(step.schema);
            let property = edges.and_then(|edges| edges.get(followed));
            let property = property.map_or("", |(property, _)| property.name.text.as_str());
            circle.push(format!("`{}.{property}`", step.schema));
        }
        circle.push(format!("`{schema}`"));
        circle.join(" → ")
    }
}
