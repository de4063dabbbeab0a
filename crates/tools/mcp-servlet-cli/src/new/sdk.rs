//! The dependency on the SDK in a new project.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::failure::{Failure, Kind};

/// The SDK in a checkout of this repository.
const IN_CHECKOUT: &str = "crates/guest/mcp-servlet";

/// The dependency, with the keys of Cargo.toml.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Sdk {
    Version(String),
    Git(String),
    Path(PathBuf),
}

impl fmt::Display for Sdk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "in version {version}"),
            Self::Git(url) => write!(f, "of the repository {url}"),
            Self::Path(path) => write!(f, "at `{}`", path.display()),
        }
    }
}

impl Sdk {
    /// Parses the value of `--sdk`. Digits and dots are a version, a URL is a git repository,
    /// anything else is a path.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let version = text.trim_start_matches(['^', '~', '=', '>', '<', ' ']);
        if version.starts_with(|c: char| c.is_ascii_digit()) && !Path::new(text).exists() {
            return Ok(Self::Version(text.to_owned()));
        }
        let is_git = text.contains("://") || text.starts_with("git@");
        if is_git {
            return Ok(Self::Git(text.to_owned()));
        }
        let path = Path::new(text);
        let inner = path.join(IN_CHECKOUT);
        let package = if inner.is_dir() { &inner } else { path };
        match std::path::absolute(package) {
            Ok(absolute) if absolute.join("Cargo.toml").is_file() => Ok(Self::Path(absolute)),
            _ => Err(Failure::with_help(
                Kind::Usage,
                format!("there is no SDK at `{text}`"),
                "give a version, the URL of a git repository, or the path of a checkout",
            )),
        }
    }

    /// The SDK of the version of this command.
    pub(super) fn of_this_version() -> Self {
        Self::Version(env!("CARGO_PKG_VERSION").to_owned())
    }

    /// The SDK of the checkout that a folder is in.
    pub(super) fn of_checkout(folder: &Path) -> Option<Self> {
        let packages = folder.ancestors().map(|root| root.join(IN_CHECKOUT));
        packages
            .filter(|package| package.join("Cargo.toml").is_file())
            .map(Self::Path)
            .next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_versions_repositories_and_paths() {
        let parse = |text| Sdk::parse(text).ok();
        for version in ["0.1", "^1.2.3", "=0.1.0", ">= 1"] {
            assert_eq!(parse(version), Some(Sdk::Version(version.to_owned())));
        }
        for git in ["https://host.example/sdk", "git@host.example:sdk.git"] {
            assert_eq!(parse(git), Some(Sdk::Git(git.to_owned())));
        }
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
        let Some(Sdk::Path(path)) = parse(root) else {
            panic!("a checkout is an SDK");
        };
        assert!(path.ends_with("crates/guest/mcp-servlet"));
        assert_eq!(parse("no/such/folder"), None);
    }

    #[test]
    fn finds_the_checkout_above_a_folder() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = package.ancestors().nth(3).expect("a checkout");
        let expected = Some(Sdk::Path(root.join(IN_CHECKOUT)));
        assert_eq!(Sdk::of_checkout(root), expected);
        assert_eq!(Sdk::of_checkout(&package.join("src")), expected);
        let outside = tempfile::tempdir().expect("a folder");
        assert_eq!(Sdk::of_checkout(outside.path()), None);
    }
}
