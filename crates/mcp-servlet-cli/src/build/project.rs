//! A crate or a workspace, for the commands that build it on the way.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use cargo_metadata::Metadata;
use mcp_servlet_server::watch::Snapshot;

use crate::{
    build::{self, Abi, Target, browser, cargo, packages, profile::Profile},
    failure::Failure,
};

/// What cargo says of a crate or a workspace with servlets.
pub(crate) struct Project {
    folder: PathBuf,
    metadata: Metadata,
}

impl Project {
    /// Asks cargo about a folder or a manifest.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let folder = build::folder(path);
        let metadata = packages::read(folder, Target::default())?;
        let servlets = packages::servlets(&metadata, folder)?;
        cargo::check_targets(folder, &servlets, None)?;
        Ok(Self {
            folder: folder.to_owned(),
            metadata,
        })
    }

    /// The names of its packages that are servlets.
    pub(crate) fn names(&self) -> Result<Vec<String>, Failure> {
        let packages = packages::servlets(&self.metadata, &self.folder)?.into_iter();
        Ok(packages.map(|package| package.name.to_string()).collect())
    }

    /// The name of its folder.
    pub(crate) fn folder_name(&self) -> String {
        let root = self.metadata.workspace_root.file_name();
        root.unwrap_or_default().to_owned()
    }

    /// Builds its servlets as `servlet build` does, with these of its options: by default the smallest.
    ///
    /// Gives each package with its file.
    pub(crate) fn build(
        &self,
        abi: Abi,
        release: bool,
        profile: Option<&str>,
    ) -> Result<Vec<(String, PathBuf)>, Failure> {
        let options = Profile::choose(release, profile, &self.metadata).options();
        let packages = packages::servlets(&self.metadata, &self.folder)?.into_iter();
        packages
            .map(|package| {
                let target = Target::of(package, None)?;
                let folder = abi.folder(&self.metadata);
                let file = build::build(package, target, options.clone(), abi, folder)?;
                Ok((package.name.to_string(), file))
            })
            .collect()
    }

    /// What its servlets are made of, as far as somebody may change it: their packages, those that they depend on by path,
    /// and what stands at the root of the workspace.
    pub(crate) fn sources(&self) -> Result<Snapshot, Failure> {
        let mut files = Snapshot::default();
        let root = self.metadata.workspace_root.as_std_path();
        for name in ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml"] {
            files.add(root.join(name));
        }
        let dependencies = browser::dependencies(&self.metadata);
        let mut seen = BTreeSet::new();
        let servlets = packages::servlets(&self.metadata, &self.folder)?;
        let mut next: Vec<_> = servlets.iter().map(|package| &package.id).collect();
        while let Some(id) = next.pop() {
            if seen.insert(id) {
                next.extend(dependencies.get(id).into_iter().flatten());
            }
        }
        let packages = self.metadata.packages.iter();
        // Others come from a registry, and never change.
        let local =
            packages.filter(|package| package.source.is_none() && seen.contains(&package.id));
        for folder in local.filter_map(|package| package.manifest_path.parent()) {
            files.add_sources(folder.into());
        }
        Ok(files)
    }
}
