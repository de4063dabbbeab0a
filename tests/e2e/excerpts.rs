//! The code of `docs/xtp.md` is that of an example, which is compiled and tested: each block is an excerpt of the file
//! that the text above it names, with `…` for what is left out.

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
        let text = fs::read_to_string(root().join(&file));
        let text = text.unwrap_or_else(|error| panic!("docs/xtp.md:{at}: {file}: {error}"));
        let source: Vec<_> = text.lines().collect();
        let mut rest = &*source;
        for part in lines
            .split(|line| line.trim() == "…")
            .filter(|part| !part.is_empty())
        {
            let found = rest.windows(part.len()).position(|window| window == part);
            let start = found
                .unwrap_or_else(|| panic!("docs/xtp.md:{at}: {file} has no\n{}", part.join("\n")));
            rest = &rest[start + part.len()..];
        }
    }
}
