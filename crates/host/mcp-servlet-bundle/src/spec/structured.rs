//! The structured content of results.

use serde_json::Value;

use crate::{
    constant::Taker,
    problem::{Place, Problem},
    template::Template,
};

/// Reports parts that do not match the output schema in any call.
pub(super) fn check_structured(
    content: &Template,
    output: &Value,
    place: &Place,
    problems: &mut Vec<Problem>,
) {
    let taker = Taker {
        name: "output",
        schema: output,
    };
    Check { taker, problems }.part(content, output, place);
}

struct Check<'a> {
    taker: Taker<'a>,
    problems: &'a mut Vec<Problem>,
}

impl Check<'_> {
    fn part(&mut self, part: &Template, schema: &Value, place: &Place) {
        let before = self.problems.len();
        self.items(part, schema, place);
        self.members(part, schema, place);
        if self.problems.len() > before {
            return;
        }
        let constant = part.constant();
        let message = constant.and_then(|value| self.taker.problem(schema, "here", value));
        if let Some(message) = message {
            self.problem(place, message);
        }
    }

    fn items(&mut self, part: &Template, schema: &Value, place: &Place) {
        // With `prefixItems`, `items` is not about all items.
        if schema.get("prefixItems").is_some() {
            return;
        }
        let Some(schema) = schema.get("items").filter(|items| items.is_object()) else {
            return;
        };
        for (number, item) in part.items().into_iter().flatten().enumerate() {
            self.part(&item, schema, &place.item(number));
        }
    }

    fn members(&mut self, part: &Template, schema: &Value, place: &Place) {
        let Some(members) = part.members() else {
            return;
        };
        let properties = schema.get("properties");
        for (name, value) in &members {
            if let Some(schema) = properties.and_then(|all| all.get(name)) {
                self.part(value, schema, &place.key(name));
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        for name in names.filter(|name| members.iter().all(|(known, _)| known != name)) {
            self.problem(place, format!("`{name}` is missing: `output` requires it"));
        }
    }

    fn problem(&mut self, place: &Place, message: String) {
        self.problems.push(Problem::new(place.clone(), message));
    }
}
