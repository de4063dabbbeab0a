//! Code in documents that is not a doctest is an excerpt of a file that is compiled and tested. In `docs/xtp.md`, the
//! text above a block names the file, and `…` replaces omitted lines. Other documents have one such file each.

use std::fs;

use e2e::root;

/// The file, the number of the line in the document, and the lines of a block.
type Block = (String, usize, Vec<String>);

fn blocks() -> Vec<Block> {
    let text = fs::read_to_string(root().join("docs/xtp.md")).expect("the document is text");
    let (mut file, mut blocks, mut open) = (String::new(), Vec::new(), None);
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(""), Some(_)) => {
                blocks.extend(open.take().filter(|block: &Block| block.0 != "console"));
            }
            (Some("console"), None) => open = Some(("console".to_owned(), at, Vec::new())),
            (Some(_), None) => open = Some((file.clone(), at, Vec::new())),
            (_, Some((_, _, lines))) => lines.push(line.to_owned()),
            (_, None) => {
                let names = line.split('`').skip(1).step_by(2);
                let files = names.filter(|name| name.contains('/') && root().join(name).is_file());
                file = files.last().map_or(file, str::to_owned);
            }
        }
    }
    blocks
}

#[test]
fn blocks_are_excerpts_of_files() {
    let blocks = blocks();
    assert!(blocks.len() >= 6, "{} blocks", blocks.len());
    for (file, at, lines) in blocks {
        assert_excerpt(&file, &format!("docs/xtp.md:{at}"), &lines);
    }
}

/// Blocks that are not doctests, and the files that have them.
const TESTED_ELSEWHERE: [(&str, &str); 4] = [
    (
        "README.md",
        "crates/guest/mcp-servlet/tests/servlet/calls/readme.rs",
    ),
    (
        "docs/client.md",
        "crates/client/mcp-servlet-client/tests/client/guide.rs",
    ),
    ("docs/tools.md", "tests/e2e/foreign/lib.rs"),
    (
        "docs/typed-clients.md",
        "crates/client/mcp-servlet-client/tests/client/typed_clients.rs",
    ),
];

#[test]
fn blocks_that_are_no_doctests_are_excerpts_of_tests() {
    for (document, file) in TESTED_ELSEWHERE {
        let text = fs::read_to_string(root().join(document)).expect("the document is text");
        let blocks = text.split("```rust,ignore\n").skip(1);
        let blocks: Vec<_> = blocks
            .filter_map(|rest| rest.split("\n```").next())
            .collect();
        assert!(!blocks.is_empty(), "{document}");
        for part in blocks.iter().flat_map(|block| block.split("\n\n")) {
            let lines: Vec<_> = part.lines().map(str::to_owned).collect();
            assert_excerpt(file, document, &lines);
        }
    }
}

/// Checks that the parts between `…` are in the file, in this order. There, they may be inside of a function.
fn assert_excerpt(file: &str, place: &str, lines: &[String]) {
    let text = fs::read_to_string(root().join(file));
    let text = text.unwrap_or_else(|error| panic!("{place}: {file}: {error}"));
    let source: Vec<_> = text.lines().map(str::trim_start).collect();
    let mut rest = &*source;
    for part in lines
        .split(|line| line.trim() == "…")
        .filter(|part| !part.is_empty())
    {
        let part: Vec<_> = part.iter().map(|line| line.trim_start()).collect();
        let found = rest.windows(part.len()).position(|window| window == part);
        let start = found.unwrap_or_else(|| panic!("{place}: {file} has no\n{}", part.join("\n")));
        rest = &rest[start + part.len()..];
    }
}
