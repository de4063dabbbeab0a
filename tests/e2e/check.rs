//! Runs `servlet check` on our own servlets.

use std::path::PathBuf;

use e2e::{ALL, Profile, fixture, strict_fixture, wasm};
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

/// The host, the level and the problem of each feature of content that is dropped.
fn dropped(path: PathBuf) -> Vec<(Target, Level, String)> {
    let findings = report(path).findings.into_iter();
    let dropped = findings.filter(|finding| finding.rule == "dropped");
    let each = dropped.flat_map(|finding| {
        let problem = finding.problem;
        let hosts = finding.hosts.into_iter();
        hosts.map(move |(host, level)| (host, level, problem.clone()))
    });
    each.collect()
}

#[test]
fn content_that_the_first_interfaces_cannot_read_is_found() {
    let found = dropped(fixture("content"));
    let of = |host| {
        let found = found.iter().filter(move |(at, ..)| *at == host);
        let found = found.map(|(_, level, problem)| (*level, problem.as_str()));
        found.collect::<Vec<_>>()
    };
    let lost = |what: &str, why: &str| {
        format!("clients see no {what}: {why}, so the whole result is lost")
    };
    let unknown = "the schemas for one and for several tools lack the type";
    let incomplete = "the schema for several tools requires both members";
    let several = "clients see several tools of one servlet unless the host reads `describe` with the schema for one tool";
    let key = "clients see embedded resources if the host reads the key `resource`: the schema for one tool has `Resource`, the one for several tools neither";
    assert_eq!(
        of(Target::McpRun),
        [
            (Level::Warning, &*lost("audio", unknown)),
            (Level::Warning, &*lost("links to resources", unknown)),
            (
                Level::Warning,
                &*lost("audience without a priority", incomplete)
            ),
            (Level::Note, several),
            (Level::Note, key),
        ]
    );
    let uris = |what: &str| format!("clients see {what} with URIs that clients cannot read");
    assert_eq!(
        of(Target::HyperMcp),
        [
            (Level::Note, &*uris("embedded resources")),
            (Level::Note, &*uris("links to resources")),
        ]
    );
    assert_eq!(of(Target::McpServlet), []);
}

#[test]
fn strict_results_lose_nothing() {
    let found = dropped(strict_fixture("content"));
    let several = "clients see several tools of one servlet unless the host reads `describe` with the schema for one tool";
    assert_eq!(found, [(Target::McpRun, Level::Note, several.to_owned())]);
}
