//! The sizes of the examples, and the table in the README.

use std::collections::BTreeMap;
use std::path::Path;

use e2e::{ALL, LARGE, Profile, hyper_mcp, root, servlet_command, wasm};
use serde_json::Value;

/// `./x bless` writes the sizes.
#[test]
fn the_table_in_the_readme_is_right_within_a_percent() {
    let path = root().join("README.md");
    let readme = std::fs::read_to_string(&path).expect("the README is text");
    let tuned = tuned();
    let mut right = readme.clone();
    let mut wrong = String::new();
    for example in ALL {
        let start = format!("| [{example}](");
        let row = readme.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("README.md has no row for {example}"));
        let cells: Vec<_> = row.split(" | ").collect();
        let [name, tools, ref written @ ..] = *cells else {
            panic!("README.md says nothing about the tools of {example}");
        };
        let plain = (!LARGE.contains(&example)).then(|| plain(example));
        let built = [plain, Some(tuned[example])];
        if written.len() != 2 || !written.iter().zip(built).all(is_right) {
            let [plain, tuned] = built.map(|size| size.map_or_else(|| "–".to_owned(), grouped));
            let correct = format!("{name} | {tools} | {plain} | {tuned} |");
            wrong.extend(["\nnot ", row, "\nbut ", &correct]);
            right = right.replace(row, &correct);
        }
    }
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::write(path, right).expect("the README is writable");
    } else {
        assert!(
            wrong.is_empty(),
            "sizes in README.md, see `./x bless`:{wrong}"
        );
    }
}

/// A row that the README repeats has the same text there. `./x bless` writes the sizes.
#[test]
fn the_table_of_abis_is_right_within_a_percent() {
    let path = root().join("docs/abis.md");
    let docs = std::fs::read_to_string(&path).expect("the docs are text");
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README is text");
    let tuned = tuned();
    let mut right = docs.clone();
    for example in ["greet", "kv-notes", "everything"] {
        let in_readme = row(&readme, &format!("| [{example}](")).pop();
        let written = row(&docs, &format!("| {example} | "));
        let sizes = [
            (in_readme, tuned[example]),
            (written.get(2).copied(), size(&hyper_mcp(example))),
        ];
        let [servlet, other] = sizes.map(|(written, built)| match written {
            Some(written) if close((&written, built)) => written.to_owned(),
            _ => grouped(built),
        });
        let [written, correct] = [written, vec![example, &servlet, &other]]
            .map(|cells| format!("| {} |", cells.join(" | ")));
        right = right.replace(&written, &correct);
    }
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::write(path, right).expect("the docs are writable");
    } else {
        assert_eq!(right, docs, "see `./x bless`");
    }
}

/// The cells of the table row that starts like this.
fn row<'a>(page: &'a str, start: &str) -> Vec<&'a str> {
    let row = page.lines().find(|line| line.starts_with(start));
    let row = row.unwrap_or_else(|| panic!("no row starts with {start}"));
    row.trim_matches(['|', ' ']).split(" | ").collect()
}

/// Whether a cell has this size, or a dash for none.
fn is_right((written, built): (&&str, Option<u64>)) -> bool {
    match built {
        Some(built) => close((written, built)),
        None => written.trim_end_matches([' ', '|']) == "–",
    }
}

/// Whether a cell of a table is within a percent of the measured value.
pub(crate) fn close((written, built): (&&str, u64)) -> bool {
    let number = written.replace([',', ' ', '|'], "").parse().unwrap_or(0);
    built.abs_diff(number) * 100 <= built
}

/// The number with a comma between thousands.
pub(crate) fn grouped(number: u64) -> String {
    if number < 1000 {
        return number.to_string();
    }
    format!("{},{:03}", grouped(number / 1000), number % 1000)
}

/// The size of an example that is built with `cargo build --release`.
fn plain(example: &str) -> u64 {
    size(&wasm(example, Profile::Release))
}

fn size(path: &Path) -> u64 {
    let file = std::fs::metadata(path);
    file.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .len()
}

/// The sizes of the examples that are built with `servlet build`, by package.
fn tuned() -> BTreeMap<String, u64> {
    let output = servlet_command(["build", "--format", "json"])
        .output()
        .expect("servlet runs");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "servlet build failed\n{messages}");
    let built: Vec<Value> = serde_json::from_slice(&output.stdout).expect("a list");
    let size = |one: &Value| Some((one["package"].as_str()?.to_owned(), one["size"].as_u64()?));
    built.iter().filter_map(size).collect()
}

#[test]
fn numbers_are_grouped_by_thousands() {
    let numbers = [7, 1000, 37_677, 1_002_003].map(grouped);
    assert_eq!(numbers, ["7", "1,000", "37,677", "1,002,003"]);
}
