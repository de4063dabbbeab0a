//! Replaces references by the schemas that they refer to.

use serde_json::Value;

/// The maximum number of values in the result: references can turn a small schema into a large tree.
const MAX_VALUES: usize = 20_000;

/// Replaces each `$ref` in the schema and removes the definitions.
pub(super) fn inline(schema: &mut Value) {
    let root = schema.clone();
    let mut inliner = Inliner {
        root: &root,
        open: Vec::new(),
        left: MAX_VALUES,
    };
    *schema = inliner.inlined(&root);
    for definitions in ["$defs", "definitions"] {
        super::remove(schema, definitions);
    }
}

struct Inliner<'a> {
    root: &'a Value,
    /// The references that are being replaced.
    open: Vec<&'a str>,
    left: usize,
}

impl<'a> Inliner<'a> {
    fn inlined(&mut self, value: &'a Value) -> Value {
        if self.left == 0 {
            return Value::Object(serde_json::Map::new());
        }
        self.left -= 1;
        match value {
            Value::Object(members) => match members.get("$ref") {
                Some(Value::String(reference)) => self.replaced(reference, members),
                _ => self.members(members),
            },
            Value::Array(items) => items.iter().map(|item| self.inlined(item)).collect(),
            value => value.clone(),
        }
    }

    fn members(&mut self, members: &'a serde_json::Map<String, Value>) -> Value {
        let members = members
            .iter()
            .filter(|(key, _)| *key != "$defs" && *key != "definitions")
            .map(|(key, value)| (key.clone(), self.inlined(value)));
        Value::Object(members.collect())
    }

    /// The target, merged with the members next to the reference, which take precedence.
    fn replaced(
        &mut self,
        reference: &'a str,
        members: &'a serde_json::Map<String, Value>,
    ) -> Value {
        let pointer = reference.strip_prefix('#');
        let target = pointer
            .and_then(|pointer| self.root.pointer(pointer))
            .filter(|_| !self.open.contains(&reference));
        let mut merged = serde_json::Map::new();
        for (key, value) in members.iter().filter(|(key, _)| *key != "$ref") {
            merged.insert(key.clone(), self.inlined(value));
        }
        if let Some(target) = target {
            self.open.push(reference);
            if let Value::Object(target) = self.inlined(target) {
                for (key, value) in target {
                    merged.entry(key).or_insert(value);
                }
            }
            self.open.pop();
        }
        Value::Object(merged)
    }
}
