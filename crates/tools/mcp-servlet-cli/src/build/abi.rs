//! The ABIs that servlets can be built for.

use std::process::Command;

use cargo_metadata::{Metadata, Package, camino::Utf8PathBuf};
use clap::ValueEnum;
use mcp_servlet_runtime::{Abi as ModuleAbi, Module};

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
        // Always set, because `[env]` in a configuration of cargo may set it otherwise.
        cargo.env(VARIABLE, self.name());
    }

    fn name(self) -> &'static str {
        match self {
            Self::Servlet => "servlet",
            Self::HyperMcpV2 => HYPER_MCP_V2,
        }
    }

    /// Refuses a package that cannot be built for this ABI.
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

    /// Refuses a module of another ABI, such as one of a release of the SDK that does not read the variable.
    pub(super) fn check_module(self, module: &Module, package: &Package) -> Result<(), Failure> {
        let found = module.abi();
        let is_right = match self {
            // An XTP plugin has the exports of its own schema.
            Self::Servlet => found != Some(ModuleAbi::HyperMcpV2),
            Self::HyperMcpV2 => found == Some(ModuleAbi::HyperMcpV2),
        };
        if is_right {
            return Ok(());
        }
        let message = format!(
            "`{}` was not built for the ABI `{}`",
            package.name,
            self.name()
        );
        let help = format!(
            "`{SDK}` must be a release with the variable `{VARIABLE}`, and the crate must have an `export!`"
        );
        Err(Failure::with_help(Kind::Build, message, help))
    }
}
