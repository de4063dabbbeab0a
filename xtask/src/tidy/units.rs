//! Finds crates that the tests compile more than once.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use crate::shell::{cargo, show};

/// Prints what cargo would compile for the tests. The option is unstable.
const PLAN: [&str; 7] = [
    "test",
    "--workspace",
    "--tests",
    "--no-run",
    "--locked",
    "-Zunstable-options",
    "--unit-graph",
];
/// Lets a stable cargo accept unstable options.
const UNSTABLE: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");

#[derive(Deserialize)]
struct Plan {
    units: Vec<Unit>,
}

/// One run of rustc, or of a build script.
#[derive(Deserialize)]
struct Unit {
    pkg_id: String,
    target: Target,
    mode: String,
    features: Vec<String>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

impl Unit {
    fn is_library(&self) -> bool {
        let kind = |kind: &String| ["lib", "rlib"].contains(&kind.as_str());
        self.mode == "build" && self.target.kind.iter().any(kind)
    }
}

/// The crates that are compiled several times, with the features of each time.
pub(super) fn problems() -> anyhow::Result<Vec<String>> {
    let mut plan = cargo(&PLAN);
    let output = plan.env(UNSTABLE.0, UNSTABLE.1).output();
    let output = output.with_context(|| format!("cannot run `{}`", show(&plan)))?;
    ensure!(
        output.status.success(),
        "`{}` failed: {}",
        show(&plan),
        String::from_utf8_lossy(&output.stderr)
    );
    let plan: Plan = serde_json::from_slice(&output.stdout)
        .context("cannot parse the output of `cargo --unit-graph`")?;
    Ok(repeated(plan.units))
}

fn repeated(units: Vec<Unit>) -> Vec<String> {
    let mut libraries = BTreeMap::<_, Vec<_>>::new();
    for unit in units.into_iter().filter(Unit::is_library) {
        let features = unit.features.join(" ");
        libraries.entry(unit.pkg_id).or_default().push(features);
    }
    libraries.retain(|_, features| features.len() > 1);
    let problem = |(library, features): (String, Vec<String>)| {
        format!(
            "{library} is compiled {} times, with the features `{}`: list all of them in xtask/workspace-hack/Cargo.toml, or \
             find out what else differs",
            features.len(),
            features.join("` and `")
        )
    };
    libraries.into_iter().map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_library_with_two_sets_of_features() {
        let unit = |id: &str, mode: &str, feature: &str| Unit {
            pkg_id: id.to_owned(),
            target: Target {
                kind: vec!["lib".to_owned()],
            },
            mode: mode.to_owned(),
            features: vec![feature.to_owned()],
        };
        let units = vec![
            unit("a@1", "build", "x"),
            unit("a@1", "build", "y"),
            unit("a@2", "build", "x"),
            unit("b@1", "build", "x"),
            unit("b@1", "test", "x"),
        ];
        assert_eq!(
            repeated(units),
            [
                "a@1 is compiled 2 times, with the features `x` and `y`: list all of them in xtask/workspace-hack/Cargo.toml, \
                 or find out what else differs"
            ]
        );
    }
}
