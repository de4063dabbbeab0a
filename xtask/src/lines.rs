//! Counts the lines that authors write: the installable examples, and the same servlets with the official generator's
//! code.

use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::shell::root;

/// Folders in both `examples` and `bench/glue`.
const SERVLETS: [&str; 3] = ["fetch", "qr-code", "world-time"];

/// Prints lines of code as a table, which `docs/sizes.md` contains.
pub(crate) fn print() -> anyhow::Result<()> {
    println!("| servlet | with `mcp-servlet` | with generated glue | ratio |");
    println!("|---|---:|---:|---:|");
    let mut sums = [0, 0];
    for name in SERVLETS {
        let ours = count(&root().join("examples").join(name).join("src"))?;
        let glue = count(&root().join("bench/glue").join(name).join("src"))?;
        println!("{}", row(name, ours, glue));
        sums = [sums[0] + ours, sums[1] + glue];
    }
    println!("{}", row("all three", sums[0], sums[1]));
    let generated = written(&fs::read_to_string(
        root().join("bench/official/src/pdk.rs"),
    )?);
    println!("| generated, in each | 0 | {generated} | |");
    Ok(())
}

/// The lines of all files except tests.
fn count(folder: &Path) -> anyhow::Result<usize> {
    let mut lines = 0;
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            lines += count(&path)?;
        } else if path.file_name().is_some_and(|name| name != "tests.rs") {
            lines += written(&fs::read_to_string(path)?);
        }
    }
    Ok(lines)
}

/// Lines that are not blank, up to the tests.
fn written(text: &str) -> usize {
    let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
    lines.filter(|line| !line.trim().is_empty()).count()
}

fn row(name: &str, ours: usize, glue: usize) -> String {
    let percent = (100 * ours + glue / 2) / glue;
    let (whole, percent) = (percent / 100, percent % 100);
    format!("| {name} | {ours} | {glue} | {whole}.{percent:02} |")
}

#[cfg(test)]
mod tests {
    use super::{row, written};

    #[test]
    fn blank_lines_and_tests_are_not_counted() {
        let text = "//! What.\n\nfn f() {\n    \n}\n\n#[cfg(test)]\nmod tests;\n";
        assert_eq!(written(text), 3);
    }

    #[test]
    fn ratios_are_rounded() {
        assert_eq!(row("a", 1, 3), "| a | 1 | 3 | 0.33 |");
        assert_eq!(row("a", 101, 100), "| a | 101 | 100 | 1.01 |");
    }
}
