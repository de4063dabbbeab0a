//! The signature of a module, which is next to it.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use mcp_servlet_common::public_url;
use url::Url;

use super::{Source, fetch};
use crate::{LoadError, error::FetchError};

/// What follows the name of a module in the name of its signature.
const ENDING: &str = ".sigstore.json";

/// The limit for a signature, in bytes.
const MAX_SIGNATURE: u64 = 1 << 20;

/// The file with the signature of a module.
pub fn signature_file(module: &Path) -> PathBuf {
    let mut name = OsString::from(module);
    name.push(ENDING);
    name.into()
}

/// The signature of a file or of a module at a URL, if there is one. Other sources have none here.
pub(super) fn read(source: &Source) -> Result<Option<Vec<u8>>, LoadError> {
    match source {
        Source::File(module) => {
            let path = signature_file(module);
            match file(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                read => read
                    .map(Some)
                    .map_err(|source| LoadError::Read { path, source }),
            }
        }
        Source::Url(module) => {
            let url = beside(module);
            match fetch::fetch(&url) {
                Err(FetchError::Status(404 | 410)) => Ok(None),
                fetched => fetched.map(Some).map_err(|source| LoadError::Fetch {
                    url: public_url(&url),
                    source,
                }),
            }
        }
        Source::Pinned { source, .. } | Source::Signed { source, .. } => read(source),
        Source::Image(_) | Source::Bytes { .. } => Ok(None),
    }
}

fn file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_SIGNATURE)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The URL of the signature of the module at a URL.
fn beside(module: &str) -> String {
    match Url::parse(module) {
        Ok(mut url) => {
            let path = format!("{}{ENDING}", url.path());
            url.set_path(&path);
            url.into()
        }
        // The module itself cannot be fetched either.
        Err(_) => module.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn the_query_of_a_url_stays_at_its_end() {
        let url = beside("https://example.com/a.wasm?token=x");
        assert_eq!(url, "https://example.com/a.wasm.sigstore.json?token=x");
    }
}
