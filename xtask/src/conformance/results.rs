//! The results of the suite, by scenario and protocol version.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

/// A scenario and the protocol versions that it applies to.
#[derive(Debug, PartialEq)]
pub(crate) struct Scenario {
    name: String,
    /// Protocol versions, or `extension`.
    columns: Vec<String>,
}

impl Scenario {
    /// Reads lines such as `  - ping [2025-06-18,2025-11-25]`.
    pub(crate) fn list(text: &str) -> Vec<Self> {
        let scenario = |line: &str| {
            let (name, columns) = line.trim().strip_prefix("- ")?.split_once(" [")?;
            let columns = columns.strip_suffix(']')?.split(',');
            Some(Self {
                name: name.to_owned(),
                columns: columns.map(str::to_owned).collect(),
            })
        };
        text.lines().filter_map(scenario).collect()
    }
}

/// The result of one scenario at one protocol version.
#[derive(Debug, Default)]
struct Cell {
    passed: usize,
    /// The checks that did not pass, each with its message.
    findings: Vec<String>,
}

/// All scenarios at all protocol versions.
pub(crate) struct Table {
    scenarios: Vec<Scenario>,
    cells: BTreeMap<(String, String), Cell>,
}

impl Table {
    pub(crate) fn new(scenarios: Vec<Scenario>) -> Self {
        let cells = BTreeMap::new();
        Self { scenarios, cells }
    }

    /// The protocol versions, and `extension`.
    pub(crate) fn columns(&self) -> BTreeSet<String> {
        let columns = self.scenarios.iter().flat_map(|one| &one.columns);
        columns.cloned().collect()
    }

    /// The names of the scenarios in a column.
    pub(crate) fn scenarios_of(&self, column: &str) -> Vec<String> {
        let scenarios = self.scenarios.iter();
        scenarios
            .filter(|one| one.columns.iter().any(|other| other == column))
            .map(|one| one.name.clone())
            .collect()
    }

    /// Reads a folder with the suite's results: a folder for each scenario, `server-NAME-TIME`.
    pub(crate) fn read(&mut self, column: &str, folder: &Path) -> anyhow::Result<()> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .with_context(|| folder.display().to_string())?
            .collect::<Result<Vec<_>, _>>()?;
        names.sort_by_key(fs::DirEntry::file_name);
        for scenario in self.scenarios_of(column) {
            let begin = format!("server-{scenario}-2");
            let is_its = |entry: &&fs::DirEntry| {
                let name = entry.file_name();
                name.to_string_lossy().starts_with(&begin)
            };
            let cell = match names.iter().find(is_its) {
                Some(entry) => {
                    let file = entry.path().join("checks.json");
                    let text =
                        fs::read_to_string(&file).with_context(|| file.display().to_string())?;
                    Cell::read(&text)?
                }
                None => Cell::missing(),
            };
            self.cells.insert((scenario, column.to_owned()), cell);
        }
        Ok(())
    }

    /// A line for every check that did not pass.
    pub(crate) fn findings(&self) -> impl Iterator<Item = String> {
        self.cells.iter().flat_map(|((scenario, column), cell)| {
            let findings = cell.findings.iter();
            findings.map(move |finding| format!("failed: {column} {scenario} {finding}"))
        })
    }
}

impl Cell {
    fn read(text: &str) -> anyhow::Result<Self> {
        let checks: Vec<Value> = serde_json::from_str(text)?;
        let mut cell = Self::default();
        for check in &checks {
            match check["status"].as_str() {
                Some("SUCCESS") => cell.passed += 1,
                Some("FAILURE" | "WARNING") => {
                    let [id, message] = ["id", "errorMessage"].map(|key| &check[key]);
                    let message = message.as_str().unwrap_or_default();
                    let id = id.as_str().unwrap_or("?");
                    cell.findings.push(format!("{id}: {message}"));
                }
                _ => {}
            }
        }
        Ok(cell)
    }

    fn missing() -> Self {
        Self {
            passed: 0,
            findings: vec!["did not run: the suite has no result of it".to_owned()],
        }
    }
}

impl fmt::Display for Table {
    /// A line for each scenario: how many of its checks passed at each protocol version.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns();
        let names = self.scenarios.iter().map(|one| one.name.len());
        let width = names.max().unwrap_or_default();
        write!(f, "{:width$}", "scenario")?;
        for column in &columns {
            write!(f, "  {column:>10}")?;
        }
        for scenario in &self.scenarios {
            write!(f, "\n{:width$}", scenario.name)?;
            for column in &columns {
                let cell = self.cells.get(&(scenario.name.clone(), column.clone()));
                let text = cell.map_or_else(|| "-".to_owned(), Cell::to_string);
                write!(f, "  {text:>10}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.passed + self.findings.len();
        if all == 0 {
            return f.write_str("skipped");
        }
        write!(f, "{}/{all}", self.passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_which_scenarios_there_are() {
        let text = "Server scenarios (test against a server):\n  - ping [2025-06-18,2025-11-25]\n  - tasks [extension]\n";
        let scenarios = Scenario::list(text);
        assert_eq!(scenarios.len(), 2);
        let table = Table::new(scenarios);
        assert_eq!(
            Vec::from_iter(table.columns()),
            ["2025-06-18", "2025-11-25", "extension"]
        );
        assert_eq!(table.scenarios_of("extension"), ["tasks"]);
    }

    #[test]
    fn failures_and_warnings_are_findings() {
        let checks = r#"[
            {"id": "a", "status": "SUCCESS"}, {"id": "b", "status": "INFO"},
            {"id": "c", "status": "FAILURE", "errorMessage": "no"}, {"id": "d", "status": "WARNING"}
        ]"#;
        let cell = Cell::read(checks).unwrap();
        assert_eq!(cell.to_string(), "1/3");
        assert_eq!(cell.findings, ["c: no", "d: "]);
        assert_eq!(Cell::missing().to_string(), "0/1");
        assert_eq!(Cell::read("[]").unwrap().to_string(), "skipped");
    }
}
