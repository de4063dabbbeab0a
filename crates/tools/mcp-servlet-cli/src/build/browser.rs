//! Finds the dependency that pulls wasm-bindgen, which needs a browser, into a servlet.

use std::collections::{BTreeMap, VecDeque};

use cargo_metadata::{DependencyKind, Metadata, Package, PackageId};

use crate::failure::{Failure, Kind};

/// Crates that only work in browsers. Dependents of these are what the report names.
const FAMILY: [&str; 4] = ["wasm-bindgen", "js-sys", "web-sys", "wasm-bindgen-futures"];

/// Advice for crates that commonly depend on them.
const REMEDIES: [(&str, &str); 6] = [
    (
        "chrono",
        "chrono: turn off its default features, which are for browsers, and take the time from `Context::now`:\n\
         chrono = { version = \"0.4\", default-features = false, features = [\"std\", \"serde\"] }",
    ),
    (
        "getrandom",
        "getrandom: turn off `js` or `wasm_js` and register a backend of your own",
    ),
    (
        "instant",
        "instant: replace it by `web-time` without its browser part, or pass the time in",
    ),
    (
        "reqwest",
        "reqwest: use the HTTP requests of the servlet's context; reqwest calls the browser's fetch",
    ),
    ("time", "time: turn off its feature `wasm-bindgen`"),
    ("uuid", "uuid: turn off its feature `js`"),
];

/// The error for a package whose wasm imports functions of wasm-bindgen.
pub(super) fn explain(package: &Package, metadata: &Metadata) -> Failure {
    let chains = chains(package, metadata);
    let mut message = format!(
        "`{}` would only run in a browser: it imports functions of wasm-bindgen",
        package.name
    );
    for chain in &chains {
        message.push_str("\n  ");
        message.push_str(&chain.join(" -> "));
    }
    let culprits = chains
        .iter()
        .filter_map(|chain| chain.get(chain.len().checked_sub(2)?));
    let remedies: Vec<_> = culprits.map(|culprit| remedy(culprit)).collect();
    Failure::with_help(Kind::Build, message, remedies.join("\n"))
}

fn remedy(culprit: &str) -> String {
    let name = culprit.split(' ').next().unwrap_or(culprit);
    let known = REMEDIES.iter().find(|(of, _)| *of == name);
    known.map_or_else(
        || {
            format!(
                "{name}: turn off the feature that makes it depend on wasm-bindgen, or replace it"
            )
        },
        |(_, text)| (*text).to_owned(),
    )
}

/// The shortest dependency chain from the package to each crate that depends on the family.
fn chains(package: &Package, metadata: &Metadata) -> Vec<Vec<String>> {
    let dependencies = dependencies(metadata);
    let mut came_from: BTreeMap<&PackageId, &PackageId> = BTreeMap::new();
    let mut queue = VecDeque::from([&package.id]);
    let mut chains = Vec::new();
    while let Some(at) = queue.pop_front() {
        let needs = dependencies.get(at).map_or(&[][..], Vec::as_slice);
        if let Some(browser) = needs.iter().find(|id| FAMILY.contains(&name(metadata, id))) {
            let mut chain = vec![name(metadata, browser).to_owned()];
            let mut step = Some(&at);
            while let Some(id) = step {
                chain.push(label(metadata, id));
                step = came_from.get(*id);
            }
            chain.reverse();
            chains.push(chain);
        }
        for next in needs {
            let new = *next != &package.id && !came_from.contains_key(next);
            if new && !FAMILY.contains(&name(metadata, next)) {
                came_from.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    chains
}

/// The dependencies that end up in the wasm: without build and dev dependencies.
pub(super) fn dependencies(metadata: &Metadata) -> BTreeMap<&PackageId, Vec<&PackageId>> {
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let normal = |node: &cargo_metadata::NodeDep| {
        node.dep_kinds
            .iter()
            .any(|kind| kind.kind == DependencyKind::Normal)
    };
    nodes
        .map(|node| {
            let linked = node
                .deps
                .iter()
                .filter(|dep| normal(dep))
                .map(|dep| &dep.pkg);
            (&node.id, linked.collect())
        })
        .collect()
}

fn name<'a>(metadata: &'a Metadata, id: &PackageId) -> &'a str {
    metadata
        .packages
        .iter()
        .find(|package| package.id == *id)
        .map_or("", |package| package.name.as_str())
}

fn label(metadata: &Metadata, id: &PackageId) -> String {
    let package = metadata.packages.iter().find(|package| package.id == *id);
    package.map_or_else(String::new, |package| {
        format!("{} {}", package.name, package.version)
    })
}
