//! Fetches a module from a web server.

use std::{io::Read as _, time::Duration};

use url::{Host, Url};

use crate::{error::FetchError, inspect::SIZE};

/// How long fetching may take.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Fetches a module.
pub(super) fn fetch(url: &str) -> Result<Vec<u8>, FetchError> {
    let url = Url::parse(url)?;
    let local = is_local(&url);
    if url.scheme() != "https" && !local {
        return Err(FetchError::Insecure);
    }
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        // No one may redirect to what is not safe. This machine may be asked without encryption, so it redirects nowhere.
        .max_redirects(if local { 0 } else { 5 })
        .https_only(!local)
        // The operator sends this request, so the operator's environment decides. What is on this machine is no business of a
        // proxy, which would get it without encryption, or look for it on its own machine.
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

/// What ureq says, without URLs: there may be secrets in them.
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
