//! What `servlet config check --load` says about each mistake in a configuration.
//!
//! Each file in this folder has cases. A case is a `servlet.toml`, a line with the step that finds the mistake, and the
//! message. `--- check` finds it in the file alone, `--- load` with the servlets, and `--- findings` is what `servlet serve`
//! warns about. Each case is followed by the section of
//! the servlet `weather`, which is not written out.
//!
//! `UPDATE_GOLDENS=1` writes the messages.

#[path = "../../../mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use mcp_servlet_config::{Config, FindingKind, Findings, Served};
use mcp_servlet_host::Loaded;
use serde_json::{Value, json};
use support::{Wat, caller::CALL_TOOL};
use tempfile::TempDir;

const WEATHER: &str = "[servlet.weather]\nsource = \"weather.wasm\"\n";

/// What separates two cases.
const NEXT: &str = "=====\n";

/// The tools of the servlets of all cases.
const SERVLETS: &str = include_str!("servlets.json");

/// What the servlet `planner4` declares that it calls.
const NEEDS: &str = r#"(@custom "mcp-servlet:needs" "{\"calls\":[\"weather:get_weather\",\"air:*\"],\"reads\":[\"stay:rules://*\"]}")"#;

/// A folder with the servlets of all cases.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let servlets: BTreeMap<String, Value> = serde_json::from_str(SERVLETS).expect("JSON");
    for (name, tools) in servlets {
        let description = json!({ "tools": tools }).to_string();
        let mut servlet = Wat::new().describe(&description).answer("{}");
        if name.starts_with("planner") {
            servlet = servlet.import(CALL_TOOL);
        }
        if name == "planner4" {
            servlet = servlet.after(NEEDS);
        }
        if name == "stay" {
            servlet = servlet.export("read_resource", r#"{"contents":[]}"#, "(i32.const 0)");
        }
        let path = folder.path().join(format!("{name}.wasm"));
        fs::write(path, servlet.wasm()).expect("a file");
    }
    let point = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let keys = json!({ "keys": [{ "kty": "EC", "crv": "P-256", "x": point, "y": point }] });
    let none = json!({ "keys": [{ "kty": "oct", "k": "AA" }] });
    for (name, content) in [
        ("notes.wasm", "notes"),
        ("empty.wasm", ""),
        ("keys.json", &keys.to_string()),
        ("none.json", &none.to_string()),
    ] {
        fs::write(folder.path().join(name), content).expect("a file");
    }
    folder
}

/// The step that finds a problem, and what it says.
fn outcome(folder: &Path, config: &str) -> String {
    let path = folder.join("servlet.toml");
    fs::write(&path, format!("{config}{WEATHER}")).expect("a file");
    let in_file = Config::check(&path).err().map(|error| error.to_string());
    let (step, text) = match Config::check_with_mistakes(&path) {
        Err(error) => ("check", error.to_string()),
        Ok(config) => match config.load(None) {
            Err(error) if in_file == Some(error.to_string()) => ("check", error.to_string()),
            Err(error) => ("load", error.to_string()),
            Ok(loaded) => match findings(&config, &loaded) {
                text if text.is_empty() => return "--- valid\n".to_owned(),
                text => ("findings", text),
            },
        },
    };
    let text = text.replace(&format!("{}/", folder.display()), "");
    assert!(!text.contains("s3cret"), "{text}");
    let lines = text.lines().map(str::trim_end).collect::<Vec<_>>();
    format!("--- {step}\n{}\n", lines.join("\n"))
}

/// What `serve` warns about.
fn findings(config: &Config, loaded: &Loaded) -> String {
    let findings = config.findings(Served {
        loaded,
        remotes: None,
        not_ready: &[],
    });
    let all = findings.iter().map(|finding| {
        let help = finding.help.as_deref();
        let help = help.map_or_else(String::new, |help| format!("\n  help: {help}"));
        format!("{}: {}{help}", finding.kind, findings.shown(finding))
    });
    all.collect::<Vec<_>>().join("\n")
}

/// The configuration of a case, without the message.
fn config(case: &str) -> &str {
    let end = case.find("--- ").unwrap_or(case.len());
    &case[..end]
}

/// Checks the cases of a file.
fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config_check");
    let path = path.join(name);
    let text = fs::read_to_string(&path).expect("a file");
    let folder = folder();
    let cases = text.split(NEXT);
    let found =
        cases.map(|case| format!("{}{}", config(case), outcome(folder.path(), config(case))));
    let found: Vec<String> = found.collect();
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        fs::write(&path, found.join(NEXT)).expect("a file");
    }
    let wrong: Vec<_> = text
        .split(NEXT)
        .zip(&found)
        .filter(|(old, new)| old != new)
        .collect();
    for (expected, found) in &wrong {
        eprintln!("expected:\n{expected}\nfound:\n{found}");
    }
    assert!(wrong.is_empty(), "{} cases of {name} differ", wrong.len());
    assert!(!text.contains("--- valid"), "each case has a problem");
}

#[test]
fn members() {
    check("members.txt");
}

#[test]
fn handlers() {
    check("handlers.txt");
}

#[test]
fn steps() {
    check("steps.txt");
}

#[test]
fn expressions() {
    check("expressions.txt");
}

#[test]
fn results() {
    check("results.txt");
}

#[test]
fn registries() {
    check("registries.txt");
}

#[test]
fn remotes() {
    check("remotes.txt");
}

