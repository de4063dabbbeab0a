//! Reads resources.

use serde_json::{Map, json};

use super::{CallOptions, Session};
use crate::content::{ReadResult, ResourceContents};
use crate::error::{Error, ErrorKind};

impl Session {
    /// Reads a resource. A resource may have several contents, such as the files of a folder.
    ///
    /// # Errors
    /// If there is no such resource, or if it cannot be read.
    pub async fn read(&self, uri: &str) -> Result<Vec<ResourceContents>, Error> {
        Ok(self.read_result(uri).await?.contents)
    }

    /// Reads a resource, with everything that the server adds.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_result(&self, uri: &str) -> Result<ReadResult, Error> {
        self.read_with(uri, &CallOptions::default()).await
    }

    /// Reads a resource with options.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_with(&self, uri: &str, options: &CallOptions) -> Result<ReadResult, Error> {
        let method = "resources/read";
        let place = |error: Error| error.at(&self.target).during(method);
        if !has_scheme(uri) {
            let message = format!("`{uri}` is not a URI");
            let error = Error::new(ErrorKind::InvalidUri, message);
            return Err(place(
                error.with_help("begin it with its scheme, such as `file:`"),
            ));
        }
        let params = Map::from_iter([("uri".to_owned(), json!(uri))]);
        let of_request = options.request_options();
        let reading = self.request_with_input(method, params, &of_request);
        ReadResult::new(options.until_cancelled(reading).await?).map_err(place)
    }
}

/// Whether a text begins with the scheme of a URI. The rest is for the server to judge: many have spaces and other
/// characters in it that RFC 3986 does not allow.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = |one: char| one.is_ascii_alphanumeric() || "+-.".contains(one);
    scheme.starts_with(|one: char| one.is_ascii_alphabetic())
        && scheme.chars().all(is_scheme)
        && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_begins_with_its_scheme() {
        for uri in [
            "file:///a b",
            "note:x",
            "a+b-c.1:{x}",
            "http://x",
            "urn:ä",
            "x:",
        ] {
            assert!(has_scheme(uri), "{uri}");
        }
        for text in ["", "x", ":x", "a b:c", "1a:b", "/a:b", "ä:b", "a:b\n"] {
            assert!(!has_scheme(text), "{text}");
        }
    }
}
