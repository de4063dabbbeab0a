//! The ABIs that servlets can be built for.

use std::process::Command;

use cargo_metadata::{Metadata, Package, camino::Utf8PathBuf};
use clap::ValueEnum;

use crate::failure::{Failure, Kind};

/// The crate that has the exports of each ABI.
const SDK: &str = "mcp-servlet";

/// The variable that its build script reads. Without it, the ABI is the default one.
const VARIABLE: &str = "MCP_SERVLET_ABI";

const HYPER_MCP_V2: &str = "hyper-mcp-v2";

/// An ABI between hosts and servlets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Abi {
    /// For every host
    #[default]
    Servlet,
    /// For hyper-mcp, which then also serves resources, prompts and completions
    HyperMcpV2,
}

impl Abi {
    /// The target folder. Each ABI has its own, so that one build does not overwrite the other.
    pub(super) fn folder(self, metadata: &Metadata) -> Utf8PathBuf {
        match self {
            Self::Servlet => metadata.target_directory.clone(),
            Self::HyperMcpV2 => metadata.target_directory.join(HYPER_MCP_V2),
        }
    }

    /// Makes cargo build for this ABI.
    pub(super) fn set(self, cargo: &mut Command) {
        match self {
            Self::Servlet => cargo.env_remove(VARIABLE),
            Self::HyperMcpV2 => cargo.env(VARIABLE, HYPER_MCP_V2),
        };
    }

    /// Refuses a package without the crate that has the exports of this ABI.
    pub(super) fn check(self, package: &Package) -> Result<(), Failure> {
        let mut dependencies = package.dependencies.iter();
        if self == Self::Servlet || dependencies.any(|dependency| dependency.name == SDK) {
            return Ok(());
        }
        let message = format!(
            "`--abi` needs a crate that depends on `{SDK}`, and `{}` does not",
            package.name
        );
        let help = "build it without `--abi`";
        Err(Failure::with_help(Kind::Build, message, help))
    }
}
