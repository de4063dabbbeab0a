//! Which crates depend on which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};

use crate::shell::root;

/// Crates of this workspace that a crate uses, as in the table of ARCHITECTURE.md.
const USES: [(&str, &[&str]); 13] = [
    (
        "mcp-servlet",
        &[
            "mcp-servlet-json",
            "mcp-servlet-macros",
            "mcp-servlet-types",
        ],
    ),
    (
        "mcp-servlet-check",
        &[
            "mcp-servlet-host",
            "mcp-servlet-runtime",
            "mcp-servlet-schema",
        ],
    ),
    (
        "mcp-servlet-cli",
        &[
            "mcp-servlet-check",
            "mcp-servlet-host",
            "mcp-servlet-runtime",
            "mcp-servlet-schema",
            "mcp-servlet-server",
            "xtp-bundle",
            "xtp-codegen",
        ],
    ),
    (
        "mcp-servlet-host",
        &[
            "mcp-servlet-runtime",
            "mcp-servlet-schema",
            "mcp-servlet-types",
        ],
    ),
    ("mcp-servlet-json", &[]),
    ("mcp-servlet-macros", &[]),
    ("mcp-servlet-runtime", &["mcp-servlet-types"]),
    ("mcp-servlet-schema", &["mcp-servlet-json"]),
    (
        "mcp-servlet-server",
        &[
            "mcp-servlet-host",
            "mcp-servlet-runtime",
            "mcp-servlet-schema",
        ],
    ),
    ("mcp-servlet-types", &["mcp-servlet-json"]),
    ("xtp-bindgen", &["xtp-codegen"]),
    ("xtp-bundle", &[]),
    ("xtp-codegen", &[]),
];

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
    let mut problems = unlisted(&metadata);
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

/// Problems with crates that use others than [`USES`] lists.
fn unlisted(metadata: &Metadata) -> Vec<String> {
    let members = metadata.workspace_packages();
    let is_member = |name: &str| members.iter().any(|member| member.name == name);
    let mut problems = Vec::new();
    for package in members.iter().filter(|member| is_ours(member)) {
        let uses = USES.iter().find(|(name, _)| package.name == *name);
        let Some((_, uses)) = uses else {
            problems.push(format!("`USES` does not list the crate `{}`", package.name));
            continue;
        };
        let needed = package.dependencies.iter();
        let needed =
            needed.filter(|one| one.kind == DependencyKind::Normal && is_member(&one.name));
        let wrong = needed.filter(|one| !uses.contains(&&*one.name));
        problems.extend(wrong.map(|one| {
            format!(
                "{} uses {}, which `USES` does not list",
                package.name, one.name
            )
        }));
    }
    problems
}

/// Whether a package is one of `crates`.
fn is_ours(package: &Package) -> bool {
    let folder = package.manifest_path.parent();
    folder.is_some_and(|folder| folder.ancestors().any(|part| part.ends_with("crates")))
}

fn sources(metadata: &Metadata) -> Vec<PathBuf> {
    let packages = metadata.workspace_packages().into_iter();
    let packages = packages.filter(|package| is_ours(package) || package.name == "xtask");
    let ours = packages.filter_map(|package| package.manifest_path.parent());
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
