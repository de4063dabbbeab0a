//! Packages the crates that are published to a registry, and uses nothing but these packages for a new project. That the others
//! compile, `cargo publish` checks.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use cargo_metadata::{MetadataCommand, Package};
use flate2::read::GzDecoder;

use crate::shell::{cargo, output, program, quietly, root, run, target};

pub(super) fn check_packages() -> anyhow::Result<()> {
    let metadata = MetadataCommand::new()
        .no_deps()
        .current_dir(root())
        .exec()?;
    let packages = metadata.packages.iter();
    let published: Vec<_> = packages
        .filter(|package| package.publish.as_ref().is_none_or(|to| !to.is_empty()))
        .collect();
    let mut package = cargo(&["package", "--no-verify", "--allow-dirty", "--quiet"]);
    for one in &published {
        package.arg("--package").arg(one.name.as_str());
    }
    run(&mut package)?;
    let folder = target().join("unpacked");
    let patches = unpack_all(&published, &folder)?;
    create_project(&patches)
}

/// Unpacks the packages into an empty folder. Returns a `[patch]` section that lets cargo use them instead of those of the registry.
fn unpack_all(published: &[&Package], folder: &Path) -> anyhow::Result<String> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let mut patches = String::from("[patch.crates-io]\n");
    for package in published {
        let name = format!("{}-{}", package.name, package.version);
        let file = target().join("package").join(format!("{name}.crate"));
        unpack(&file, folder)?;
        let path = folder.join(name).display().to_string();
        let _ = writeln!(patches, "{} = {{ path = {path:?} }}", package.name);
    }
    Ok(patches)
}

/// Creates a project outside of the checkout, as with the published command, tests it with the unpacked packages, and calls its tool.
fn create_project(patches: &str) -> anyhow::Result<()> {
    run(&mut cargo(&["programs", "--quiet"]))?;
    let home = tempfile::tempdir()?;
    let project = home.path().join("hello");
    let servlet = |arguments: &[&str], folder: &Path| {
        let mut command = Command::new(program("servlet"));
        command
            .args(arguments)
            .current_dir(folder)
            .env("CARGO_TARGET_DIR", target().join("packages-project"));
        command
    };
    quietly(&mut servlet(&["new", "hello"], home.path()))?;
    let manifest = project.join("Cargo.toml");
    let text = fs::read_to_string(&manifest)?;
    fs::write(manifest, format!("{text}\n{patches}"))?;
    fs::copy(root().join("Cargo.lock"), project.join("Cargo.lock"))?;
    quietly(&mut servlet(&["test"], &project))?;
    quietly(&mut servlet(&["build", "-o", "hello.wasm"], &project))?;
    let call = ["call", "hello.wasm", "greet", "name=Ada"];
    let printed = output(&mut servlet(&call, &project))?;
    ensure!(printed == "Hello, Ada!\n", "{printed}");
    Ok(())
}

fn unpack(package: &Path, folder: &Path) -> anyhow::Result<()> {
    let file = File::open(package).with_context(|| package.display().to_string())?;
    let mut archive = tar::Archive::new(GzDecoder::new(file));
    // Each package has the same time for all its files, so cargo would not see that they have changed.
    archive.set_preserve_mtime(false);
    Ok(archive.unpack(folder)?)
}
