//! URIs and annotations of resources.

use mcp_servlet_host::FeatureKind;
use mcp_servlet_runtime::Abi;
use url::Url;

use super::{
    finding::{Finding, Level},
    findings::Findings,
    lists::{Item, Lists},
    target::Target,
};

/// hyper-mcp parses the URI and inserts the name of the plugin between host and path.
pub(super) fn check_resources(findings: &mut Findings, abi: Abi, lists: &Lists) {
    for resource in lists.items_of(FeatureKind::Resource) {
        if resource.text("uri").is_some() && abi == Abi::HyperMcpV2 {
            check_uri(findings, resource);
        }
    }
    for item in &lists.items {
        check_annotations(findings, item);
    }
}

fn check_uri(findings: &mut Findings, resource: &Item) {
    let (level, problem) = match Url::parse(&resource.key) {
        Err(error) => {
            let problem = format!(
                "hyper-mcp cannot parse this URI and then lists no resources at all: {error}"
            );
            (Level::Error, problem)
        }
        Ok(url) if url.cannot_be_a_base() => {
            let problem = "hyper-mcp lists a URI without `//`, but cannot read the resource";
            (Level::Error, problem.to_owned())
        }
        Ok(url) if url.as_str() != resource.key => {
            let problem = format!("hyper-mcp asks for `{url}` instead");
            (Level::Warning, problem)
        }
        Ok(_) => return,
    };
    let finding = Finding::new("uri", problem).at(resource.location("/uri"));
    let help = "use a URI such as `notes://all/today`";
    findings.add(finding.help(help).matters(level, &[Target::HyperMcp]));
}

/// Audience and priority, by which clients choose.
fn check_annotations(findings: &mut Findings, item: &Item) {
    let Some(annotations) = item
        .json
        .get("annotations")
        .filter(|_| item.kind != FeatureKind::Tool)
    else {
        return;
    };
    let audience = annotations["audience"].as_array();
    let stranger = audience
        .into_iter()
        .flatten()
        .position(|role| role != "user" && role != "assistant");
    if let Some(at) = stranger {
        let finding = Finding::new("audience", "the audience is neither `user` nor `assistant`");
        let location = item.location(format!("/annotations/audience/{at}"));
        findings.add(
            finding
                .at(location)
                .help("use `user` or `assistant`")
                .warning(),
        );
    }
    let priority = annotations["priority"].as_f64();
    if priority.is_some_and(|priority| !(0.0..=1.0).contains(&priority)) {
        let finding = Finding::new("priority", "the priority is not between 0 and 1");
        let location = item.location("/annotations/priority");
        findings.add(
            finding
                .at(location)
                .help("1 is the most important")
                .warning(),
        );
    }
}
