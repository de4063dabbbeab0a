//! What the schema of the registry says about the form of a document: the types of members, and which of them are required.

use mcp_servlet_common::quoted;
use serde_json::Value;

use super::{list, refused};
use crate::finding::Finding;

/// The transports of a package.
const TRANSPORTS: [&str; 3] = ["stdio", "streamable-http", "sse"];

/// The kinds of arguments.
const ARGUMENTS: [&str; 2] = ["positional", "named"];

/// The formats of values.
const FORMATS: [&str; 4] = ["string", "number", "boolean", "filepath"];

/// Whether a value has a type.
type IsType = fn(&Value) -> bool;

/// Members of a document with their types. Others are required, or checked elsewhere.
const MEMBERS: [(&str, IsType, &str); 7] = [
    ("title", Value::is_string, "a string"),
    ("websiteUrl", Value::is_string, "a string"),
    ("repository", Value::is_object, "an object"),
    ("_meta", Value::is_object, "an object"),
    ("icons", Value::is_array, "a list"),
    ("packages", Value::is_array, "a list"),
    ("remotes", Value::is_array, "a list"),
];

/// Members of a package that are lists.
const LISTS: [&str; 3] = [
    "environmentVariables",
    "packageArguments",
    "runtimeArguments",
];

pub(super) fn check_form(document: &Value) -> Vec<Finding> {
    let mut found = Vec::new();
    for (member, is_type, expected) in MEMBERS {
        found.extend(wrong_type(document, member, is_type, expected));
    }
    let repository = &document["repository"];
    if repository.is_object() {
        let missing = ["url", "source"].into_iter();
        let missing = missing.filter(|member| !repository[*member].is_string());
        found.extend(missing.map(|member| {
            refused(
                "registry-missing",
                format!("`repository` has no `{member}`"),
                "write `url` as `https://github.com/OWNER/NAME`, and `source` as `github` or `gitlab`; or leave out `repository`",
            )
        }));
    }
    for package in list(document, "packages") {
        check_package(package, &mut found);
    }
    for remote in list(document, "remotes") {
        check_inputs(list(remote, "headers"), "a header of a remote", &mut found);
    }
    found
}

fn wrong_type(value: &Value, member: &str, is_type: IsType, expected: &str) -> Option<Finding> {
    let found = value.get(member)?;
    (!is_type(found)).then(|| {
        refused(
            "registry-type",
            format!("`{member}` is not {expected}"),
            format!("write {expected}, or leave out `{member}`"),
        )
    })
}

fn check_package(package: &Value, found: &mut Vec<Finding>) {
    let name = package["identifier"].as_str().unwrap_or_default();
    let package_name = format!("the package `{name}`");
    for member in LISTS {
        found.extend(wrong_type(package, member, Value::is_array, "a list"));
    }
    found.extend(transport(&package["transport"], &package_name));
    let variables = list(package, "environmentVariables");
    let what = format!("an environment variable of {package_name}");
    check_inputs(variables, &what, found);
    for member in ["packageArguments", "runtimeArguments"] {
        let what = format!("an argument of {package_name}");
        for argument in list(package, member) {
            found.extend(not_one_of(&argument["type"], &ARGUMENTS, &what, "type"));
            found.extend(format_of(argument, &what));
        }
    }
}

/// Checks how a client speaks with the program in a package.
fn transport(transport: &Value, package: &str) -> Option<Finding> {
    if transport["type"].is_null() {
        return Some(refused(
            "registry-missing",
            format!("{package} has no `transport` with a `type`"),
            "write `\"transport\": { \"type\": \"stdio\" }` for a program that clients start",
        ));
    }
    let what = format!("the `transport` of {package}");
    let unknown = not_one_of(&transport["type"], &TRANSPORTS, &what, "type");
    unknown.or_else(|| {
        let lacks_url = transport["type"] != "stdio" && !transport["url"].is_string();
        lacks_url.then(|| {
            refused(
                "registry-missing",
                format!("{what} has no `url`"),
                "write the URL at which the program serves, such as `http://127.0.0.1:8080/mcp`",
            )
        })
    })
}

