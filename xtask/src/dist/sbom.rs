//! The list of crates in the command, in the format `CycloneDX`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::Context;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{LICENSE, Program, VERSION};
use crate::shell::{cargo, output, root};

/// `Cargo.lock`.
#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// The crates that these programs link.
pub(super) fn write(programs: &[Program]) -> anyhow::Result<(String, Vec<u8>)> {
    let lock: Lock = toml::from_str(&fs::read_to_string(root().join("Cargo.lock"))?)?;
    let locked = lock.package.into_iter();
    let checksums: BTreeMap<_, _> = locked
        .filter_map(|one| Some(((one.name, one.version), one.checksum?)))
        .collect();
    let mut linked = BTreeSet::new();
    for program in programs {
        linked.extend(crates(program.platform.triple)?);
    }
    let components: Vec<_> = linked
        .into_iter()
        .map(|(name, version, license)| {
            let checksum = checksums.get(&(name.clone(), version.clone()));
            component(&name, &version, &license, checksum)
        })
        .collect();
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "servlet",
                "version": VERSION,
                "licenses": [{ "expression": LICENSE }],
            },
        },
        "components": components,
    });
    let name = format!("servlet-{VERSION}.cdx.json");
    Ok((name, format!("{document:#}\n").into_bytes()))
}

fn component(name: &str, version: &str, license: &str, checksum: Option<&String>) -> Value {
    let purl = format!("pkg:cargo/{name}@{version}");
    let mut component = json!({
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "licenses": [{ "expression": license }],
        "purl": purl,
    });
    if let Some(checksum) = checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}

/// The name, version and license of each crate that the command links on a platform. Unlike the metadata of cargo, its
/// tree has only the features of this package.
fn crates(triple: &str) -> anyhow::Result<Vec<(String, String, String)>> {
    let mut tree = cargo(&["tree", "--locked", "--package", "mcp-servlet-cli"]);
    tree.args(["--target", triple, "--edges", "normal,no-proc-macro"]);
    tree.args(["--prefix", "none", "--format", "{p}\t{l}"]);
    let text = output(&mut tree)?;
    let crates = text.lines().map(|line| {
        let (package, license) = line.split_once('\t').context("a line of `cargo tree`")?;
        let mut words = package.split(' ');
        let (name, version) = (words.next(), words.next());
        let version = version
            .and_then(|version| version.strip_prefix('v'))
            .context("a version in `cargo tree`")?;
        // Old crates have `/` instead of `OR`, and repeated ones end with ` (*)`.
        let license: Vec<_> = license
            .trim_end_matches(" (*)")
            .split('/')
            .map(str::trim)
            .collect();
        Ok((
            name.unwrap_or_default().to_owned(),
            version.to_owned(),
            license.join(" OR "),
        ))
    });
    crates.collect()
}
