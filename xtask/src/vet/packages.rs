//! Packages the crates that are published to a registry, and compiles the command from nothing but these packages.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;

use anyhow::Context;
use cargo_metadata::{MetadataCommand, Package};
use flate2::read::GzDecoder;

use crate::shell::{cargo, root, run, target};

pub(super) fn check() -> anyhow::Result<()> {
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
    compile(&published)
}

/// Type-checks the command in a workspace of the unpacked packages. A file that is missing in a package would be an error.
fn compile(published: &[&Package]) -> anyhow::Result<()> {
    let folder = target().join("unpacked");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut manifest = String::from(
        "[workspace]\nresolver = \"3\"\nmembers = [\"mcp-servlet-cli-*\"]\n\n[patch.crates-io]\n",
    );
    for package in published {
        let name = format!("{}-{}", package.name, package.version);
        let file = target().join("package").join(format!("{name}.crate"));
        unpack(&file, &folder)?;
        let _ = writeln!(manifest, "{} = {{ path = \"{name}\" }}", package.name);
    }
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let mut check = cargo(&["check", "--quiet", "--package", "mcp-servlet-cli"]);
    check.current_dir(&folder);
    run(check
        .arg("--target-dir")
        .arg(target().join("packages-check")))
}

fn unpack(package: &Path, folder: &Path) -> anyhow::Result<()> {
    let file = File::open(package).with_context(|| package.display().to_string())?;
    Ok(tar::Archive::new(GzDecoder::new(file)).unpack(folder)?)
}
