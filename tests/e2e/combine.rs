//! The servlet and the configuration of `docs/combine.md`. `./x clients combine` runs the page with the servers that it names.

use std::fs;

use e2e::{root, servlet};
use serde_json::{Value, json};

use crate::projects::{command, run, start, stdout};

#[test]
fn the_page_has_a_servlet_that_builds_and_a_configuration_that_is_valid() {
    let page = fs::read_to_string(root().join("docs/combine.md")).expect("a page");
    let block = |language: &str| {
        let (_, rest) = page
            .split_once(&format!("```{language}\n"))
            .expect("a block");
        rest.split_once("```").expect("its end").0
    };
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "flights", &[]);
    fs::write(project.join("src/lib.rs"), block("rust")).expect("a library");
    fs::write(project.join("servlet.toml"), block("toml")).expect("a configuration");
    let servlet = |arguments: &str| {
        let mut command = command(servlet(), &project);
        stdout(&run(command.args(arguments.split(' '))))
    };
    servlet("build -o .");
    let found = servlet("call flights.wasm search_flights to=Lima");
    let found: Value = serde_json::from_str(&found).expect("JSON");
    let expected = json!({
        "zone": "America/Lima",
        "flights": [{ "id": "LM2", "lands": "11:05", "price": 820 }],
    });
    assert_eq!(found, expected);
    let checked = servlet("config check servlet.toml --load");
    assert_eq!(
        checked,
        "servlet.toml: valid, 1 servlet, 2 remotes, 1 virtual tool\n"
    );
}
