//! A crate or workspace, for commands that build it first.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use cargo_metadata::Metadata;
use mcp_servlet_server::watch::Snapshot;

use crate::{
    build::{self, Abi, WasmTarget, browser, cargo, packages, profile::Profile},
    failure::Failure,
};

/// The cargo metadata of a crate or workspace with servlets.
pub(crate) struct Project {
    folder: PathBuf,
    metadata: Metadata,
}

impl Project {
    /// Reads the metadata of a folder or manifest.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let folder = build::folder(path);
        let metadata = packages::read(folder, WasmTarget::default())?;
        let servlets = packages::servlets(&metadata, folder)?;
        cargo::check_targets(folder, &servlets, None)?;
        Ok(Self {
            folder: folder.to_owned(),
            metadata,
        })
    }

    /// The names of the packages that are servlets.
    pub(crate) fn names(&self) -> Result<Vec<String>, Failure> {
        let packages = packages::servlets(&self.metadata, &self.folder)?.into_iter();
        Ok(packages.map(|package| package.name.to_string()).collect())
    }

    /// The name of the workspace folder.
    pub(crate) fn folder_name(&self) -> String {
        let root = self.metadata.workspace_root.file_name();
        root.unwrap_or_default().to_owned()
    }

    /// Builds the servlets like `servlet build` with these options, into the same files. By default they are built for size.
    ///
    /// Returns the ID of each package, by which cargo finds it, with its file.
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
                let target = WasmTarget::of(package, None)?;
                let folder = abi.folder(&self.metadata);
                let _lock = build::lock(&folder)?;
                let (built, module) = build::build(package, target, options.clone(), abi, folder)?;
                build::finish(&built, &module, package, &self.metadata, true)?;
                Ok((package.id.repr.clone(), built.path))
            })
            .collect()
    }

    /// The files that the servlets are built from and that may change: their packages, path
    /// dependencies, and the files at the workspace root.
    pub(crate) fn sources(&self) -> Result<Snapshot, Failure> {
        let mut files = Snapshot::default();
        // Cargo marks it as a cache only if it has created it.
        files.ignore(self.metadata.target_directory.clone().into());
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
        // Packages from a registry never change.
        let local =
            packages.filter(|package| package.source.is_none() && seen.contains(&package.id));
        for folder in local.filter_map(|package| package.manifest_path.parent()) {
            files.add_sources(folder.into());
        }
        Ok(files)
    }
}
