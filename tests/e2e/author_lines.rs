//! Servlets that are written both with this project and with the official generator's code: checks that both behave
//! the same, and that `docs/sizes.md` has the number of lines of each.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use e2e::{Profile, cargo, root, target, wasm};
use mcp_servlet_host::{CallToolResult, Servlet};
use mcp_servlet_runtime::{CheckArguments, LoadOptions};
use serde_json::{Value, json};

use crate::installable::server;
use crate::support::{load, object, text};

/// The same servlet in both versions.
struct Pair {
    ours: Servlet,
    glue: Servlet,
}

/// The wasm of a servlet in `bench/glue`.
fn glue(name: &str) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    let folder = target().join("glue");
    BUILT.get_or_init(|| {
        let mut cargo = cargo();
        cargo
            .current_dir(root().join("bench"))
            .args(["build", "--locked", "--profile", "glue"])
            .args(["--package", "glue-*"])
            .args(["--target", "wasm32-unknown-unknown"])
            .arg("--target-dir")
            .arg(&folder);
        let status = cargo.status();
        assert!(
            status.expect("cargo runs").success(),
            "bench/glue does not build"
        );
    });
    folder.join(format!("wasm32-unknown-unknown/glue/glue_{name}.wasm"))
}

impl Pair {
    fn load(name: &str) -> Self {
        // Servlets must report invalid arguments themselves, because most hosts do not.
        let mut options = LoadOptions::default();
        options.arguments = CheckArguments::Off;
        options.allowed_hosts = vec!["127.0.0.1".to_owned()];
        Self {
            ours: load(&wasm(name, Profile::Servlet), &options),
            glue: load(&glue(name), &options),
        }
    }

    fn call(&self, tool: &str, arguments: &Value) -> [CallToolResult; 2] {
        [&self.ours, &self.glue].map(|servlet| {
            let result = servlet.call(tool, Some(object(arguments)));
            result.unwrap_or_else(|error| panic!("{tool}({arguments}): {error}"))
        })
    }

    /// Checks that both return the same result.
    fn same(&self, tool: &str, arguments: &Value) -> CallToolResult {
        let [ours, glue] = self.call(tool, arguments);
        assert_eq!(
            ours.json()["content"],
            glue.json()["content"],
            "{tool}({arguments})"
        );
        assert_eq!(ours.is_error(), glue.is_error(), "{tool}({arguments})");
        ours
    }

    /// Checks that both refuse the call and name this argument.
    fn refused(&self, tool: &str, arguments: &Value, name: &str) {
        self.all_refused(tool, arguments, &[name]);
    }

    /// Checks that both refuse the call and name all of these arguments.
    fn all_refused(&self, tool: &str, arguments: &Value, names: &[&str]) {
        for result in self.call(tool, arguments) {
            let message = text(&result);
            assert!(result.is_error(), "{tool}({arguments}): {message}");
            for name in names {
                assert!(message.contains(name), "{tool}({arguments}): {message}");
            }
        }
    }

    fn assert_same_tools(&self) {
        let tools = [&self.ours, &self.glue].map(|servlet| {
            let tools = servlet.tools().iter();
            let shown = tools.map(|tool| {
                let schema = Value::from(tool.input_schema().clone());
                json!([
                    tool.name(),
                    tool.json()["description"],
                    as_written_by_hand(schema)
                ])
            });
            shown.collect::<Vec<_>>()
        });
        assert_eq!(tools[0], tools[1]);
    }
}

/// A schema without an empty `required`, and without `additionalProperties`, which our macros add
/// and few authors write.
fn as_written_by_hand(mut schema: Value) -> Value {
    let members = schema.as_object_mut().expect("an object");
    if members.get("required") == Some(&json!([])) {
        members.remove("required");
    }
    members.remove("additionalProperties");
    schema
}

#[test]
fn both_fetch_the_same() {
    let (pair, server) = (Pair::load("fetch"), server());
    pair.assert_same_tools();
    let url = |path: &str| json!({ "url": format!("{server}{path}") });
    for path in ["/page", "/moved", "/data", "/picture", "/nothing"] {
        let result = pair.same("fetch", &url(path));
        assert_eq!(
            result.is_error(),
            ["/picture", "/nothing"].contains(&path),
            "{path}"
        );
    }
    for (option, value) in [
        ("raw", json!(true)),
        ("raw", json!(null)),
        ("max_length", json!(7)),
        ("start_index", json!(3)),
    ] {
        let mut arguments = url("/page");
        arguments[option] = value;
        assert!(!pair.same("fetch", &arguments).is_error());
    }
    assert!(pair.same("fetch", &json!({ "url": "ftp://a" })).is_error());
    assert!(
        pair.same(
            "fetch",
            &json!({ "url": url("/data")["url"], "start_index": 99 })
        )
        .is_error()
    );
    for (wrong, name) in [
        (json!({}), "url"),
        (json!({ "url": 7 }), "url"),
        (json!({ "url": "http://a", "max_length": 0 }), "max_length"),
        (
            json!({ "url": "http://a", "max_length": "many" }),
            "max_length",
        ),
        (
            json!({ "url": "http://a", "start_index": -1 }),
            "start_index",
        ),
        (json!({ "url": "http://a", "raw": "yes" }), "raw"),
        (json!({ "url": "http://a", "timeout": 1 }), "timeout"),
    ] {
        pair.refused("fetch", &wrong, name);
    }
}

