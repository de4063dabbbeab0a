//! The ABIs that servlets can be built for.

use cargo_metadata::{Metadata, Package, camino::Utf8PathBuf};
use clap::ValueEnum;

use crate::failure::{Failure, Kind};

/// The crate whose features select the ABI. The default ABI needs none.
const SDK: &str = "mcp-servlet";

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

    /// The options of `cargo build` for a package.
    pub(super) fn options(self, package: &Package) -> Result<Vec<String>, Failure> {
        if self == Self::Servlet {
            return Ok(Vec::new());
        }
        let mut dependencies = package.dependencies.iter();
        let Some(sdk) = dependencies.find(|dependency| dependency.name == SDK) else {
            let message = format!(
                "`--abi` needs a crate that depends on `{SDK}`, and `{}` does not",
                package.name
            );
            let help = "build it without `--abi`";
            return Err(Failure::with_help(Kind::Build, message, help));
        };
        let name = sdk.rename.as_ref().unwrap_or(&sdk.name);
        Ok(vec![
            "--features".to_owned(),
            format!("{name}/{HYPER_MCP_V2}"),
        ])
    }
}