/// Checks values with names, such as environment variables.
fn check_inputs<'v>(inputs: impl Iterator<Item = &'v Value>, what: &str, found: &mut Vec<Finding>) {
    for input in inputs {
        if input["name"].as_str().is_none_or(str::is_empty) {
            found.push(refused(
                "registry-missing",
                format!("{what} has no `name`"),
                "write its name",
            ));
        }
        found.extend(format_of(input, what));
    }
}

/// Checks the format of a value, and those of its variables.
fn format_of(input: &Value, what: &str) -> Option<Finding> {
    let variables = input["variables"].as_object().into_iter();
    let mut values = variables
        .flat_map(|variables| variables.values())
        .chain([input]);
    values.find_map(|value| not_one_of(value.get("format")?, &FORMATS, what, "format"))
}

fn not_one_of(value: &Value, known: &[&str], what: &str, member: &str) -> Option<Finding> {
    let is_known = value.as_str().is_some_and(|text| known.contains(&text));
    (!is_known).then(|| {
        refused(
            "registry-type",
            format!("{what} has the `{member}` {value}"),
            format!("write one of {}", quoted(known)),
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn broken(document: &Value) -> Vec<(&'static str, String)> {
        let found = check_form(document).into_iter();
        found
            .map(|finding| (finding.rule, finding.problem))
            .collect()
    }

    /// A document with a package that has this member.
    fn package(member: &str, value: Value) -> Value {
        let mut package = json!({ "identifier": "weather", "transport": { "type": "stdio" } });
        package[member] = value;
        json!({ "packages": [package] })
    }

    #[test]
    fn a_whole_document_is_right() {
        let document = json!({
            "title": "Weather",
            "repository": { "url": "https://github.com/ada/weather", "source": "github" },
            "packages": [{
                "identifier": "weather",
                "transport": { "type": "streamable-http", "url": "http://127.0.0.1:8080/mcp" },
                "environmentVariables": [{ "name": "KEY", "format": "string" }],
                "packageArguments": [{
                    "type": "named", "name": "--dir", "value": "{dir}",
                    "variables": { "dir": { "format": "filepath" } },
                }],
            }],
            "remotes": [{ "headers": [{ "name": "Authorization" }] }],
        });
        let found = broken(&document);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn members_have_types_and_packages_have_what_clients_need() {
        let (missing, kind) = ("registry-missing", "registry-type");
        for (document, rule, problem) in [
            (json!({ "packages": "x" }), kind, "`packages` is not a list"),
            (
                json!({ "repository": { "url": "https://github.com/ada/weather" } }),
                missing,
                "`repository` has no `source`",
            ),
            (
                package("transport", Value::Null),
                missing,
                "the package `weather` has no `transport` with a `type`",
            ),
            (
                package("transport", json!({ "type": "http" })),
                kind,
                "the `transport` of the package `weather` has the `type` \"http\"",
            ),
            (
                package("transport", json!({ "type": "sse" })),
                missing,
                "the `transport` of the package `weather` has no `url`",
            ),
            (
                package("environmentVariables", json!([{ "value": "x" }])),
                missing,
                "an environment variable of the package `weather` has no `name`",
            ),
            (
                package(
                    "environmentVariables",
                    json!([{ "name": "N", "format": "integer" }]),
                ),
                kind,
                "an environment variable of the package `weather` has the `format` \"integer\"",
            ),
            (
                package("packageArguments", json!([{ "name": "--port" }])),
                kind,
                "an argument of the package `weather` has the `type` null",
            ),
        ] {
            assert_eq!(
                broken(&document),
                [(rule, problem.to_owned())],
                "{document}"
            );
        }
    }
}
