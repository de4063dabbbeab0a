//! The targets that servlets can be built for: plain WebAssembly, or with WASI.

use cargo_metadata::Package;
use clap::ValueEnum;

use crate::failure::{Failure, Kind};

/// A target of rustc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum WasmTarget {
    /// For every host: without clock, files and environment of std
    #[default]
    #[value(name = "wasm32-unknown-unknown")]
    Bare,
    /// With WASI preview 1: std has a clock, randomness and the directories of `--allow-path`
    #[value(name = "wasm32-wasip1")]
    Wasi,
}

impl WasmTarget {
    /// The target triple.
    pub(crate) const fn triple(self) -> &'static str {
        match self {
            Self::Bare => "wasm32-unknown-unknown",
            Self::Wasi => "wasm32-wasip1",
        }
    }

    /// The target from the command line, or else from the package's manifest:
    /// `[package.metadata.mcp-servlet] target = "wasm32-wasip1"`.
    pub(super) fn of(package: &Package, given: Option<Self>) -> Result<Self, Failure> {
        let named = &package.metadata["mcp-servlet"]["target"];
        match (given, named.as_str()) {
            (Some(target), _) => Ok(target),
            (None, None) if named.is_null() => Ok(Self::default()),
            (None, name) => {
                let known = name.and_then(|name| Self::from_str(name, false).ok());
                known.ok_or_else(|| {
                    let message = format!(
                        "unknown target in `package.metadata.mcp-servlet` of `{}`: expected `wasm32-unknown-unknown` or \
                        `wasm32-wasip1`, found `{named}`",
                        package.name
                    );
                    Failure::new(Kind::Build, message)
                })
            }
        }
    }
}
