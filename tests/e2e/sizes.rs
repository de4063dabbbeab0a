//! How large the examples are, and that the README tells the truth about it.

use std::collections::BTreeMap;

use e2e::{Profile, root, servlet_command, wasm};
use serde_json::Value;

use crate::support::EXAMPLES;

#[test]
fn the_smallest_servlet_stays_small() {
    let release = plain("greet");
    assert!(release <= 64_000, "greet has {release} bytes in release");
    let tuned = tuned()["greet"];
    assert!(tuned <= 40_000, "greet has {tuned} bytes when tuned");
}

#[test]
fn the_table_in_the_readme_is_right_within_a_percent() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README");
    let tuned = tuned();
    let mut wrong = String::new();
    for example in EXAMPLES {
        let row = format!("| [{example}](");
        let row = readme.lines().find(|line| line.starts_with(&row));
        let row = row.unwrap_or_else(|| panic!("README.md has no row for {example}"));
        let written: Vec<_> = row.split('|').map(str::trim).collect();
        let built = [plain(example), tuned[example]];
        if !close(written[3], built[0]) || !close(written[4], built[1]) {
            let [plain, tuned] = built.map(grouped);
            wrong += &format!("\n{example}: write `| {plain} | {tuned} |`, not `{row}`");
        }
    }
    assert!(wrong.is_empty(), "the sizes in README.md:{wrong}");
}

fn close(written: &str, built: u64) -> bool {
    let number = written.replace(',', "").parse().unwrap_or(0);
    built.abs_diff(number) * 100 <= built
}

/// With a comma between thousands.
fn grouped(number: u64) -> String {
    if number < 1000 {
        return number.to_string();
    }
    format!("{},{:03}", grouped(number / 1000), number % 1000)
}

/// Built with `cargo build --release`.
fn plain(example: &str) -> u64 {
    let path = wasm(example, Profile::Release);
    let file = std::fs::metadata(&path);
    file.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .len()
}

/// Built with `servlet build`, by package.
fn tuned() -> BTreeMap<String, u64> {
    let output = servlet_command(["build", "--format", "json"])
        .output()
        .expect("servlet runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "servlet build failed\n{said}");
    let built: Vec<Value> = serde_json::from_slice(&output.stdout).expect("a list");
    let size = |one: &Value| Some((one["package"].as_str()?.to_owned(), one["size"].as_u64()?));
    built.iter().filter_map(size).collect()
}

#[test]
fn numbers_are_grouped_by_thousands() {
    let numbers = [7, 1000, 37_677, 1_002_003].map(grouped);
    assert_eq!(numbers, ["7", "1,000", "37,677", "1,002,003"]);
}
