//! Which checks may fail, and why.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, bail};

use super::results::Finding;
use crate::shell::root;

/// Lines of `REVISION SCENARIO CHECK: why it may fail`.
const FILE: &str = "xtask/src/conformance/expected.txt";

/// The checks that are expected to fail.
#[derive(Debug, Default)]
pub(crate) struct Expected(BTreeSet<[String; 3]>);

impl Expected {
    pub(crate) fn read() -> anyhow::Result<Self> {
        let text = fs::read_to_string(root().join(FILE)).context(FILE)?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut all = BTreeSet::new();
        for (at, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (check, reason) = line.split_once(": ").unwrap_or((line, ""));
            let words: Vec<_> = check.split(' ').map(str::to_owned).collect();
            let words: Result<[String; 3], _> = words.try_into();
            match words {
                Ok(words) if !reason.is_empty() => all.insert(words),
                _ => bail!(
                    "{FILE}, line {}: expected `REVISION SCENARIO CHECK: reason`, found `{line}`",
                    at + 1
                ),
            };
        }
        Ok(Self(all))
    }

    /// Unexpected failures, and expected failures that did not happen.
    pub(crate) fn compare(&self, found: &BTreeSet<Finding>) -> Vec<String> {
        let key = |one: &Finding| [&one.revision, &one.scenario, &one.check].map(String::to_owned);
        let failed: BTreeSet<_> = found.iter().map(key).collect();
        let unexpected = found.iter().filter(|one| !self.0.contains(&key(one)));
        let unexpected = unexpected.map(|one| {
            let line = key(one).join(" ");
            format!("failed: {line}: {}", one.message)
        });
        let stale = self.0.difference(&failed);
        let stale = stale.map(|line| {
            format!(
                "passed, although {FILE} expects it to fail: {}",
                line.join(" ")
            )
        });
        unexpected.chain(stale).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(check: &str) -> Finding {
        Finding {
            revision: "r".to_owned(),
            scenario: "s".to_owned(),
            check: check.to_owned(),
            message: "m".to_owned(),
        }
    }

    #[test]
    fn reports_unexpected_failures_and_unexpected_successes() {
        let expected = Expected::parse("# why\n\nr s a: because\nr s b: because\n").unwrap();
        let found = [finding("a"), finding("c")].into();
        let problems = expected.compare(&found);
        assert_eq!(problems[0], "failed: r s c: m");
        assert!(
            problems[1].ends_with("expects it to fail: r s b"),
            "{problems:?}"
        );
        assert_eq!(problems.len(), 2);
    }

    #[test]
    fn every_line_needs_a_reason() {
        for wrong in ["r s a", "r s: because", "r s a b: because", "r s a: "] {
            assert!(Expected::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_file_can_be_read() {
        Expected::read().unwrap();
    }
}
