//! Requests whose results go on to another client.

use serde_json::Value;
use serde_json::value::RawValue;

use super::call::is_header_mismatch;
use super::{CallOptions, Session};
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
        // Only servers since 2026-07-28 compare HTTP headers with arguments. Other requests need no copy.
        let again = (self.server.is_stateless() && method == "tools/call").then(|| params.clone());
        match (self.request(method, params, &options).await, again) {
            (Err(error), Some(params)) if is_header_mismatch(&error) => {
                let tool = params["name"].as_str().unwrap_or_default();
                self.listed_tool(tool).await?;
                self.request(method, params, &options).await
            }
            (result, _) => result,
        }
    }
}
