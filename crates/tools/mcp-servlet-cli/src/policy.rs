//! `--policy`: what a configuration asks of images that the command line names.

use std::path::Path;

use mcp_servlet_config::Config;
use mcp_servlet_oci::Reference;
use mcp_servlet_runtime::Source;

use crate::{
    failure::{Failure, Kind},
    terminal::{note, one_line},
};

pub(crate) const ONLY_FOR_IMAGES: &str = "`--policy` is for `oci://` references";

/// A configuration that asks for no signature of an image.
pub(crate) fn names_no_signer(policy: &Path, reference: &str) -> Failure {
    let message = format!("{} does not say who signs {reference}", policy.display());
    let help = "set `signed_by` in its `[servlet.NAME]`, or in `[oci.\"HOST\"]`";
    Failure::with_help(Kind::Usage, message, help)
}

/// The source with the certificates and the signers that a configuration has for it.
pub(crate) fn apply(source: Source, policy: Option<&Path>) -> Result<Source, Failure> {
    let Some(path) = policy else {
        return Ok(source);
    };
    match source {
        Source::Image(image) => {
            let known = Config::image(path, &image.reference)?;
            let known = known.ok_or_else(|| names_no_signer(path, &image.reference))?;
            Ok(Source::Image(known))
        }
        Source::Pinned { source, sha256 } => Ok(apply(*source, policy)?.pinned(&sha256)),
        other => {
            let message = format!("{ONLY_FOR_IMAGES}, found `{other}`");
            Err(Failure::new(Kind::Usage, message))
        }
    }
}

/// Notes that no signature is checked, for an image without a digest.
pub(crate) fn note_unverified(source: &Source) {
    if let Source::Image(image) = source
        && image.signers.is_empty()
        && Reference::parse(&image.reference).is_ok_and(|reference| reference.digest().is_none())
    {
        let text = format!(
            "note: the signature of {source} is not verified; a `--policy` with `signed_by` does that"
        );
        note(format_args!("{}", one_line(&text)));
    }
}
