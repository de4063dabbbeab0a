//! Names and URIs that several servlets of one server share.

use mcp_servlet_host::{Entry, FeatureKind, Host, LoadError, Loaded};
use mcp_servlet_runtime::{LoadOptions, Source};
use mcp_servlet_schema::Provider;

use super::{
    finding::{Finding, Level, Location},
    report::{Report, check},
    target::Target,
};

/// Checks several servlets for some hosts, each like [`check`]. Adds findings for what the host of
/// this project leaves out when it serves all of them together.
///
/// # Errors
/// See [`check`].
pub fn check_all(
    sources: &[Source],
    options: &LoadOptions,
    hosts: &[Target],
    providers: &[Provider],
) -> Result<Vec<Report>, LoadError> {
    let mut reports = sources
        .iter()
        .map(|source| check(source.clone(), options, hosts, providers))
        .collect::<Result<Vec<_>, _>>()?;
    if sources.len() < 2 || !hosts.contains(&Target::McpServlet) {
        return Ok(reports);
    }
    let entries: Vec<_> = sources
        .iter()
        .cloned()
        .map(|source| Entry::of(source, options.clone()))
        .collect();
    let host = Loaded::load(&entries, None)?.host;
    for (origin, finding) in collisions(&host) {
        let of = reports.iter_mut().find(|report| report.source == *origin);
        if let Some(report) = of {
            report.findings.push(finding);
            report
                .findings
                .sort_by_key(|finding| std::cmp::Reverse(finding.level()));
        }
    }
    Ok(reports)
}

/// Entries that are skipped or hidden because of another servlet, each with the origin of its servlet.
fn collisions(host: &Host) -> impl Iterator<Item = (&String, Finding)> {
    host.problems()
        .flat_map(LoadError::each)
        .filter_map(|problem| {
            let (kind, item, origin) = match problem {
                LoadError::Taken {
                    kind,
                    entry,
                    origin,
                    ..
                } => (*kind, entry, origin),
                LoadError::Overlap {
                    template, origin, ..
                } => (FeatureKind::ResourceTemplate, template, origin),
                LoadError::Covered { uri, origin, .. } => (FeatureKind::Resource, uri, origin),
                _ => return None,
            };
            let location = Location {
                kind,
                items: vec![item.clone()],
                pointer: String::new(),
            };
            let finding = Finding::new("collision", problem.to_string()).at(location);
            let help = problem.help().unwrap_or_default();
            let finding = finding
                .help(help)
                .matters(Level::Warning, &[Target::McpServlet]);
            Some((origin, finding))
        })
}
