//! Bodies of responses, within a limit.

use reqwest::Response;

use crate::error::{Error, ErrorKind};

/// The whole body.
pub(crate) async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await.map_err(|error| {
            let message = format!("the response broke off: {}", super::cause::cause(&error));
            Error::new(ErrorKind::Connectivity, message)
        })?;
        let Some(chunk) = chunk else { break };
        if body.len() + chunk.len() > limit {
            return Err(too_large(limit));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The error for a message that is too large.
pub(crate) fn too_large(limit: usize) -> Error {
    let message = format!("the server sent a message of more than {limit} bytes");
    Error::new(ErrorKind::Limit, message).of_limit("message")
}
