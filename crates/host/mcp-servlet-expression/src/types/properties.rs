//! What must hold for types of random schemas, values and expressions.

use std::cell::Cell;

use mcp_servlet_schema::Validator;
use proptest::{
    collection::vec,
    prelude::any,
    test_runner::{Config, TestCaseError, TestRunner},
};
use serde_json::{Map, Value, json};

use super::{Fit, Kinds, Others, Type};
use crate::{Budget, Expression, Failure, Part, Scope};

const FUNCTIONS: [&str; 9] = [
    "size", "string", "int", "double", "text", "dyn", "json", "bool", "type",
];

const METHODS: [&str; 10] = [
    "lowerAscii()",
    "split(',')",
    "join('-')",
    "size()",
    "indexOf('a')",
    "trim()",
    "contains('a')",
    "matches('^a')",
    "replace('a', 'b')",
    "reverse()",
];

/// Decides at random, and shrinks to the first choices.
struct Choices(std::vec::IntoIter<u8>);

impl Choices {
    fn below(&mut self, count: usize) -> usize {
        usize::from(self.0.next().unwrap_or(0)) % count
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn is(&mut self) -> bool {
        self.below(2) == 1
    }

    fn schema(&mut self, depth: usize) -> Value {
        let simple = ["string", "integer", "number", "boolean", "null"];
        match self.below(if depth == 0 { 7 } else { 13 }) {
            0..5 => json!({ "type": self.one_of(&simple) }),
            5 => json!({ "type": [self.one_of(&simple[..2]), self.one_of(&simple[2..])] }),
            6 => json!({ "enum": [self.value(1), self.value(1)] }),
            7 => json!({ "type": "array", "items": self.schema(depth - 1) }),
            8 => json!({ "anyOf": [self.schema(depth - 1), self.schema(depth - 1)] }),
            9 if depth < 2 => json!({}),
            _ => self.object(depth),
        }
    }

    fn object(&mut self, depth: usize) -> Value {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for name in ["a", "b", "c"] {
            if self.is() {
                properties.insert(name.to_owned(), self.schema(depth - 1));
                if self.is() {
                    required.push(name);
                }
            }
        }
        let mut schema =
            json!({ "type": "object", "properties": properties, "required": required });
        match self.below(3) {
            0 => schema["additionalProperties"] = false.into(),
            1 => schema["additionalProperties"] = true.into(),
            _ => {}
        }
        schema
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 8 } else { 10 }) {
            0 => json!("a"),
            1 => json!(3),
            2 => json!(2.0),
            3 => json!(0.5),
            4 => json!(true),
            5 => json!(null),
            6 => json!("5"),
            7 => json!(u64::MAX),
            8 => json!([self.value(depth - 1)]),
            _ => json!({ "a": self.value(depth - 1) }),
        }
    }

    /// A value that a schema from [`schema`](Self::schema) accepts. Objects have no members that the schema does not name.
    fn sample(&mut self, schema: &Value) -> Value {
        if let Some(variants) = schema.get("anyOf").and_then(Value::as_array) {
            let variant = &variants[self.below(variants.len())];
            return self.sample(variant);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return values[self.below(values.len())].clone();
        }
        let kind = match &schema["type"] {
            Value::Array(names) => names[self.below(names.len())].as_str(),
            name => name.as_str(),
        };
        match kind {
            Some("string") => self.one_of(&["a", "5", "x,y", ""]).into(),
            Some("integer") => {
                [json!(3), json!(-1), json!(2.0), json!(u64::MAX)][self.below(4)].clone()
            }
            Some("number") => [json!(3), json!(0.5), json!(1e300)][self.below(3)].clone(),
            Some("boolean") => self.is().into(),
            Some("null") => Value::Null,
            Some("array") => (0..self.below(3))
                .map(|_| self.sample(&schema["items"]))
                .collect(),
            Some(_) => self.members(schema),
            None => self.value(2),
        }
    }

    fn members(&mut self, schema: &Value) -> Value {
        let required = schema["required"].as_array().expect("a list");
        let properties = schema["properties"].as_object().expect("an object");
        let mut members = Map::new();
        for (name, part) in properties {
            if required.iter().any(|one| one == name) || self.is() {
                members.insert(name.clone(), self.sample(part));
            }
        }
        members.into()
    }

    /// An expression that reads the names. A strict one evaluates all its parts.
    fn expression(&mut self, names: &[&str], depth: usize, is_strict: bool) -> String {
        let Some(below) = depth.checked_sub(1) else {
            return self.path(names, is_strict);
        };
        let [a, b] = [0; 2].map(|_| self.expression(names, below, is_strict));
        match self.below(if is_strict { 14 } else { 20 }) {
            0..3 => self.path(names, is_strict),
            3 => self
                .one_of(&["1", "2.5", "'a'", "true", "null", "[]", "{}", "5u"])
                .to_owned(),
            4 | 5 => format!("({a} {} {b})", self.one_of(&["+", "-", "*", "/", "%"])),
            6 => format!("({a} {} {b})", self.one_of(&["<", ">=", "==", "!=", "in"])),
            7 => format!("({}{a})", self.one_of(&["-", "!"])),
            8 => format!("[{a}, {b}]"),
            9 => format!("{{'a': {a}, 'b': {b}}}"),
            10 => format!("{}({a})", self.one_of(&FUNCTIONS)),
            11 | 12 => format!("{a}.{}", self.one_of(&METHODS)),
            13 => format!("{a}{}", self.one_of(&[".a", ".b", "[0]", "['a']"])),
            14..17 => self.looped(names, below, &a),
            _ => self.optional(&a, &b),
        }
    }

    /// A loop over a value.
    fn looped(&mut self, names: &[&str], depth: usize, value: &str) -> String {
        let variable = ["x", "y"][depth % 2];
        let names = [names, &[variable]].concat();
        let [a, b] = [0; 2].map(|_| self.expression(&names, depth, false));
        match self.one_of(&["map", "map", "filter", "all", "exists", "exists_one", ""]) {
            "" => format!("{value}.map({variable}, {a}, {b})"),
            name => format!("{value}.{name}({variable}, {a})"),
        }
    }

    /// An expression that may not evaluate both values, or that makes one of them optional.
    fn optional(&mut self, a: &str, b: &str) -> String {
        match self.below(9) {
            0 => format!("{a}[{b}]"),
            1 => format!("(has({a}.a) ? {a} : {b})"),
            2 => format!("({a} {} {b})", self.one_of(&["&&", "||"])),
            3 => format!("{a}.orValue({b})"),
            4 => format!("{a}.or({b})"),
            5 => format!("{a}.{}", self.one_of(&["value()", "hasValue()"])),
            6 => format!(
                "{}({a})",
                self.one_of(&["optional.of", "optional.ofNonZeroValue"])
            ),
            7 => format!("[?{a}, {b}]"),
            _ => format!("{{?'a': {a}, 'b': {b}}}"),
        }
    }

    fn path(&mut self, names: &[&str], is_strict: bool) -> String {
        let mut path = self.one_of(names).to_owned();
        if path == "request" {
            path += self.one_of(
                &[".arguments", ".arguments", ".?arguments"][..2 + usize::from(!is_strict)],
            );
        }
        let steps = [".a", ".b", ".c", "[0]", "['a']", ".?a", ".?b", "[?0]"];
        for _ in 0..self.below(4) {
            path += self.one_of(&steps[..if is_strict { 5 } else { 8 }]);
        }
        path
    }
}

