//! What a rule says about an argument.

use std::{fmt::Write as _, sync::Arc};

use mcp_servlet_schema::{JsonObject, Validator, did_you_mean, schema_in_words, similar};
use serde_json::{Value, json};

use super::Effect;

/// An argument, and the JSON Schema that its values must match.
#[derive(Clone, Debug)]
pub struct Argument {
    pub(super) path: Vec<Step>,
    /// Whether the rule also holds without the argument.
    may_be_absent: bool,
    pub(super) schema: JsonObject,
    /// The types that the keywords are about.
    pub(super) types: Vec<&'static str>,
    /// The keyword `type`, if there are others.
    pub(super) type_keyword: Option<Arc<Validator>>,
    validator: Arc<Validator>,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A member of an object.
    Member(String),
    /// All items of an array.
    Items,
}

/// What a path leads to.
enum Found<'v> {
    Value(&'v Value),
    Absent,
    /// This many steps lead to this value, which has another type than the next step needs.
    OtherType(usize, &'v Value),
}

/// The keywords of a schema in a rule, with the type that each is about.
const KEYWORDS: [(&str, Option<&str>); 13] = [
    ("type", None),
    ("enum", None),
    ("const", None),
    ("minimum", Some("number")),
    ("maximum", Some("number")),
    ("exclusiveMinimum", Some("number")),
    ("exclusiveMaximum", Some("number")),
    ("multipleOf", Some("number")),
    ("minLength", Some("string")),
    ("maxLength", Some("string")),
    ("pattern", Some("string")),
    ("minItems", Some("array")),
    ("maxItems", Some("array")),
];

/// Pairs of keywords: the lower bound and the upper bound.
const RANGES: [[&str; 2]; 3] = [
    ["minimum", "maximum"],
    ["minLength", "maxLength"],
    ["minItems", "maxItems"],
];

/// The values of the keyword `type`.
const NAMES_OF_TYPES: [&str; 7] = [
    "null", "boolean", "integer", "number", "string", "array", "object",
];

const TYPES: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];

/// How much of a value an error shows, in characters.
const MAX_SHOWN_VALUE: usize = 100;

impl PartialEq for Argument {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
            && self.may_be_absent == other.may_be_absent
            && self.schema == other.schema
    }
}

