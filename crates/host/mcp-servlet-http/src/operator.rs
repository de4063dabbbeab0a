//! Requests that the operator of a server sends, in contrast to those of servlets.

use hyper::{Response, body::Incoming};
use mcp_servlet_call::HttpFailure;
use mcp_servlet_common::{is_this_machine, public_url};
use mcp_servlet_types::HttpErrorKind;
use url::Url;

use crate::{
    address::Addresses, failure, proxy::ProxyServer, request::Request, transport::Transport,
    trust::Trust,
};

const MAX_REDIRECTS: usize = 5;

/// Sends the requests of the operator. They may go to any address, and the proxy of the operator's environment applies.
#[derive(Clone)]
pub struct Operator {
    trust: Trust,
    addresses: Addresses,
    /// For requests that use no proxy.
    direct: Transport,
}

/// Why a request of the operator has no response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The URL is not `https`. The response is code that runs here, and without TLS, others could change it on the way.
    #[error("expected an `https` URL, found `{url}`; `http` is allowed for this machine only")]
    Insecure {
        /// The URL, without secrets.
        url: String,
    },
    /// A server redirects an encrypted request to a URL that is not `https`.
    #[error("the server redirects to `{url}`, which is not encrypted")]
    Downgrade {
        /// The URL, without secrets.
        url: String,
    },
    /// A server redirects an unencrypted request. That is not followed.
    #[error(
        "redirects of an unencrypted request are not followed; give the URL of the file itself"
    )]
    Redirect {
        /// The status of the redirect.
        status: u16,
    },
    /// The server redirects to something that is not a URL.
    #[error("the server redirects to an invalid URL")]
    Location,
    /// The URL leads to a private address, and only public ones may be reached.
    #[error("the URL leads to a private address")]
    Private,
    /// The server did not answer, or the connection broke.
    #[error(transparent)]
    Failed(#[from] HttpFailure),
}

impl Operator {
    /// Trusts these authorities.
    pub fn new(trust: Trust) -> Self {
        Self::to(Addresses::any(), trust)
    }

    /// The same for URLs that somebody else has written: they may lead to public addresses only.
    pub fn to_public(trust: Trust) -> Self {
        Self::to(Addresses::of(&[], false), trust)
    }

    fn to(addresses: Addresses, trust: Trust) -> Self {
        let direct = Transport::new(addresses.clone(), None, trust.clone());
        Self {
            trust,
            addresses,
            direct,
        }
    }

    /// Sends a request, and waits for the head of the response. A redirect is a response like any other.
    ///
    /// # Errors
    /// [`SendError`].
    pub async fn send_once(&self, request: &Request) -> Result<Response<Incoming>, SendError> {
        let host = request.url.host_str().unwrap_or_default();
        let is_local = is_this_machine(host);
        if request.url.scheme() != "https" && !is_local {
            return Err(insecure(&request.url));
        }
        if !self.addresses.allow_name(host) {
            return Err(SendError::Private);
        }
        let sent = self.transport(request, is_local)?.send(request).await;
        sent.map_err(|failure| match failure.denied {
            Some(_) => SendError::Private,
            None => failure.into(),
        })
    }

    /// Sends a request, follows redirects, and waits for the head of the response. Returns the response, and the URL that it
    /// comes from.
    ///
    /// A redirect to another origin gets no header that may be a secret.
    ///
    /// # Errors
    /// [`SendError`].
    pub async fn send(&self, mut request: Request) -> Result<(Response<Incoming>, Url), SendError> {
        for _ in 0..=MAX_REDIRECTS {
            let is_encrypted = request.url.scheme() == "https";
            let is_local = request.url.host_str().is_some_and(is_this_machine);
            if !is_encrypted && !is_local {
                return Err(insecure(&request.url));
            }
            let response = self.transport(&request, is_local)?.send(&request).await?;
            match request.redirected(&response)? {
                Some(_) if !is_encrypted => {
                    let status = response.status().as_u16();
                    return Err(SendError::Redirect { status });
                }
                Some(next) if next.url.scheme() != "https" => {
                    let url = public_url(next.url.as_str());
                    return Err(SendError::Downgrade { url });
                }
                Some(next) => request = next,
                None if response.status().is_redirection() => return Err(SendError::Location),
                None => return Ok((response, request.url)),
            }
        }
        Err(failure::too_many_redirects(&request.url, MAX_REDIRECTS).into())
    }

    /// The connection to a server on this machine uses no proxy: it could see the request unencrypted, or look for the
    /// server on its own machine.
    fn transport(&self, request: &Request, is_local: bool) -> Result<Transport, HttpFailure> {
        if is_local {
            return Ok(self.direct.clone());
        }
        let proxy = ProxyServer::of_environment(&request.uri()?).map_err(|scheme| {
            let expected = "expected an `http` or `https` proxy in `HTTPS_PROXY` or `ALL_PROXY`";
            HttpFailure::new(
                HttpErrorKind::Request,
                format!("{expected}, found `{scheme}`"),
            )
        })?;
        Ok(match proxy {
            None => self.direct.clone(),
            proxy => Transport::new(Addresses::any(), proxy, self.trust.clone()),
        })
    }
}

fn insecure(url: &Url) -> SendError {
    let url = public_url(url.as_str());
    SendError::Insecure { url }
}
