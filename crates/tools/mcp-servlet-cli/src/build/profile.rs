//! The cargo profile of a build.

use cargo_metadata::Metadata;
use toml::Table;

const SERVLET: &str = "servlet";

/// Settings for the smallest wasm, the same as `[profile.servlet]` in this repository.
const SETTINGS: [&str; 6] = [
    "inherits='release'",
    "opt-level='z'",
    "lto='fat'",
    "codegen-units=1",
    "panic='abort'",
    "strip=true",
];

/// A profile of cargo.
#[derive(Debug, PartialEq)]
pub(super) struct Profile {
    name: String,
    /// Whether the workspace lacks the profile, so that the command line has to define it.
    defined_here: bool,
}

impl Profile {
    pub(super) fn choose(release: bool, named: Option<&str>, metadata: &Metadata) -> Self {
        let manifest = || std::fs::read_to_string(metadata.workspace_root.join("Cargo.toml"));
        let named = named.or(release.then_some("release"));
        Self {
            name: named.unwrap_or(SERVLET).to_owned(),
            defined_here: named.is_none() && !defines_servlet(&manifest().unwrap_or_default()),
        }
    }

    /// The options that keep function names but no other debug information, so that sizes stay the same.
    pub(super) fn options_with_names(&self) -> Vec<String> {
        let mut options = self.options();
        for setting in ["strip=false", "debug=0"] {
            options.push("--config".to_owned());
            options.push(format!("profile.{}.{setting}", self.name));
        }
        options
    }

    /// The options for `cargo build`.
    pub(super) fn options(&self) -> Vec<String> {
        let mut options = vec!["--profile".to_owned(), self.name.clone()];
        if self.defined_here {
            for setting in SETTINGS {
                options.push("--config".to_owned());
                options.push(format!("profile.{SERVLET}.{setting}"));
            }
        }
        options
    }
}

/// Whether a workspace manifest defines the profile: cargo requires `inherits` of such a profile.
fn defines_servlet(manifest: &str) -> bool {
    let manifest: Table = manifest.parse().unwrap_or_default();
    let profile = manifest
        .get("profile")
        .and_then(|profiles| profiles.get(SERVLET));
    profile.is_some_and(|profile| profile.get("inherits").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sees_the_profile_of_a_workspace() {
        for manifest in [
            "[workspace]\n\n  [profile.servlet] # small\ninherits = \"release\"\n",
            "[profile.\"servlet\"]\r\ninherits = \"release\"\r\n",
            "[profile]\nservlet.inherits = \"dev\"\n",
        ] {
            assert!(defines_servlet(manifest), "{manifest}");
        }
        for manifest in [
            "# [profile.servlet]\n[profile.release]\n",
            "[profile.servlet.package.png]\nopt-level = 3\n",
        ] {
            assert!(!defines_servlet(manifest), "{manifest}");
        }
    }

    #[test]
    fn brings_the_profile_along_where_the_workspace_lacks_it() {
        let options = Profile {
            name: SERVLET.into(),
            defined_here: true,
        }
        .options();
        assert_eq!(
            options[..4],
            [
                "--profile",
                "servlet",
                "--config",
                "profile.servlet.inherits='release'"
            ]
        );
        let options = Profile {
            name: "release".into(),
            defined_here: false,
        }
        .options();
        assert_eq!(options, ["--profile", "release"]);
    }
}
