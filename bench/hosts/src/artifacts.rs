//! What `./x bench` has built and installed.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// The target directory, as an absolute path.
pub(crate) struct Artifacts(PathBuf);

impl Artifacts {
    pub(crate) fn new(target: &Path) -> anyhow::Result<Self> {
        let folder = target.canonicalize();
        Ok(Self(folder.with_context(|| target.display().to_string())?))
    }

    /// The `servlet` command.
    pub(crate) fn servlet(&self) -> PathBuf {
        self.0.join("bench/hosts/dist/servlet")
    }

    /// The native server and proxy.
    pub(crate) fn native(&self) -> PathBuf {
        self.0.join("bench/hosts/release/native")
    }

    /// The servlet of a feature of `bench/ours`.
    pub(crate) fn wasm(&self, feature: &str) -> PathBuf {
        let wasm = self.0.join("bench/ours").join(feature);
        wasm.with_extension("wasm")
    }

    /// A program of Python.
    pub(crate) fn python(&self, program: &str) -> PathBuf {
        self.0.join("python/bench/bin").join(program)
    }

    /// A program of npm, or Node.
    pub(crate) fn npm(&self, program: &str) -> PathBuf {
        self.0.join("npm/bench/node_modules/.bin").join(program)
    }
}