impl Argument {
    /// Reads a path such as `to.iban`, `items[].sku` or `amount?`, and a schema.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn new(path: &str, schema: &JsonObject) -> Result<Self, String> {
        if let Some(unknown) = schema.keys().find(|key| !is_keyword(key)) {
            let names = KEYWORDS.map(|(name, _)| name);
            let hint = match similar(unknown, names.into_iter()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are `{}`", names.join("`, `")),
            };
            return Err(format!("rules have no keyword `{unknown}`; {hint}"));
        }
        if schema.is_empty() {
            return Err("expected a keyword, such as `maximum`".to_owned());
        }
        if let Some(unknown) = unknown_type(schema) {
            let hint = did_you_mean(similar(unknown, NAMES_OF_TYPES.into_iter()));
            return Err(format!("there is no type `{unknown}`{hint}"));
        }
        let types = types(schema);
        if types.is_empty() {
            return Err("no value matches: the keywords are for different types".to_owned());
        }
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
        let is_empty = |range: &&[&str; 2]| {
            let [low, high] = (**range).map(&bound);
            high.is_some() && low > high
        };
        if let Some([low, high]) = RANGES.iter().find(is_empty) {
            return Err(format!("no value matches: `{low}` is above `{high}`"));
        }
        let validator = |schema: Value| {
            let validator = Validator::linear(&schema).map_err(|problem| problem.to_string());
            validator.map(Arc::new)
        };
        let keyword = schema
            .get("type")
            .filter(|_| schema.len() > 1)
            .map(|of| validator(json!({ "type": of })));
        let (path, may_be_absent) = match path.strip_suffix('?') {
            Some(path) => (path, true),
            None => (path, false),
        };
        Ok(Self {
            path: steps(path).ok_or("expected a path such as `to.iban` or `items[].sku`")?,
            may_be_absent,
            schema: schema.clone(),
            types,
            type_keyword: keyword.transpose()?,
            validator: validator(Value::Object(schema.clone()))?,
        })
    }

    /// The name of the argument in which the path begins.
    pub fn name(&self) -> &str {
        match self.path.first() {
            Some(Step::Member(name)) => name,
            Some(Step::Items) | None => "",
        }
    }

    /// Whether a rule also holds without it.
    pub fn may_be_absent(&self) -> bool {
        self.may_be_absent
    }

    /// Whether a rule with this effect holds, as far as this argument decides. An `allow` needs all values to match, and a
    /// `deny` one. What is not like the schema expects must not pass: an `allow` does not hold for it, and a `deny` does.
    pub(super) fn holds(&self, effect: Effect, arguments: &JsonObject) -> bool {
        let found = self.find(arguments);
        if found.is_empty() {
            return self.may_be_absent;
        }
        let matches = |found: &Found<'_>| match (found, effect) {
            (Found::Absent, _) => self.may_be_absent,
            (Found::OtherType(..), effect) => effect == Effect::Deny,
            (Found::Value(value), effect) => self.holds_for(effect, value),
        };
        match effect {
            Effect::Allow => found.iter().all(matches),
            Effect::Deny => found.iter().any(matches),
        }
    }

    /// The same for one value at the end of the path.
    pub(super) fn holds_for(&self, effect: Effect, value: &Value) -> bool {
        match effect {
            Effect::Allow => self.is_of_type(value) && self.validator.accepts(value) == Some(true),
            Effect::Deny => !self.is_of_type(value) || self.validator.accepts(value) != Some(false),
        }
    }

    /// The first keyword that is about one type, and this type.
    pub(super) fn first_typed(&self) -> Option<(&str, &'static str)> {
        let mut keywords = self.schema.keys();
        keywords.find_map(|name| {
            let (_, of) = KEYWORDS.iter().find(|(known, _)| known == name)?;
            Some((&**name, (*of)?))
        })
    }

    fn is_of_type(&self, value: &Value) -> bool {
        let is_named = |keyword: &Arc<Validator>| keyword.accepts(value) == Some(true);
        self.types.contains(&type_of(value)) && self.type_keyword.as_ref().is_none_or(is_named)
    }

    fn find<'v>(&self, arguments: &'v JsonObject) -> Vec<Found<'v>> {
        let mut steps = self.path.iter().enumerate();
        let Some((_, Step::Member(name))) = steps.next() else {
            return Vec::new();
        };
        let first = arguments.get(name).map_or(Found::Absent, Found::Value);
        steps.fold(vec![first], |found, (at, step)| {
            let next = found.into_iter().flat_map(|found| match (found, step) {
                (Found::Value(Value::Object(members)), Step::Member(name)) => {
                    vec![members.get(name).map_or(Found::Absent, Found::Value)]
                }
                (Found::Value(Value::Array(items)), Step::Items) => {
                    items.iter().map(Found::Value).collect()
                }
                (Found::Value(value), _) => vec![Found::OtherType(at, value)],
                (found, _) => vec![found],
            });
            next.collect()
        })
    }

    /// The path, as the file has it.
    pub(super) fn path(&self) -> String {
        text_of(&self.path)
    }

    /// The argument and its values, for a model: `amount = 250`.
    pub(super) fn given(&self, arguments: &JsonObject) -> String {
        let found = self.find(arguments);
        let values: Vec<_> = found
            .iter()
            .filter_map(|found| match found {
                Found::Value(value) => Some(value.to_string()),
                Found::Absent | Found::OtherType(..) => None,
            })
            .collect();
        let other_type = found.iter().find_map(|found| match found {
            Found::OtherType(at, value) => Some((text_of(&self.path[..*at]), value.to_string())),
            Found::Value(_) | Found::Absent => None,
        });
        let (path, values) = match other_type {
            _ if !values.is_empty() => (self.path(), values.join(", ")),
            Some(other_type) => other_type,
            None => return format!("without {}", self.path()),
        };
        let end = values.char_indices().nth(MAX_SHOWN_VALUE).map(|(at, _)| at);
        match end {
            Some(end) => format!("with {path} = {}…", &values[..end]),
            None => format!("with {path} = {values}"),
        }
    }

    /// What matches, for a model: `amount: number of at most 100`.
    pub(super) fn expected(&self) -> String {
        let mut schema = self.schema.clone();
        let is_typed = ["type", "enum", "const"]
            .iter()
            .any(|one| schema.contains_key(*one));
        if !is_typed {
            schema.insert("type".to_owned(), json!(self.types));
        }
        let words = schema_in_words(&JsonObject::new(), &schema.into());
        let absent = if self.may_be_absent {
            ", or absent"
        } else {
            ""
        };
        format!("{}: {words}{absent}", self.path())
    }
}

