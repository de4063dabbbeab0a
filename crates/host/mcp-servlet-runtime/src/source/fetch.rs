//! Fetches a module from a web server.

use std::time::Duration;

use mcp_servlet_http::{Operator, Request, Room, Trust, failure, read};
use tokio::time::timeout;
use url::Url;

use crate::{error::FetchError, inspect::MAX_MODULE, runtime::block_on};

/// The time limit for fetching a module.
const TIMEOUT: Duration = Duration::from_mins(1);

pub(super) fn fetch(url: &str) -> Result<Vec<u8>, FetchError> {
    let url = Url::parse(url)?;
    let operator = Operator::new(Trust::of_operator(None)?);
    block_on(async {
        let wasm = timeout(TIMEOUT, download(&operator, url.clone())).await;
        wasm.unwrap_or_else(|_| Err(failure::timed_out(&url, TIMEOUT).into()))
    })
}

async fn download(operator: &Operator, url: Url) -> Result<Vec<u8>, FetchError> {
    let request = Request::get(url).header("accept-encoding", "gzip");
    let (response, url) = operator.send(request).await?;
    let status = response.status();
    if !status.is_success() {
        return Err(FetchError::Status(status.as_u16()));
    }
    Ok(read(response, &url, Some(MAX_MODULE), &Room::default())
        .await?
        .body)
}
