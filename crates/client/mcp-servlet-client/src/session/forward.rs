//! Requests whose results go on to another client.

use serde_json::Value;
use serde_json::value::RawValue;

use super::{CallOptions, List, Session};
use crate::error::Error;

impl Session {
    /// Sends one request, and returns its result as the server wrote it.
    ///
    /// Unlike the other methods, this returns results that ask for input, which the caller answers. A tool call whose
    /// HTTP headers did not fit the arguments has not run, so it is sent once more after the tools were listed.
    ///
    /// # Errors
    /// If there is no result. Uses the time limit of the options, or else of the session.
    pub async fn forward(
        &self,
        method: &'static str,
        params: Value,
        options: &CallOptions,
    ) -> Result<Box<RawValue>, Error> {
        let options = options.request_options();
        match self.request(method, params.clone(), &options).await {
            Err(error) if method == "tools/call" && super::call::is_header_mismatch(&error) => {
                self.page(List::Tools, None).await?;
                self.request(method, params, &options).await
            }
            result => result,
        }
    }
}
