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

/// The source with the certificates and the signers that a configuration has for it.
pub(crate) fn apply(source: Source, policy: Option<&Path>) -> Result<Source, Failure> {
    let Some(path) = policy else {
        return Ok(source);
    };
    match source {
        Source::Image(image) => Ok(Source::Image(Config::check(path)?.image(&image.reference))),
        Source::Pinned { source, sha256 } => Ok(apply(*source, policy)?.pinned(&sha256)),
        _ => Err(Failure::new(Kind::Usage, ONLY_FOR_IMAGES)),
    }
}

/// Notes that nothing checks who has made an image that only a tag names.
pub(crate) fn note_unverified(source: &Source) {
    if let Source::Image(image) = source
        && image.signers.is_empty()
        && Reference::parse(&image.reference).is_ok_and(|reference| reference.digest().is_none())
    {
        let text = format!("note: the signature of {source} is not verified; `--policy` does that");
        note(format_args!("{}", one_line(&text)));
    }
}
