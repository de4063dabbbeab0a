//! Checks bytes and instructions against the committed figures.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::exact::Figures;

/// A figure may differ from the committed one by one part in this many.
const TOLERANCE: u64 = 100;

fn path(root: &Path) -> PathBuf {
    root.join("bench/baseline.json")
}

pub(crate) fn bless(root: &Path, figures: &Figures) -> anyhow::Result<()> {
    let path = path(root);
    fs::write(&path, serde_json::to_string_pretty(figures)? + "\n")
        .with_context(|| path.display().to_string())
}

pub(crate) fn check_figures(root: &Path, figures: &Figures) -> anyhow::Result<()> {
    let path = path(root);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let baseline = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    let differences = differences(&baseline, figures);
    if differences.is_empty() {
        return Ok(());
    }
    bail!(
        "bench/baseline.json no longer holds; if that is meant, `./x bench --bless`\n  {}",
        differences.join("\n  ")
    );
}

fn differences(baseline: &Figures, figures: &Figures) -> Vec<String> {
    let mut differences = Vec::new();
    for (name, &now) in figures {
        match baseline.get(name) {
            None => differences.push(format!("{name} is new: {now}")),
            Some(&before) => {
                if now.abs_diff(before) * TOLERANCE > before {
                    let percent = (now as f64 / before as f64 - 1.0) * 100.0;
                    differences.push(format!("{name} was {before}, now {now} ({percent:+.1} %)"));
                }
            }
        }
    }
    let gone = baseline.keys().filter(|name| !figures.contains_key(*name));
    differences.extend(gone.map(|name| format!("{name} is gone")));
    differences
}

#[cfg(test)]
mod tests {
    use super::{Figures, differences};

    #[test]
    fn names_each_figure_that_changed() {
        let figures = |pairs: &[(&str, u64)]| -> Figures {
            pairs
                .iter()
                .map(|&(name, figure)| (name.to_owned(), figure))
                .collect()
        };
        let before = figures(&[("a", 1000), ("b", 1000), ("c", 1000), ("d", 1000)]);
        let now = figures(&[("a", 1010), ("b", 1011), ("c", 980), ("e", 5)]);
        assert_eq!(
            differences(&before, &now),
            [
                "b was 1000, now 1011 (+1.1 %)",
                "c was 1000, now 980 (-2.0 %)",
                "e is new: 5",
                "d is gone"
            ]
        );
    }
}
