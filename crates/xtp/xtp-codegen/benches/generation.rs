//! Measures how long a schema of 77 types takes, as a multiple of what typify and prettyplease alone take for the
//! same types: `cargo bench --package xtp-codegen`.
//!
//! Both run in turn, so that other load of the machine affects both. Ours reads YAML, checks it, and writes docs,
//! names and attributes; the other starts from ready JSON Schema.

#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use schemars_0_8::schema::Schema as JsonSchema;
use serde_json::{Map, Value, json};
use typify_impl::{TypeSpace, TypeSpaceSettings};
use xtp_codegen::{Input, Options, Schema, generate};

const STRUCTS: usize = 60;
const ENUMS: usize = 17;
const ROUNDS: usize = 40;

/// The property of a number, in XTP and in JSON Schema.
fn property(number: usize) -> (Value, Value) {
    let reference = format!("#/components/schemas/Kind{}", number % ENUMS);
    let item = format!("#/components/schemas/Thing{}", number / 7);
    let text = "What it is, in a sentence that is long enough to be wrapped in the source.";
    let both = |value: Value| (value.clone(), value);
    match number % 7 {
        0 => both(json!({"type": "string", "description": text})),
        1 => both(json!({"type": "integer", "format": "int32"})),
        2 => (
            json!({"type": "string", "nullable": true, "description": text}),
            json!({"type": ["string", "null"], "description": text}),
        ),
        3 => both(json!({"$ref": reference, "description": text})),
        4 if number > 60 => both(
            json!({"type": "array", "items": {"$ref": item.replace(&(number / 7).to_string(), "0")}}),
        ),
        5 => both(json!({"type": "object", "additionalProperties": {"type": "number"}})),
        _ => both(json!({"type": "boolean"})),
    }
}

/// The same types as an XTP document and as definitions of JSON Schema.
fn types() -> (Value, Vec<(String, Value)>) {
    let (mut schemas, mut definitions) = (Map::new(), Vec::new());
    for number in 0..STRUCTS {
        let (mut xtp, mut plain) = (Map::new(), Map::new());
        for index in 0..7 {
            let (one, other) = property(number * 7 + index);
            xtp.insert(format!("propertyNumber{index}"), one);
            plain.insert(format!("propertyNumber{index}"), other);
        }
        let name = format!("Thing{number}");
        let required = ["propertyNumber0", "propertyNumber3"];
        let mut add = |key: &str, value: &Value| {
            schemas.insert(key.to_owned(), value.clone());
        };
        add(
            &name,
            &json!({"description": "A thing.", "required": required, "properties": xtp}),
        );
        let plain = json!({"type": "object", "description": "A thing.", "required": required, "properties": plain});
        definitions.push((name, plain));
    }
    for number in 0..ENUMS {
        let values = ["one", "another_one", "yetAnother"];
        let name = format!("Kind{number}");
        schemas.insert(name.clone(), json!({"enum": values}));
        definitions.push((name, json!({"type": "string", "enum": values})));
    }
    let document =
        json!({"version": "v1-draft", "exports": {}, "components": {"schemas": schemas}});
    (document, definitions)
}

/// JSON as YAML in block style.
fn yaml(value: &Value, indent: usize, out: &mut String) {
    let start = format!("\n{}", "  ".repeat(indent));
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                out.extend([start.as_str(), key.as_str(), ":"]);
                yaml(value, indent + 1, out);
            }
        }
        Value::Array(items) => {
            for item in items {
                out.extend([&start, "-"]);
                yaml(item, indent + 1, out);
            }
        }
        scalar => out.extend([" ", &scalar.to_string()]),
    }
}

fn read(text: &str) -> String {
    let schema = Schema::parse(&Input::new("schema.yaml", text));
    format!("{:?}", schema.expect("the schema is sound").warnings())
}

fn ours(text: &str) -> String {
    let input = Input::new("schema.yaml", text);
    generate(&input, &Options::new()).expect("the schema is sound")
}

fn typify_alone(definitions: &[(String, Value)]) -> String {
    let schemas = definitions.iter().map(|(name, value)| {
        let schema = serde_json::from_value::<JsonSchema>(value.clone());
        (name.clone(), schema.expect("it is JSON Schema"))
    });
    let mut space = TypeSpace::new(&TypeSpaceSettings::default());
    space.add_ref_types(schemas).expect("typify knows it all");
    let file = syn::parse2(space.to_stream()).expect("typify writes Rust");
    prettyplease::unparse(&file)
}

fn timed(run: impl FnOnce() -> String) -> Duration {
    let start = Instant::now();
    black_box(run());
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn main() {
    let (document, definitions) = types();
    let mut text = String::new();
    yaml(&document, 0, &mut text);
    let count = definitions.len();
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    let mut read_times = Vec::new();
    for round in 0..=ROUNDS {
        let one = timed(|| ours(&text));
        let other = timed(|| typify_alone(&definitions));
        // The first round warms up.
        if round > 0 {
            read_times.push(timed(|| read(&text)));
            our_times.push(one);
            their_times.push(other);
        }
    }
    let (one, other) = (median(our_times), median(their_times));
    let reading = median(read_times);
    let ratio = one.as_secs_f64() / other.as_secs_f64();
    println!(
        "{count} types from YAML to Rust: {one:.1?}, including {reading:.1?} for reading and checking; typify and prettyplease alone: {other:.1?}; ratio {ratio:.2}"
    );
}
