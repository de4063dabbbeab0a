//! The crates that a module contains, in the format of cargo-auditable. `cargo audit bin` reports those with known vulnerabilities.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, Package, PackageId, Source};
use mcp_servlet_package::zlib;
use serde_json::{Value, json};

/// The custom section with the crates.
pub(super) const SECTION: &str = ".dep-v0";

/// Where cargo's own registry is.
const CRATES_IO: [&str; 2] = [
    "registry+https://github.com/rust-lang/crates.io-index",
    "sparse+https://index.crates.io/",
];

/// The contents of the section: compressed JSON with the crates that were linked into `root`.
pub(super) fn section(
    metadata: &Metadata,
    root: &Package,
    linked: &BTreeSet<PackageId>,
) -> std::io::Result<Vec<u8>> {
    zlib(packages(metadata, root, linked).to_string().as_bytes())
}

fn packages(metadata: &Metadata, root: &Package, linked: &BTreeSet<PackageId>) -> Value {
    let mut packages: Vec<_> = metadata
        .packages
        .iter()
        .filter(|package| linked.contains(&package.id) || package.id == root.id)
        .collect();
    packages.sort_by_key(|package| (&package.name, &package.version));
    let ids = packages.iter().map(|package| &package.id);
    let positions: BTreeMap<_, _> = ids.zip(0..).collect();
    let nodes: BTreeMap<_, _> = metadata
        .resolve
        .iter()
        .flat_map(|resolve| &resolve.nodes)
        .map(|node| (&node.id, node))
        .collect();
    let packages = packages.iter().map(|package| {
        let is_normal = |kind: &cargo_metadata::DepKindInfo| kind.kind == DependencyKind::Normal;
        let dependencies: BTreeSet<_> = nodes
            .get(&package.id)
            .into_iter()
            .flat_map(|node| &node.deps)
            .filter(|dependency| dependency.dep_kinds.iter().any(is_normal))
            .filter_map(|dependency| positions.get(&dependency.pkg))
            .collect();
        let mut entry = json!({
            "name": package.name,
            "version": package.version,
            "source": source(package.source.as_ref()),
        });
        if !dependencies.is_empty() {
            entry["dependencies"] = json!(dependencies);
        }
        if package.id == root.id {
            entry["root"] = true.into();
        }
        entry
    });
    json!({ "packages": packages.collect::<Value>() })
}

fn source(source: Option<&Source>) -> &'static str {
    match source.map(|source| source.repr.as_str()) {
        None => "local",
        Some(source) if CRATES_IO.contains(&source) => "crates.io",
        Some(source) if source.starts_with("git+") => "git",
        Some(_) => "registry",
    }
}
