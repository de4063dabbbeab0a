//! Writes the table of docs/sizes.md.

use std::fs;
use std::path::Path;

use anyhow::Context;
use bench_table::thousands;

use crate::exact::{Figures, figure};

const START: &str = "<!-- The table is written by `./x bench --bless`. -->\n";
const END: &str = "<!-- End of the table. -->\n";

/// The cost of features: a label, the servlet with the feature, the servlet without, and how many
/// times it contains the feature.
const COSTS: [(&str, &str, &str, f64); 11] = [
    ("the first tool, of one string", "greet", "empty", 1.0),
    (
        "each further tool, of a string, an optional string and an integer",
        "many",
        "three",
        20.0,
    ),
    (
        "a struct argument with a list of structs, instead of the string",
        "structured",
        "greet",
        1.0,
    ),
    (
        "two floats in, one out, instead of the string",
        "float",
        "greet",
        1.0,
    ),
    ("`Context::config_value`", "config", "greet", 1.0),
    (
        "`Context::var` and `Context::set_var`",
        "vars",
        "greet",
        1.0,
    ),
    ("`Context::http`", "http", "greet", 1.0),
    (
        "`Tools::call`, with structs in and out",
        "calls",
        "greet",
        1.0,
    ),
    (
        "a call by a generated client, of a string, with a struct out",
        "client",
        "greet",
        1.0,
    ),
    (
        "feature `panic-hook` (default)",
        "greet",
        "no-panic-hook",
        1.0,
    ),
    (
        "feature `global-allocator`",
        "greet",
        "no-global-allocator",
        1.0,
    ),
];

pub(crate) fn write(root: &Path, figures: &Figures) -> anyhow::Result<()> {
    let path = root.join("docs/sizes.md");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let (before, rest) = text
        .split_once(START)
        .context("docs/sizes.md has no table")?;
    let (_, after) = rest
        .split_once(END)
        .context("docs/sizes.md has no end of its table")?;
    let text = format!("{before}{START}\n{}\n{END}{after}", table(figures)?);
    fs::write(&path, text).with_context(|| path.display().to_string())
}

fn table(figures: &Figures) -> anyhow::Result<String> {
    let of = |servlet: &str, profile: &str| figure(figures, &format!("ours/{servlet}/{profile}"));
    let line = |label: &str, plain: &str, tuned: &str| format!("| {label} | {plain} | {tuned} |\n");
    let mut table = line("what", "plain", "tuned") + "|---|---:|---:|\n";
    let [plain, tuned] = [of("empty", "plain")?, of("empty", "tuned")?].map(thousands);
    table.push_str(&line("a servlet without tools", &plain, &tuned));
    for (label, with, without, times) in COSTS {
        let cost = |profile| -> anyhow::Result<String> {
            let cost = (of(with, profile)? - of(without, profile)?) / times;
            Ok(if cost < 0.0 {
                thousands(cost).replace('-', "−")
            } else {
                format!("+ {}", thousands(cost))
            })
        };
        table.push_str(&line(label, &cost("plain")?, &cost("tuned")?));
    }
    Ok(table)
}
