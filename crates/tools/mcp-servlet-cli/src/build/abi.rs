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

/// An ABI between hosts and servlets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Abi {
    /// For every host
    #[default]
    Servlet,
    /// For hyper-mcp, which then also serves resources, prompts and completions
    HyperMcpV2,
    /// For hosts that read results with the types of the first XTP schemas of servlets
    ServletStrict,
}

impl Abi {
    /// The target folder. Each ABI has its own, so that one build does not overwrite the other.
    pub(super) fn folder(self, metadata: &Metadata) -> Utf8PathBuf {
        match self {
            Self::Servlet => metadata.target_directory.clone(),
            Self::HyperMcpV2 | Self::ServletStrict => metadata.target_directory.join(self.name()),
        }
    }

    /// Makes cargo build for this ABI.
    pub(super) fn set(self, cargo: &mut Command) {
        // Always set, because `[env]` in a cargo configuration may have another value.
        cargo.env(VARIABLE, self.name());
    }

    fn name(self) -> String {
        match self {
            Self::Servlet => ModuleAbi::Servlet.to_string(),
            Self::HyperMcpV2 => ModuleAbi::HyperMcpV2.to_string(),
            Self::ServletStrict => "servlet-strict".to_owned(),
        }
    }

    /// With `--abi`, refuses a module of another ABI, such as one of an SDK that does not read the variable.
    pub(super) fn check(self, module: &Module, package: &Package) -> Result<(), Failure> {
        // Without `--abi`, a crate may export anything: an XTP plugin may have an export `complete`.
        let is_built_for_it = match self {
            Self::Servlet => true,
            Self::HyperMcpV2 => module.abi() == Some(ModuleAbi::HyperMcpV2),
            Self::ServletStrict => module.is_strict(),
        };
        if is_built_for_it {
            return Ok(());
        }
        let message = format!(
            "the wasm of `{}` does not have the ABI `{}`",
            package.name,
            self.name()
        );
        let help = format!(
            "`--abi` needs an `export!` of `{SDK}`, in a release that reads `{VARIABLE}`; otherwise build without `--abi`"
        );
        Err(Failure::with_help(Kind::Build, message, help))
    }
}
