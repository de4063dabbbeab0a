//! Which crates depend on which, on any platform and with any features.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand, Package, PackageId};

use crate::shell::root;

/// The head of the table in ARCHITECTURE.md.
const TABLE: &str = "| crate | uses | must not need |\n|---|---|---|\n";

/// What the table says of one or more crates.
struct Rule {
    crates: Vec<String>,
    /// The crates of this workspace that they use.
    uses: BTreeSet<String>,
    /// Crates that they must not depend on, even indirectly.
    without: Vec<String>,
}

fn rules(text: &str) -> anyhow::Result<Vec<Rule>> {
    let (_, table) = text
        .split_once(TABLE)
        .context("ARCHITECTURE.md has no table of dependencies")?;
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').skip(1).take(3).map(names).collect();
        let [crates, uses, without] = cells.try_into().ok().with_context(|| row.to_owned())?;
        Ok(Rule {
            crates,
            uses: uses.into_iter().collect(),
            without,
        })
    })
    .collect()
}

/// The names in a cell.
fn names(cell: &str) -> Vec<String> {
    cell.split(',')
        .map(|name| name.trim().trim_matches('`'))
        .filter(|name| !["", "none"].contains(name))
        .map(str::to_owned)
        .collect()
}

/// Problems with the dependencies of all crates under `crates`.
pub(super) fn problems() -> anyhow::Result<Vec<String>> {
    let metadata = metadata(&root(), "--locked")?;
    let rules = rules(&fs::read_to_string(root().join("ARCHITECTURE.md"))?)?;
    let mut problems = wrong_uses(&metadata, &rules);
    problems.extend(forbidden(&metadata, &rules));
    Ok(problems)
}

/// The packages of a workspace with all features, for all platforms.
fn metadata(root: &Path, option: &str) -> cargo_metadata::Result<Metadata> {
    let mut command = MetadataCommand::new();
    command.current_dir(root).features(CargoOpt::AllFeatures);
    command.other_options([option.to_owned()]).exec()
}

/// Crates that need what they must not need, and names in the table that no package has.
fn forbidden(metadata: &Metadata, rules: &[Rule]) -> Vec<String> {
    let find = |name: &str| metadata.packages.iter().find(|one| one.name == name);
    let mut problems = Vec::new();
    for rule in rules {
        let unknown = rule
            .crates
            .iter()
            .chain(&rule.without)
            .filter(|name| find(name).is_none());
        problems.extend(unknown.map(|name| {
            format!(
                "the table in ARCHITECTURE.md names `{name}`, and Cargo.lock has no such package"
            )
        }));
        for package in rule.crates.iter().filter_map(|name| find(name)) {
            let needed = dependencies(metadata, &package.id);
            let wrong = rule
                .without
                .iter()
                .filter_map(|wrong| Some((wrong, needed.get(wrong)?)));
            let name = &package.name;
            problems.extend(
                wrong.map(|(wrong, by)| format!("{name} depends on {wrong}, through {by}")),
            );
        }
    }
    problems
}

/// Crates that use others than the table says.
fn wrong_uses(metadata: &Metadata, rules: &[Rule]) -> Vec<String> {
    let members = metadata.workspace_packages();
    let is_member = |name: &str| members.iter().any(|member| member.name == name);
    let mut problems = Vec::new();
    for package in members.iter().filter(|member| is_ours(member)) {
        let name = package.name.to_string();
        let Some(rule) = rules.iter().find(|rule| rule.crates.contains(&name)) else {
            problems.push(format!("the table in ARCHITECTURE.md lacks `{name}`"));
            continue;
        };
        let needed = package
            .dependencies
            .iter()
            .filter(|one| one.kind == DependencyKind::Normal && is_member(&one.name));
        let uses: BTreeSet<_> = needed.map(|one| one.name.clone()).collect();
        if uses != rule.uses {
            let listed = &rule.uses;
            problems.push(format!(
                "{name} uses {uses:?}, but ARCHITECTURE.md says {listed:?}"
            ));
        }
    }
    problems
}

/// Whether a package is one of `crates`.
fn is_ours(package: &Package) -> bool {
    let folder = package.manifest_path.parent();
    folder.is_some_and(|folder| folder.ancestors().any(|part| part.ends_with("crates")))
}

/// Everything that is compiled for a crate, by name, each with the crate that depends on it.
fn dependencies(metadata: &Metadata, package: &PackageId) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![package.clone()];
    let names: BTreeMap<&PackageId, &Package> =
        metadata.packages.iter().map(|one| (&one.id, one)).collect();
    let nodes: BTreeMap<&PackageId, _> = metadata
        .resolve
        .iter()
        .flat_map(|resolve| &resolve.nodes)
        .map(|node| (&node.id, node))
        .collect();
    while let Some(id) = open.pop() {
        let Some(node) = nodes.get(&id) else { continue };
        for dependency in &node.deps {
            let mut kinds = dependency.dep_kinds.iter();
            let is_needed = kinds.any(|kind| kind.kind != DependencyKind::Development);
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
