//! Fetches a module from a web server.

use std::time::Duration;

use mcp_servlet_common::is_this_machine;
use mcp_servlet_types::HttpErrorKind;
use tokio::time::timeout;
use url::Url;

use crate::{
    error::FetchError,
    exchange::HttpFailure,
    http_client::{self, Addresses, ProxyServer, Request, Room, Transport},
    inspect::SIZE,
    runtime::block_on,
};

/// The time limit for fetching a module.
const TIMEOUT: Duration = Duration::from_mins(1);

const MAX_REDIRECTS: usize = 5;

pub(super) fn fetch(url: &str) -> Result<Vec<u8>, FetchError> {
    let url = Url::parse(url)?;
    if url.scheme() != "https" && !is_local(&url) {
        return Err(FetchError::Insecure);
    }
    block_on(async {
        let wasm = timeout(TIMEOUT, download(Request::get(url.clone()))).await;
        wasm.unwrap_or_else(|_| Err(HttpFailure::timed_out(&url, TIMEOUT).into()))
    })
}

async fn download(mut request: Request) -> Result<Vec<u8>, FetchError> {
    let is_local = is_local(&request.url);
    for _ in 0..=MAX_REDIRECTS {
        let response = transport(&request, is_local)?.send(&request).await?;
        let status = response.status();
        match request.redirected(&response)? {
            // A server on this machine may use `http`, so its redirects are not followed.
            _ if is_local && status.is_redirection() => return Err(FetchError::Redirect),
            Some(next) if next.url.scheme() != "https" => return Err(FetchError::Insecure),
            Some(next) => request = next,
            None if status.is_redirection() => return Err(FetchError::Location),
            None if !status.is_success() => return Err(FetchError::Status(status.as_u16())),
            None => {
                let response =
                    http_client::read(response, &request.url, Some(SIZE), &Room::default()).await?;
                return Ok(response.body);
            }
        }
    }
    Err(HttpFailure::too_many_redirects(&request.url, MAX_REDIRECTS).into())
}

/// The operator sends this request, so it may go to any address and the proxy of the operator's
/// environment applies.
///
/// The connection to a server on this machine uses no proxy: it would see the request unencrypted,
/// or look for the server on its own machine.
fn transport(request: &Request, is_local: bool) -> Result<Transport, HttpFailure> {
    let proxy = if is_local {
        None
    } else {
        ProxyServer::of_environment(&request.uri()?).map_err(|scheme| {
            let expected = "expected an `http` or `https` proxy in `HTTPS_PROXY` or `ALL_PROXY`";
            HttpFailure::new(
                HttpErrorKind::Request,
                format!("{expected}, found `{scheme}`"),
            )
        })?
    };
    Ok(Transport::new(Addresses::any(), proxy))
}

fn is_local(url: &Url) -> bool {
    url.host_str().is_some_and(is_this_machine)
}
