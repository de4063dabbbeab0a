//! Fetches a module from a web server.

use std::{io::Read as _, time::Duration};

use url::{Host, Url};

use crate::{error::FetchError, inspect::SIZE};

/// The time limit for fetching a module.
const TIMEOUT: Duration = Duration::from_mins(1);

pub(super) fn fetch(url: &str) -> Result<Vec<u8>, FetchError> {
    let url = Url::parse(url)?;
    let local = is_local(&url);
    if url.scheme() != "https" && !local {
        return Err(FetchError::Insecure);
    }
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        // Redirects must not leave `https`. A server on this machine may use `http`, so its
        // redirects are not followed.
        .max_redirects(if local { 0 } else { 5 })
        .https_only(!local)
        // The operator sends this request, so the proxy of the operator's environment applies. A
        // server on this machine is connected to directly: a proxy would see the request unencrypted, or
        // look for the server on its own machine.
        .proxy(if local {
            None
        } else {
            ureq::Proxy::try_from_env()
        })
        .build();
    let agent: ureq::Agent = config.into();
    let response = agent.get(url.as_str()).call().map_err(failed)?;
    if response.status().is_redirection() {
        return Err(FetchError::Redirect);
    }
    let body = response
        .into_body()
        .into_with_config()
        .limit(u64::MAX)
        .reader();
    let mut wasm = Vec::new();
    body.take(SIZE + 1).read_to_end(&mut wasm)?;
    if wasm.len() as u64 > SIZE {
        return Err(FetchError::TooLarge { limit: SIZE });
    }
    Ok(wasm)
}

/// Removes URLs from the error of ureq, because they may contain secrets.
fn failed(error: ureq::Error) -> FetchError {
    match error {
        ureq::Error::RequireHttpsOnly(_) => FetchError::Insecure,
        ureq::Error::BadUri(_) => FetchError::Location,
        error => FetchError::Server(Box::new(error)),
    }
}

fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
