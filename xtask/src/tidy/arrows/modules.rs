//! Which modules of a crate use which, by the names in their code.
//!
//! A use counts for the module that defines the name, however many re-exports are between them. Calls of
//! methods do not name a module and are not seen. A macro without a path is in the module itself or in
//! one around it, because no crate has `#[macro_use]`.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::source::{self, Source, UsedPath};
use super::{Graph, shortest_circle};

/// The name for items that `lib.rs` or `main.rs` defines.
const ROOT: &str = "the crate root";

/// The path of a module or item, from the crate root.
type ModulePath = Vec<String>;

/// The modules of a crate, and the arrows between them.
pub(super) struct Modules {
    sources: BTreeMap<ModulePath, Source>,
    /// For each module with submodules, which of them use which.
    graphs: BTreeMap<ModulePath, Graph<ModulePath>>,
    /// For each arrow, a file and the path in it.
    evidence: BTreeMap<(ModulePath, ModulePath), String>,
}

impl Modules {
    /// Reads the crate whose sources are in a folder.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let mut modules = Self {
            sources: source::read(folder)?,
            graphs: BTreeMap::new(),
            evidence: BTreeMap::new(),
        };
        let uses = modules.sources.iter().flat_map(|(module, source)| {
            let uses = source.uses.iter();
            uses.map(move |one| (module.clone(), one.clone()))
        });
        for (module, used) in uses.collect::<Vec<_>>() {
            if let Some(definer) = modules.definer(&module, &used.path, &mut BTreeSet::new()) {
                modules.add(&module, &definer, &used);
            }
        }
        Ok(modules)
    }

    /// The shortest cycle of each level, with a file for each of its arrows.
    pub(super) fn circles(&self) -> Vec<String> {
        let circles = self.graphs.values().filter_map(shortest_circle);
        circles.map(|circle| self.show(&circle)).collect()
    }

    fn show(&self, circle: &[ModulePath]) -> String {
        let arrows = circle.windows(2).map(|pair| {
            let evidence = self.evidence.get(&(pair[0].clone(), pair[1].clone()));
            let evidence = evidence.map_or("", String::as_str);
            format!(
                "\n      {} uses {}: {evidence}",
                name(&pair[0]),
                name(&pair[1])
            )
        });
        arrows.collect()
    }

    /// Records that a module uses another one, as an arrow between two siblings that contain them.
    ///
    /// A module and its submodules are one part and may use each other, except that the crate root must
    /// not be used by a module that it uses.
    fn add(&mut self, from: &[String], to: &[String], used: &UsedPath) {
        let same = from.iter().zip(to).take_while(|(from, to)| from == to);
        let level = same.count();
        let is_inside = from.len() == level || to.len() == level;
        if from == to || (is_inside && level > 0) {
            return;
        }
        let sibling = |path: &[String]| path[..path.len().min(level + 1)].to_vec();
        let (parent, from, to) = (from[..level].to_vec(), sibling(from), sibling(to));
        let mention = format!("{} has `{}`", used.file.display(), used.path.join("::"));
        let arrow = (from.clone(), to.clone());
        self.evidence.entry(arrow).or_insert(mention);
        let graph = self.graphs.entry(parent).or_default();
        graph.entry(from).or_default().insert(to);
    }

    /// The module that defines what a path means in a module, or nothing for other crates and local names.
    fn definer(
        &self,
        module: &[String],
        path: &[String],
        seen: &mut BTreeSet<(ModulePath, String)>,
    ) -> Option<ModulePath> {
        let is_bare = !["crate", "self", "super"].contains(&path.first()?.as_str());
        let mut place = match path[0].as_str() {
            "crate" => Vec::new(),
            _ => module.to_vec(),
        };
        for (at, name) in path.iter().enumerate() {
            match name.as_str() {
                "crate" | "self" => {}
                "super" => _ = place.pop(),
                name => {
                    let inner = [&place[..], &[name.to_owned()]].concat();
                    // A name alone is an item or a variable, even if a module has the same name.
                    let is_path = !is_bare || path.len() > 1;
                    if is_path && self.sources.contains_key(&inner) {
                        place = inner;
                        continue;
                    }
                    let rest = &path[at + 1..];
                    let found = self.in_module(&place, name, rest, seen);
                    return found.or_else(|| (!is_bare || at > 0).then_some(place));
                }
            }
        }
        Some(place)
    }

    /// Follows the imports of a module to the one that defines a name, or an item behind the name.
    fn in_module(
        &self,
        place: &[String],
        name: &str,
        rest: &[String],
        seen: &mut BTreeSet<(ModulePath, String)>,
    ) -> Option<ModulePath> {
        let source = self.sources.get(place)?;
        if source.items.contains(name) {
            return Some(place.to_vec());
        }
        if !seen.insert((place.to_vec(), name.to_owned())) {
            return None;
        }
        if let Some(import) = source.imports.get(name) {
            return self.definer(place, &[import, rest].concat(), seen);
        }
        source.globs.iter().find_map(|glob| {
            let glob = self.definer(place, glob, seen)?;
            self.in_module(&glob, name, rest, seen)
        })
    }
}

fn name(module: &[String]) -> String {
    match module {
        [] => ROOT.to_owned(),
        names => names.join("::"),
    }
}
