//! Runs `servlet check` on our own servlets.

use std::path::PathBuf;

use e2e::{ALL, Profile, wasm};
use mcp_servlet_check::{Level, Report, Target, check};
use mcp_servlet_runtime::{Abi, LoadOptions};

fn report(path: PathBuf) -> Report {
    check(path.into(), &LoadOptions::default(), &Target::ALL, &[]).expect("a report")
}

/// The host and the rule of each error.
fn errors(report: &Report) -> Vec<(Target, &str)> {
    let findings = report.findings.iter();
    let errors = findings.flat_map(|finding| {
        let hosts = finding.hosts_at(Level::Error);
        hosts.map(|host| (host, finding.rule))
    });
    errors.collect()
}

#[test]
fn examples_work_in_every_host() {
    for example in ALL {
        let report = report(wasm(example, Profile::Servlet));
        assert_eq!(report.abi, Some(Abi::Servlet), "{example}");
        let expected: &[_] = match example {
            // It reports progress, which mcp.run does not support.
            "everything" => &[(Target::McpRun, "imports")],
            _ => &[],
        };
        assert_eq!(errors(&report), expected, "{example}: {report:?}");
    }
}

#[test]
fn the_smallest_example_loses_nothing() {
    let report = report(wasm("greet", Profile::Servlet));
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(report.tools, Some(1));
}
