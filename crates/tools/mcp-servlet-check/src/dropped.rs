//! Features of a servlet that a host does not show.

use mcp_servlet_call::JsonObject;
use mcp_servlet_host::FeatureKind;
use mcp_servlet_runtime::{Abi, Module, USER};
use serde_json::Value;

use super::{
    feature::{Feature, Sign, THEMES},
    finding::{Finding, Location},
    findings::Findings,
    lists::Lists,
    target::Target,
};

/// Compares the features of the servlet with the table of features.
pub(super) fn check_dropped(findings: &mut Findings, module: &Module, abi: Abi, lists: &Lists) {
    for feature in THEMES.iter().flat_map(|(_, features)| *features) {
        let Some((sign, instead)) = &feature.seen else {
            continue;
        };
        let location = match *sign {
            Sign::Member(kind, member) => items_with(kind, member, lists),
            _ => None,
        };
        if location.is_none() && !has(sign, module, lists) {
            continue;
        }
        for host in Target::ALL {
            if let Some(finding) = lost(feature, host, abi) {
                findings.add(Finding {
                    location: location.clone(),
                    ..finding.help(*instead)
                });
            }
        }
    }
}

fn lost(feature: &Feature, host: Target, abi: Abi) -> Option<Finding> {
    let (level, problem) = feature.loss(host, abi)?;
    Some(Finding::new("dropped", problem).matters(level, &[host]))
}

/// The types whose values are the same in the text of a result.
const PLAIN: [&str; 4] = ["boolean", "integer", "null", "number"];

/// The items that have this member. Without the output schema of a plain value, which clients read in the text, nothing
/// is lost.
fn items_with(kind: FeatureKind, member: &str, lists: &Lists) -> Option<Location> {
    let items: Vec<_> = lists
        .items_of(kind)
        .filter(|item| {
            let value = item.json.get(member);
            value.is_some_and(|value| !value.is_null() && !is_plain(value))
        })
        .map(|item| item.key.clone())
        .collect();
    (!items.is_empty()).then(|| Location {
        kind,
        items,
        pointer: format!("/{member}"),
    })
}

/// Whether this is the output schema of a value that is wrapped in an object and has one of the [`PLAIN`] types.
fn is_plain(schema: &Value) -> bool {
    let ty = &schema["properties"]["result"]["type"];
    let types = ty
        .as_array()
        .map_or(std::slice::from_ref(ty), Vec::as_slice);
    let is_known = |ty: &Value| ty.as_str().is_some_and(|ty| PLAIN.contains(&ty));
    schema.get("x-fastmcp-wrap-result").is_some() && types.iter().all(is_known)
}

/// Whether the servlet as a whole has the feature.
fn has(sign: &Sign, module: &Module, lists: &Lists) -> bool {
    match *sign {
        Sign::Member(..) => false,
        Sign::Answer(member) => lists.answers.iter().any(|json| has_member(json, member)),
        Sign::Listed(kind) => lists.items_of(kind).next().is_some(),
        Sign::Export(name) => module.can_call(name),
        Sign::InputRequest => !module.input_requests.is_empty(),
        Sign::Content(with, without) => {
            let has = |feature| module.content_features.contains(feature);
            !module.is_strict() && with.iter().all(has) && !without.iter().any(has)
        }
        Sign::SeveralTools => lists.items_of(FeatureKind::Tool).count() > 1,
        Sign::Import(name) => module.imports(USER, name),
    }
}

fn has_member(json: &JsonObject, member: &str) -> bool {
    json.get(member).is_some_and(|value| !value.is_null())
}