#[test]
fn endpoints() {
    check("endpoints.txt");
}

#[test]
fn shapes() {
    check("shape.txt");
}

#[test]
fn grants() {
    check("grants.txt");
}

#[test]
fn callers() {
    check("auth.txt");
}

#[test]
fn hooks() {
    check("hooks.txt");
}

#[test]
fn rules() {
    check("rules.txt");
}

#[test]
fn quotas() {
    check("quota.txt");
}

#[test]
fn records() {
    check("records.txt");
}

#[test]
fn shared_state() {
    check("state.txt");
}

#[test]
fn findings_of_servlets() {
    check("findings.txt");
}

#[test]
fn habits() {
    check("habits.txt");
}

#[test]
fn long_expressions() {
    let folder = folder();
    let tool = "[bundle.ops.tool.t]\nhandler = \"weather:get_weather\"\nset = { city = \"${{ ";
    for (expression, message) in [
        (
            " ".repeat(4096),
            "an expression can have at most 4096 bytes, found 4098",
        ),
        (
            format!("1{}", " + 1".repeat(200)),
            "an expression can be nested 96 deep; each operator in a row counts",
        ),
    ] {
        let found = outcome(folder.path(), &format!("{tool}{expression} }}}}\" }}\n"));
        let expected = format!("--- check\nservlet.toml:3:20: {message}\n");
        assert!(found.starts_with(&expected), "{found}");
    }
}

/// The paths of all keys in a part of the schema. `[]` is an item of a list, and `x` any name.
fn keys(schema: &Value, part: &Value, path: &[String], paths: &mut BTreeSet<Vec<String>>) {
    let inside = |key: &str| [path, &[key.to_owned()]].concat();
    if let Some(reference) = part["$ref"].as_str() {
        let target = schema.pointer(&reference[1..]).expect("a definition");
        return keys(schema, target, path, paths);
    }
    for variants in ["anyOf", "oneOf", "allOf"] {
        let variants = part[variants].as_array().into_iter().flatten();
        variants.for_each(|variant| keys(schema, variant, path, paths));
    }
    let properties = part["properties"].as_object().into_iter().flatten();
    let properties = properties.map(|(key, part)| (key.as_str(), part));
    let others = [("x", "additionalProperties"), ("[]", "items")];
    let others = others
        .into_iter()
        .map(|(key, keyword)| (key, &part[keyword]));
    for (key, part) in properties.chain(others.filter(|(_, part)| part.is_object())) {
        if paths.insert(inside(key)) {
            keys(schema, part, &inside(key), paths);
        }
    }
}

#[test]
fn messages_have_the_words_of_toml() {
    let schema = Config::schema();
    let mut paths = BTreeSet::new();
    keys(&schema, &schema, &[], &mut paths);
    assert!(paths.len() > 200, "{}", paths.len());
    let folder = folder();
    let file = folder.path().join("servlet.toml");
    // What serde and the toml crate call types.
    let foreign = [
        "i64",
        "i32",
        "u64",
        "u32",
        "u16",
        "u8",
        "usize",
        "f64",
        "floating",
        "sequence",
        "map",
        "unit",
        "variant",
        "newtype",
        "struct",
        "invalid type",
        "invalid value",
        "did not match",
        "NonZero",
    ];
    let mut wrong = BTreeMap::new();
    for path in &paths {
        for value in ["1.5", "-1", "\"text\"", "true", "[]", "{ y = 1 }"] {
            let nested = path[1..]
                .iter()
                .rev()
                .fold(value.to_owned(), |value, key| match &**key {
                    "[]" => format!("[{value}]"),
                    key => format!("{{ \"{key}\" = {value} }}"),
                });
            fs::write(&file, format!("\"{}\" = {nested}\n", path[0])).expect("a file");
            let Err(error) = Config::check(&file) else {
                continue;
            };
            for problem in error.located() {
                let message = problem.message;
                let words = message.split(|one: char| !one.is_alphanumeric() && one != ' ');
                let words: Vec<_> = words.flat_map(|part| part.split(' ')).collect();
                let is_foreign = |term: &&&str| {
                    if term.contains(' ') {
                        message.contains(**term)
                    } else {
                        words.contains(term)
                    }
                };
                if foreign.iter().any(|term| is_foreign(&term)) {
                    wrong.insert(message, format!("{} = {value}", path.join(".")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The tools of a remote that is not required do not prevent the server from serving, so `serve` only warns of these mistakes.
#[test]
fn mistakes_in_rules_are_found_once() {
    let folder = folder();
    let path = folder.path().join("servlet.toml");
    let text = "[endpoint.pipe]\nkind = \"stdio\"\nrules = [{ allow = [\"add_note\"], arguments = { pages = { minimum = 20 } } }]\n\
                [servlet.book]\nsource = \"book.wasm\"\n";
    fs::write(&path, text).expect("a file");
    let config = Config::check(&path).expect("a configuration");
    let loaded = config.load_unproven(None).expect("servlets");
    let mut findings = config.findings(Served {
        loaded: &loaded,
        remotes: None,
        not_ready: &[],
    });
    let counts = |findings: &Findings| {
        [FindingKind::Error, FindingKind::Warning].map(|kind| findings.count(kind))
    };
    assert_eq!(counts(&findings), [0, 1]);
    let error = config.prove(&loaded, &[]).expect_err("a mistake");
    findings.add_error(error).expect("problems of the file");
    assert_eq!(counts(&findings), [1, 0]);
}
