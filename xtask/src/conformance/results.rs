//! The results of the suite at one protocol version.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

/// A scenario and the protocol versions that it applies to.
#[derive(Debug, PartialEq)]
pub(super) struct Scenario {
    pub(super) name: String,
    /// Protocol versions, or `extension`.
    pub(super) columns: Vec<String>,
}

impl Scenario {
    /// Reads lines such as `  - ping [2025-06-18,2025-11-25]`.
    pub(super) fn list(text: &str) -> Vec<Self> {
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

/// The checks of several scenarios.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Checks {
    pub(super) passed: usize,
    /// A line for every check that did not pass.
    pub(super) findings: Vec<String>,
}

impl Checks {
    /// Reads a folder with the suite's results: a folder for each scenario, `server-NAME-TIME`.
    pub(super) fn read(scenarios: &[&str], folder: &Path) -> anyhow::Result<Self> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        let mut checks = Self::default();
        for scenario in scenarios {
            let begin = format!("server-{scenario}-2");
            let Some(name) = names.iter().find(|name| name.starts_with(&begin)) else {
                let finding = format!("{scenario} did not run: the suite has no result of it");
                checks.findings.push(finding);
                continue;
            };
            let file = folder.join(name).join("checks.json");
            let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            checks.add(scenario, &text)?;
        }
        Ok(checks)
    }

    fn add(&mut self, scenario: &str, text: &str) -> anyhow::Result<()> {
        let checks: Vec<Value> = serde_json::from_str(text)?;
        for check in &checks {
            match check["status"].as_str() {
                Some("SUCCESS") => self.passed += 1,
                Some("FAILURE" | "WARNING") => {
                    let [id, message] = ["id", "errorMessage"].map(|key| &check[key]);
                    let message = message.as_str().unwrap_or_default();
                    let id = id.as_str().unwrap_or("?");
                    self.findings.push(format!("{scenario} {id}: {message}"));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_which_scenarios_there_are() {
        let text = "Server scenarios (test against a server):\n  - ping [2025-06-18,2025-11-25]\n  - tasks [extension]\n";
        let scenario = |name: &str, columns: &[&str]| Scenario {
            name: name.to_owned(),
            columns: columns.iter().map(|&one| one.to_owned()).collect(),
        };
        let expected = [
            scenario("ping", &["2025-06-18", "2025-11-25"]),
            scenario("tasks", &["extension"]),
        ];
        assert_eq!(Scenario::list(text), expected);
    }

    #[test]
    fn failures_warnings_and_missing_results_are_findings() {
        let folder = tempfile::tempdir().unwrap();
        let scenario = folder.path().join("server-ping-2026");
        fs::create_dir(&scenario).unwrap();
        let checks = r#"[
            {"id": "a", "status": "SUCCESS"}, {"id": "b", "status": "INFO"},
            {"id": "c", "status": "FAILURE", "errorMessage": "no"}, {"id": "d", "status": "WARNING"}
        ]"#;
        fs::write(scenario.join("checks.json"), checks).unwrap();
        let read = Checks::read(&["ping", "tasks"], folder.path()).unwrap();
        assert_eq!(read.passed, 1);
        assert_eq!(
            read.findings,
            [
                "ping c: no",
                "ping d: ",
                "tasks did not run: the suite has no result of it"
            ]
        );
    }
}
