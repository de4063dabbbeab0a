//! Broken schemas are reported: nothing panics, and the output is always Rust.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use xtp_codegen::{Code, Input, Options, generate};

use crate::{library, yaml};

/// The schemas of all goldens, in order.
fn schemas() -> Vec<String> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let entries = fs::read_dir(golden).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = paths
        .iter()
        .map(|path| fs::read_to_string(path.join("schema.yaml")));
    texts.collect::<Result<_, _>>().unwrap()
}

/// Generates from a schema that may be broken in any way.
fn survive(text: &str) {
    match generate(&Input::new("schema.yaml", text), &Options::new()) {
        Ok(rust) => drop(syn::parse_file(&rust).unwrap()),
        Err(problems) => {
            let internal = problems
                .iter()
                .any(|problem| problem.code == Code::Internal);
            assert!(!internal, "{text}\n{problems}");
        }
    }
}

/// Generates from a broken document, in which the official library finds no more than the compatible mode.
fn survive_and_agree(document: &Value) {
    let text = document.to_string();
    survive(&text);
    library(&text);
}

/// The pointers to all values in a document, parents first.
fn pointers(value: &Value, here: &str, into: &mut Vec<String>) {
    into.push(here.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{here}/{index}"), into);
            }
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                pointers(value, &format!("{here}/{key}"), into);
            }
        }
        _ => {}
    }
}

fn remove(document: &mut Value, pointer: &str) {
    let Some((parent, key)) = pointer.rsplit_once('/') else {
        return;
    };
    match document.pointer_mut(parent) {
        Some(Value::Array(items)) => drop(items.remove(key.parse().unwrap())),
        Some(Value::Object(entries)) => drop(entries.remove(key)),
        _ => {}
    }
}

/// Replacements for a value. Several of them are valid for some keys and invalid for others.
fn replacements() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(-1.5),
        json!(""),
        json!("object"),
        json!("array"),
        json!("int8"),
        json!("#/components/schemas/Empty"),
        json!("#/components/schemas/"),
        json!([]),
        json!(["Self", "self", "Self"]),
        json!({}),
        json!({"type": "object"}),
        json!({"type": "array", "items": {"$ref": "#/components/schemas/Slot"}}),
        json!({"properties": {"a": {"type": "string"}, "A": {"type": "string"}}}),
        json!({"enum": ["a", 1, null, "\u{0}", "é"]}),
    ]
}

#[test]
fn survives_every_value_being_removed_or_replaced() {
    let replacements = replacements();
    let mut next = 0;
    let mut inputs = 0;
    for schema in schemas() {
        let document = yaml::to_json(&schema);
        let mut places = Vec::new();
        pointers(&document, "", &mut places);
        for place in &places {
            let mut removed = document.clone();
            remove(&mut removed, place);
            survive_and_agree(&removed);
            for _ in 0..2 {
                let mut replaced = document.clone();
                *replaced.pointer_mut(place).unwrap() =
                    replacements[next % replacements.len()].clone();
                survive_and_agree(&replaced);
                // Coprime to the number of replacements, so that every value gets different ones.
                next += 7;
            }
            inputs += 3;
        }
    }
    assert!(inputs > 600, "only {inputs} inputs");
}

#[test]
fn survives_every_line_being_removed_and_every_end() {
    for schema in schemas() {
        let lines: Vec<&str> = schema.lines().collect();
        for index in 0..lines.len() {
            let mut rest = lines.clone();
            rest.remove(index);
            survive(&rest.join("\n"));
        }
        for end in (0..schema.len()).step_by(13) {
            survive(schema.get(..end).unwrap_or_default());
        }
    }
}

#[test]
fn survives_nesting_without_end() {
    for (open, count) in [
        ("[", 100_000),
        ("{a: ", 100_000),
        ("- ", 100_000),
        ("? ", 5_000),
    ] {
        survive(&open.repeat(count));
    }
    let steps: Vec<String> = (0..150)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    survive(&steps.concat());
    let aliases: Vec<String> = (1..40)
        .map(|n| format!("- &a{n} [*a{0}, *a{0}]\n", n - 1))
        .collect();
    survive(&format!("- &a0 x\n{}", aliases.concat()));
    let lists = "{type: array, items: ".repeat(60);
    let nested = format!("{lists}{{type: string}}{}", "}".repeat(60));
    survive(&format!(
        "version: v1-draft\nexports: {{}}\ncomponents: {{schemas: {{A: {{properties: {{a: {nested}}}}}}}}}"
    ));
}

#[test]
fn reads_a_long_chain_of_schemas() {
    let names: Vec<String> = (0..500).map(|n| format!("T{n}")).collect();
    let schema = |pair: &[String]| {
        format!(
            "    {}: {{properties: {{next: {{$ref: '#/components/schemas/{}'}}}}}}\n",
            pair[0], pair[1]
        )
    };
    let schemas: String = names.windows(2).map(schema).collect();
    survive(&format!(
        "version: v1-draft\nexports: {{}}\ncomponents:\n  schemas:\n{schemas}    T499: {{enum: [end]}}\n"
    ));
}

/// All names of up to three characters, each of a different kind, and the keywords of Rust.
fn names() -> Vec<String> {
    let mut names: Vec<String> = vec![String::new()];
    for start in [0, 1, 6] {
        let longer = names[start..].to_vec();
        for sign in ["a", "B", "1", "_", "$"] {
            names.extend(longer.iter().map(|name| format!("{name}{sign}")));
        }
    }
    let words = "abstract as async await become box break const continue crate do dyn else enum extern \
        false final fn for gen if impl in let loop macro match mod move mut override priv pub ref return \
        Self self static struct super trait true try type typeof unsafe unsized use virtual where while \
        yield union auto default raw dyn static_ HTTPServer iPhone userID2 A2B Ok Err None Box Drop";
    names.extend(words.split_whitespace().map(str::to_owned));
    names
}

#[test]
fn generates_rust_from_every_name() {
    for name in names()
        .iter()
        .filter(|name| name.starts_with(|c: char| !c.is_ascii_digit()))
    {
        let schema = json!({"version": "v1-draft", "exports": {}, "components": {"schemas": {
            name: {"required": [name], "properties": {name: {"type": "string"}}},
        }}});
        let text = schema.to_string();
        let rust = generate(&Input::new("schema.yaml", &text), &Options::new()).unwrap();
        syn::parse_file(&rust).unwrap();
        let schema = json!({"version": "v1-draft", "exports": {}, "components": {"schemas": {
            name: {"enum": [name]},
        }}});
        let text = schema.to_string();
        let rust = generate(&Input::new("schema.yaml", &text), &Options::new()).unwrap();
        syn::parse_file(&rust).unwrap();
    }
}
