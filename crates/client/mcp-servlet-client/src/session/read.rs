//! Reads resources.

use serde_json::{Map, json};

use super::Session;
use super::request::RequestOptions;
use crate::content::{ReadResult, ResourceContents};
use crate::error::Error;

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
        let method = "resources/read";
        let params = Map::from_iter([("uri".to_owned(), json!(uri))]);
        let result = self
            .request_with_input(method, params, &RequestOptions::default())
            .await?;
        let result = ReadResult::new(result);
        result.map_err(|error| error.at(&self.target).during(method))
    }
}
