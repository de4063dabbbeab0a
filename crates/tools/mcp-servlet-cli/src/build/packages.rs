//! Finds the servlets among the packages at a path.

use std::path::Path;

use cargo_metadata::{Metadata, MetadataCommand, Package, TargetKind};

use crate::{
    build::{WasmTarget, cargo},
    failure::{Failure, Kind},
};

/// Runs `cargo metadata` for a path, with the dependencies for the target.
pub(super) fn read(path: &Path, target: WasmTarget) -> Result<Metadata, Failure> {
    let manifest = path.join("Cargo.toml");
    if !manifest.is_file() {
        let message = format!("there is no crate at `{}`: no Cargo.toml", path.display());
        return Err(Failure::with_help(
            Kind::Usage,
            message,
            "give the path of a crate or a workspace",
        ));
    }
    let platform = ["--filter-platform", target.triple()].map(str::to_owned);
    let mut command = MetadataCommand::new();
    command.current_dir(path).other_options(platform);
    if let Some((name, target)) = cargo::target() {
        command.env(name, target);
    }
    command.exec().map_err(|error| {
        let message = match error {
            cargo_metadata::Error::Io(error) => return cargo::cannot_run("cargo", &error),
            cargo_metadata::Error::CargoMetadata { stderr } => {
                stderr.trim_start_matches("error: ").trim().to_owned()
            }
            other => other.to_string(),
        };
        Failure::new(
            Kind::Build,
            format!("cargo cannot read `{}`: {message}", manifest.display()),
        )
    })
}

/// The packages at the path that build to a `cdylib`.
///
/// For a workspace without a root package, these are the default members, or all members if no
/// default member is a servlet.
pub(super) fn servlets<'a>(
    metadata: &'a Metadata,
    path: &Path,
) -> Result<Vec<&'a Package>, Failure> {
    let candidates = match metadata.root_package() {
        Some(package) => vec![package],
        None => metadata.workspace_default_packages(),
    };
    let mut found: Vec<_> = candidates
        .iter()
        .copied()
        .filter(|package| is_servlet(package))
        .collect();
    if found.is_empty() && metadata.root_package().is_none() {
        let members = metadata.workspace_packages();
        found = members
            .into_iter()
            .filter(|package| is_servlet(package))
            .collect();
    }
    found.sort_by(|left, right| left.name.cmp(&right.name));
    if found.is_empty() {
        let message = format!("there is no servlet at `{}`: no `cdylib`", path.display());
        let help = "add to Cargo.toml:\n[lib]\ncrate-type = [\"cdylib\", \"rlib\"]";
        return Err(Failure::with_help(Kind::Build, message, help));
    }
    Ok(found)
}

fn is_servlet(package: &Package) -> bool {
    let is_cdylib = |target: &cargo_metadata::Target| target.is_kind(TargetKind::CDyLib);
    package.targets.iter().any(is_cdylib)
}