#[test]
fn both_draw_the_same() {
    let pair = Pair::load("qr_code");
    pair.assert_same_tools();
    for arguments in [
        json!({ "text": "https://example.com/" }),
        json!({ "text": "grüße", "size": 1, "margin": 0, "format": null }),
        json!({ "text": "text", "error_correction": "high", "format": "png" }),
        json!({ "text": "text", "format": "svg", "error_correction": "low" }),
    ] {
        assert!(!pair.same("qr_code", &arguments).is_error());
    }
    assert!(
        pair.same("qr_code", &json!({ "text": "a".repeat(3000) }))
            .is_error()
    );
    for (wrong, name) in [
        (json!({}), "text"),
        (json!({ "text": null }), "text"),
        (json!({ "text": "a", "size": 17 }), "size"),
        (json!({ "text": "a", "margin": 17 }), "margin"),
        (json!({ "text": "a", "margin": -1 }), "margin"),
        (json!({ "text": "a", "format": "gif" }), "format"),
        (
            json!({ "text": "a", "error_correction": 2 }),
            "error_correction",
        ),
        (json!({ "text": "a", "colour": "red" }), "colour"),
    ] {
        pair.refused("qr_code", &wrong, name);
    }
}

#[test]
fn both_tell_the_same_time() {
    let pair = Pair::load("world_time");
    pair.assert_same_tools();
    let (noon, berlin) = ("2026-03-01T12:00Z", "2026-03-28T12:00[Europe/Berlin]");
    for (tool, arguments) in [
        (
            "convert_time",
            json!({ "time": berlin, "zone": "Asia/Tokyo" }),
        ),
        (
            "shift_time",
            json!({ "duration": "1 month 2 days", "time": berlin }),
        ),
        ("time_between", json!({ "from": noon, "to": berlin })),
        (
            "format_time",
            json!({ "time": berlin, "pattern": "%A, %-d %B %Y" }),
        ),
        (
            "parse_time",
            json!({ "text": "1.3.2026 12:00", "pattern": "%d.%m.%Y %H:%M" }),
        ),
        (
            "parse_time",
            json!({ "text": "1.3.2026", "pattern": "%d.%m.%Y", "zone": "Asia/Tokyo" }),
        ),
        (
            "next_time",
            json!({ "time": "00:00", "weekday": 7, "zone": null }),
        ),
    ] {
        assert!(
            !pair.same(tool, &arguments).is_error(),
            "{tool}({arguments})"
        );
    }
    for result in pair.call("current_time", &json!({ "zone": "Asia/Tokyo" })) {
        assert!(
            text(&result).ends_with("+09:00[Asia/Tokyo]"),
            "{}",
            text(&result)
        );
    }
    assert_invalid_times_are_refused(&pair);
}

fn assert_invalid_times_are_refused(pair: &Pair) {
    let noon = "2026-03-01T12:00Z";
    for (tool, wrong, name) in [
        ("current_time", json!({ "zone": "Mars/Olympus" }), "zone"),
        (
            "convert_time",
            json!({ "time": "noon", "zone": "UTC" }),
            "time",
        ),
        ("shift_time", json!({ "duration": "a while" }), "duration"),
        ("next_time", json!({ "time": "25:00" }), "time"),
        ("current_time", json!({ "zone": 7 }), "zone"),
        ("convert_time", json!({ "time": noon }), "/zone"),
        ("time_between", json!({ "from": noon, "to": null }), "to"),
        (
            "next_time",
            json!({ "time": "09:30", "weekday": 0 }),
            "weekday",
        ),
        (
            "next_time",
            json!({ "time": "09:30", "weekday": "Monday" }),
            "weekday",
        ),
        (
            "format_time",
            json!({ "time": noon, "pattern": "%A", "locale": "de" }),
            "locale",
        ),
    ] {
        pair.refused(tool, &wrong, name);
    }
    pair.all_refused(
        "convert_time",
        &json!({}),
        &["/time", "/zone", "the IANA name of a zone"],
    );
    pair.all_refused(
        "parse_time",
        &json!({}),
        &[
            "/text",
            "/pattern",
            "the pattern, in the syntax of strptime",
        ],
    );
}

#[test]
fn both_are_formatted() {
    let mut cargo = cargo();
    let checked = cargo
        .current_dir(root().join("bench"))
        .args(["fmt", "--all", "--check"])
        .status();
    assert!(checked.expect("cargo runs").success());
}

/// `./x bless` writes the numbers.
#[test]
fn the_lines_in_docs_are_those_that_are_written() {
    const START: &str = "| servlet | with `mcp-servlet` |";
    let output = cargo()
        .args(["xtask", "lines"])
        .output()
        .expect("cargo runs");
    let counted = String::from_utf8(output.stdout).expect("text");
    assert!(counted.starts_with(START), "{counted}");
    let path = root().join("docs/sizes.md");
    let docs = fs::read_to_string(&path).expect("the docs are text");
    let (before, rest) = docs.split_once(START).expect("a table");
    let (_, after) = rest
        .split_once("<!-- End of the lines. -->")
        .expect("its end");
    let right = format!("{before}{counted}\n<!-- End of the lines. -->{after}");
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        fs::write(path, right).expect("the docs are writable");
    } else {
        assert!(
            docs == right,
            "lines in docs/sizes.md, see `./x bless`:\n{counted}"
        );
    }
}
