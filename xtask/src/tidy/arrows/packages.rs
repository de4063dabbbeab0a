//! Which crates depend on which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};

use crate::shell::root;

/// Crates that a crate must not depend on, even indirectly.
const WITHOUT: [(&str, &[&str]); 7] = [
    ("mcp-servlet", &["wasmtime", "tokio"]),
    ("mcp-servlet-types", &["wasmtime", "tokio", "serde_json"]),
    (
        "mcp-servlet-runtime",
        &[
            "rmcp",
            "axum",
            "prometheus-client",
            "jsonschema",
            "schemars",
        ],
    ),
    (
        "mcp-servlet-schema",
        &["wasmtime", "extism", "tokio", "rmcp", "axum"],
    ),
    ("mcp-servlet-host", &["rmcp", "axum", "prometheus-client"]),
    ("mcp-servlet-check", &["rmcp", "axum", "prometheus-client"]),
    ("xtp-codegen", &["wasmtime", "extism", "tokio"]),
];

/// Problems with dependencies, and the source folders of our crates.
pub(super) fn check() -> anyhow::Result<(Vec<String>, Vec<PathBuf>)> {
    let mut command = MetadataCommand::new();
    command.current_dir(root());
    let options = ["--locked", "--filter-platform", "host-tuple"];
    command.other_options(options.map(str::to_owned));
    let metadata = command.exec()?;
    let mut problems = Vec::new();
    for (name, without) in WITHOUT {
        let package = metadata.packages.iter().find(|one| one.name == name);
        let Some(package) = package else {
            problems.push(format!("there is no crate `{name}`"));
            continue;
        };
        let needed = dependencies(&metadata, &package.id);
        let wrong = without.iter().filter(|name| needed.contains_key(**name));
        problems.extend(wrong.map(|wrong| {
            let by = &needed[*wrong];
            format!("{name} depends on {wrong}, through {by}")
        }));
    }
    Ok((problems, sources(&metadata)))
}

fn sources(metadata: &Metadata) -> Vec<PathBuf> {
    let packages = metadata.workspace_packages().into_iter();
    let folders = packages.filter_map(|package| package.manifest_path.parent());
    let ours = folders.filter(|folder| {
        folder.ancestors().any(|part| part.ends_with("crates")) || folder.ends_with("xtask")
    });
    ours.map(|folder| folder.join("src").into_std_path_buf())
        .collect()
}

/// Everything that a crate needs at run time, by name, each with the crate that depends on it.
fn dependencies(metadata: &Metadata, package: &PackageId) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![package.clone()];
    let names: BTreeMap<&PackageId, &Package> =
        metadata.packages.iter().map(|one| (&one.id, one)).collect();
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let nodes: BTreeMap<&PackageId, _> = nodes.map(|node| (&node.id, node)).collect();
    while let Some(id) = open.pop() {
        let Some(node) = nodes.get(&id) else { continue };
        for dependency in &node.deps {
            let mut kinds = dependency.dep_kinds.iter();
            let is_needed = kinds.any(|kind| kind.kind == DependencyKind::Normal);
            if is_needed && seen.insert(dependency.pkg.clone()) {
                let name = names[&dependency.pkg].name.to_string();
                found
                    .entry(name)
                    .or_insert_with(|| names[&id].name.to_string());
                open.push(dependency.pkg.clone());
            }
        }
    }
    found
}