/// Runs a property for random cases. It returns what contradicts it, or whether the case says something; one of `part` cases must.
fn check_property(cases: u32, part: u32, property: impl Fn(&mut Choices) -> Result<bool, String>) {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let telling = Cell::new(0);
    TestRunner::new(config)
        .run(&vec(any::<u8>(), 0..200), |bytes| {
            let is_telling = property(&mut Choices(bytes.into_iter()));
            telling.set(telling.get() + u32::from(is_telling.map_err(TestCaseError::fail)?));
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    let telling = telling.get();
    assert!(telling * part >= cases, "{telling} of {cases} cases");
}

/// A contradiction, unless something holds.
fn unless(holds: bool, message: impl FnOnce() -> String) -> Result<bool, String> {
    if holds { Ok(true) } else { Err(message()) }
}

/// Whether a value has a type. `None` is an absent value.
fn has(found: &Type, value: Option<&Value>) -> bool {
    let Some(kinds) = found.kinds() else {
        return true;
    };
    let is = |kind| kinds.has(kind);
    match value {
        None => is(Kinds::ABSENT),
        Some(Value::Null) => is(Kinds::NULL),
        Some(Value::Bool(_)) => is(Kinds::BOOLEAN),
        Some(Value::String(_)) => is(Kinds::STRING),
        Some(Value::Number(number)) => {
            let is_whole = number.as_f64().is_some_and(|number| number.fract() == 0.0);
            is(if is_whole {
                Kinds::INTEGER
            } else {
                Kinds::NUMBER.without(Kinds::INTEGER)
            })
        }
        Some(Value::Array(items)) => {
            is(Kinds::LIST)
                && items
                    .iter()
                    .all(|item| has(found.optional_items().expect("items"), Some(item)))
        }
        Some(Value::Object(members)) => is(Kinds::OBJECT) && has_members(found, members),
    }
}

fn has_members(found: &Type, members: &Map<String, Value>) -> bool {
    let object = found.members_of_object().expect("members");
    let is_known = |name: &String| object.member(name).is_some() || object.others != Others::None;
    members.keys().all(is_known)
        && object
            .members
            .iter()
            .all(|(name, member)| match members.get(name) {
                Some(value) => has(&member.value, Some(value)),
                None => !member.is_required,
            })
}

/// The value of an expression and its type, if `request.arguments` and `item` have these schemas.
fn run(
    choices: &mut Choices,
    is_strict: bool,
) -> (String, crate::Inferred, Result<Option<Value>, Failure>) {
    let (arguments, item) = (choices.object(3), choices.schema(3));
    let text = choices.expression(&["request", "item"], 3, is_strict);
    let expression = Expression::parse(&text).unwrap_or_else(|found| panic!("{text}: {found:?}"));
    let request = Type::object([("arguments", Type::of_schema(&arguments, &arguments))]);
    let scope = [
        ("request", request),
        ("item", Type::of_schema(&item, &item)),
    ];
    let inferred = expression.infer(&scope);
    let request = json!({ "arguments": choices.sample(&arguments) });
    let sample = choices.sample(&item);
    let scope = Scope::default().with("request", Part::Json(&request));
    let value = expression.run(
        &scope.with("item", Part::Json(&sample)),
        &mut Budget::default(),
    );
    (
        format!("{text} with {request} and {sample} of {item}"),
        inferred,
        value,
    )
}

#[test]
fn a_sample_of_a_schema_has_its_type() {
    check_property(2000, 1, |choices| {
        let schema = choices.schema(3);
        let sample = choices.sample(&schema);
        let validator = Validator::new(&schema).expect("a schema");
        let found = Type::of_schema(&schema, &schema);
        let holds = validator.accepts(&sample) == Some(true) && has(&found, Some(&sample));
        unless(holds, || format!("{sample} of {schema}: {found:?}"))
    });
}

#[test]
fn the_value_of_an_expression_has_its_type() {
    check_property(5_000, 10, |choices| {
        let (text, inferred, value) = run(choices, false);
        let found = inferred.value;
        match value {
            Ok(value) if !has(&found, value.as_ref()) => {
                Err(format!("{text}: {value:?} is not {found:?}"))
            }
            Ok(Some(value)) => {
                let schema = found.to_schema();
                let validator = Validator::new(&schema).expect("a schema");
                unless(validator.accepts(&value) == Some(true), || {
                    format!("{text}: {value} does not match {schema}")
                })
                .map(|_| found != Type::ANY)
            }
            value => Ok(value.is_ok() && found != Type::ANY),
        }
    });
}

#[test]
fn what_is_wrong_has_no_value() {
    check_property(5_000, 10, |choices| {
        let (text, inferred, value) = run(choices, true);
        let wrong = inferred.wrong;
        if wrong.is_empty() {
            return Ok(false);
        }
        let has_value = matches!(value, Ok(Some(_)));
        unless(!has_value, || format!("{text}: {value:?}, but {wrong:?}"))
    });
}

#[test]
fn a_value_of_a_type_that_does_not_fit_is_not_accepted() {
    check_property(5_000, 10, |choices| {
        let (value, into) = (choices.schema(3), choices.schema(3));
        let type_of = |schema: &Value| Type::of_schema(schema, schema);
        let fit = type_of(&value).fit(&type_of(&into));
        if !matches!(fit, Fit::Misfit(_)) {
            return Ok(false);
        }
        let validator = Validator::new(&into).expect("a schema");
        for _ in 0..5 {
            let sample = choices.sample(&value);
            let is_refused = validator.accepts(&sample) == Some(false);
            unless(is_refused, || {
                format!("{sample} of {value} for {into}: {fit:?}")
            })?;
        }
        Ok(true)
    });
}

/// A type says less than a schema with `enum` or several variants. Without those, a type that fits is a proof.
#[test]
fn a_value_of_a_type_that_fits_is_accepted() {
    check_property(5_000, 20, |choices| {
        let (value, into) = (choices.schema(2), choices.schema(2));
        let type_of = |schema: &Value| Type::of_schema(schema, schema);
        let text = into.to_string();
        let is_exact = !text.contains("enum") && !text.contains("anyOf") && into != json!({});
        if !is_exact || type_of(&value).fit(&type_of(&into)) != Fit::Fits {
            return Ok(false);
        }
        let validator = Validator::new(&into).expect("a schema");
        let sample = choices.sample(&value);
        let is_accepted = sample.is_null() || validator.accepts(&sample) == Some(true);
        unless(is_accepted, || format!("{sample} of {value} for {into}"))
    });
}