/// A path, as the file has it.
fn text_of(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Member(name) => {
                let dot = if text.is_empty() { "" } else { "." };
                let _ = write!(text, "{dot}{}", name.replace('.', "\\."));
            }
            Step::Items => text.push_str("[]"),
        }
    }
    text
}

fn is_keyword(name: &str) -> bool {
    KEYWORDS.iter().any(|(keyword, _)| *keyword == name)
}

/// The first value of the keyword `type` that is not the name of a type.
fn unknown_type(schema: &JsonObject) -> Option<&str> {
    let names = match schema.get("type")? {
        Value::Array(names) => names,
        name => std::slice::from_ref(name),
    };
    let mut names = names.iter().filter_map(Value::as_str);
    names.find(|name| !NAMES_OF_TYPES.contains(name))
}

/// The types of values to which all keywords of a schema apply.
fn types(schema: &JsonObject) -> Vec<&'static str> {
    let has = |values: &[Value], name: &str| values.iter().any(|value| type_of(value) == name);
    let all = TYPES.into_iter().filter(|name| {
        schema.iter().all(|(keyword, value)| match &**keyword {
            "const" => type_of(value) == *name,
            "enum" => value.as_array().is_some_and(|values| has(values, name)),
            _ => {
                let of = KEYWORDS.iter().find(|(known, _)| known == keyword);
                of.and_then(|(_, of)| *of).is_none_or(|of| of == *name)
            }
        })
    });
    all.collect()
}

pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The steps of a path such as `to.iban` or `items[].sku`. None if it has another form.
pub(crate) fn steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path;
    loop {
        // A dot of a name has a backslash before it.
        let mut dots = rest.match_indices('.');
        let dot = dots.find(|(at, _)| !rest[..*at].ends_with('\\'));
        let part = dot.map_or(rest, |(at, _)| &rest[..at]);
        let name = part.trim_end_matches("[]");
        if name.is_empty() || name.contains(['[', ']', '?']) {
            return None;
        }
        steps.push(Step::Member(name.replace("\\.", ".")));
        let items = (part.len() - name.len()) / 2;
        steps.extend(vec![Step::Items; items]);
        match dot {
            Some((at, _)) => rest = &rest[at + 1..],
            None => return Some(steps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(path: &str, schema: Value) -> Argument {
        let schema = schema.as_object().expect("an object");
        Argument::new(path, schema).unwrap_or_else(|problem| panic!("{path}: {problem}"))
    }

    /// Whether an `allow` and a `deny` with this argument hold.
    fn holds(path: &str, schema: &Value, arguments: &Value) -> [bool; 2] {
        let argument = argument(path, schema.clone());
        let arguments = arguments.as_object().expect("an object");
        [Effect::Allow, Effect::Deny].map(|effect| argument.holds(effect, arguments))
    }

    #[test]
    fn values_of_another_type_do_not_pass() {
        let most = json!({ "maximum": 100 });
        for (arguments, expected) in [
            (json!({ "amount": 100 }), [true, true]),
            (json!({ "amount": 100.5 }), [false, false]),
            (json!({ "amount": "5" }), [false, true]),
            (json!({ "amount": null }), [false, true]),
            (json!({ "amount": [5] }), [false, true]),
            (json!({}), [false, false]),
        ] {
            assert_eq!(holds("amount", &most, &arguments), expected, "{arguments}");
        }
        assert_eq!(holds("amount?", &most, &json!({})), [true, true]);
        assert_eq!(
            holds("amount?", &most, &json!({ "amount": null })),
            [false, true]
        );
        let one = json!({ "enum": ["a", 5] });
        for (value, expected) in [
            (json!("a"), [true, true]),
            (json!("b"), [false, false]),
            (json!(5), [true, true]),
            (json!(true), [false, true]),
        ] {
            assert_eq!(
                holds("x", &one, &json!({ "x": value })),
                expected,
                "{value}"
            );
        }
        let large = json!({ "type": "integer", "minimum": 1000 });
        for (amount, expected) in [
            (json!(1000), [true, true]),
            (json!(999), [false, false]),
            (json!(1000.5), [false, true]),
            (json!(0.5), [false, true]),
            (json!("1000"), [false, true]),
        ] {
            assert_eq!(
                holds("x", &large, &json!({ "x": amount })),
                expected,
                "{amount}"
            );
        }
        let text = json!({ "type": "string" });
        assert_eq!(holds("x", &text, &json!({ "x": 5 })), [false, false]);
    }

    #[test]
    fn an_allow_needs_all_items_and_a_deny_one() {
        let known = json!({ "pattern": "^a" });
        for (path, arguments, expected) in [
            ("items[]", json!({ "items": ["a", "ab"] }), [true, true]),
            ("items[]", json!({ "items": ["a", "b"] }), [false, true]),
            ("items[]", json!({ "items": ["b"] }), [false, false]),
            ("items[]", json!({ "items": ["b", 5] }), [false, true]),
            ("items[]", json!({ "items": [] }), [false, false]),
            ("items[]?", json!({ "items": [] }), [true, true]),
            ("items[]", json!({ "items": "a" }), [false, true]),
            (
                "items[].id",
                json!({ "items": [{ "id": "a" }, {}] }),
                [false, true],
            ),
            (
                "items[].id",
                json!({ "items": [{ "id": "b" }, {}] }),
                [false, false],
            ),
            (
                "items[].id?",
                json!({ "items": [{ "id": "a" }, {}] }),
                [true, true],
            ),
            ("to.iban", json!({ "to": { "iban": "ab" } }), [true, true]),
            (r"to\.iban", json!({ "to.iban": "ab" }), [true, true]),
            (
                r"to\.iban.x\.y",
                json!({ "to.iban": { "x.y": "b" } }),
                [false, false],
            ),
            ("to.iban", json!({ "to": "ab" }), [false, true]),
            ("to.iban?", json!({ "to": "ab" }), [false, true]),
            (
                "rows[][]",
                json!({ "rows": [["a"], ["a", "b"]] }),
                [false, true],
            ),
        ] {
            assert_eq!(
                holds(path, &known, &arguments),
                expected,
                "{path} {arguments}"
            );
        }
    }

    #[test]
    fn mistakes_are_explained() {
        for (path, schema, expected) in [
            ("a", json!({}), "expected a keyword, such as `maximum`"),
            (
                "a",
                json!({ "maximun": 5 }),
                "rules have no keyword `maximun`; did you mean `maximum`?",
            ),
            (
                "a",
                json!({ "maximum": 5, "pattern": "a" }),
                "no value matches: the keywords are for different types",
            ),
            (
                "a",
                json!({ "type": ["null", "nubmer"] }),
                "there is no type `nubmer`; did you mean `number`?",
            ),
            (
                "a",
                json!({ "minimum": 5, "maximum": 1 }),
                "no value matches: `minimum` is above `maximum`",
            ),
            (
                "a[0]",
                json!({ "maximum": 5 }),
                "expected a path such as `to.iban` or `items[].sku`",
            ),
            (
                "",
                json!({ "maximum": 5 }),
                "expected a path such as `to.iban` or `items[].sku`",
            ),
        ] {
            let schema = schema.as_object().expect("an object");
            let problem = Argument::new(path, schema).expect_err("a problem");
            assert_eq!(problem, expected);
        }
        for schema in [
            json!({ "pattern": "(a)\\1" }),
            json!({ "pattern": "(" }),
            json!({ "maximum": "5" }),
            json!({ "type": "text" }),
        ] {
            let object = schema.as_object().expect("an object");
            Argument::new("a", object).expect_err("a problem");
        }
    }

    #[test]
    fn a_model_reads_what_it_sent_and_what_matches() {
        let most = argument("amount?", json!({ "minimum": 0, "maximum": 100 }));
        let arguments = json!({ "amount": 250 });
        let given = most.given(arguments.as_object().expect("an object"));
        assert_eq!(given, "with amount = 250");
        assert_eq!(most.expected(), "amount: number from 0 to 100, or absent");
        assert_eq!(most.given(&JsonObject::new()), "without amount");
        let dotted = argument(r"to\.iban.x", json!({ "const": "a" }));
        assert_eq!(dotted.expected(), r"to\.iban.x: a");
        let one = argument("to.country", json!({ "enum": ["DE", "FR"] }));
        assert_eq!(one.expected(), "to.country: DE or FR");
        let items = argument("items[].id?", json!({ "const": "a" }));
        for (argument, arguments, expected) in [
            (&one, json!({ "to": null }), "with to = null"),
            (&one, json!({ "to": {} }), "without to.country"),
            (&items, json!({ "items": {} }), "with items = {}"),
            (&items, json!({ "items": ["x"] }), "with items[] = \"x\""),
        ] {
            let given = argument.given(arguments.as_object().expect("an object"));
            assert_eq!(given, expected);
        }
    }
}
