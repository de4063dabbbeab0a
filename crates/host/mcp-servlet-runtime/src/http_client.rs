//! The requests of servlets. It sends those that their options allow.
//!
//! Extism's own client checks only the first URL and follows all redirects. This one checks each
//! URL and each resolved address.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use mcp_servlet_call::{HttpFailure, HttpResponse, Limits};
use mcp_servlet_http::{Addresses, ProxyServer, Request, Room, Transport, Trust, failure, read};
use tokio::{sync::Semaphore, time::timeout};
use url::Url;

use crate::{glob, options::LoadOptions};

const MAX_REDIRECTS: usize = 10;

/// The HTTP client that the instances of one servlet share: open connections and allowed addresses.
#[derive(Clone)]
pub(crate) struct Client {
    transport: Transport,
    allowed_hosts: Arc<[String]>,
    /// The private addresses that may be sent to the proxy; `None` without a proxy.
    proxied: Option<Addresses>,
    /// How many requests may be open at the same time.
    concurrency: usize,
    permits: Arc<Semaphore>,
}

impl Client {
    pub(crate) fn new(options: &LoadOptions) -> Self {
        let addresses = Addresses::of(&options.allowed_hosts, options.allow_private);
        let (transport, proxied) = match &options.proxy {
            // Only the name of the proxy is resolved here, and the proxy may have a private address.
            Some(proxy) => {
                let proxy = Some(ProxyServer::of(proxy));
                let transport = Transport::new(Addresses::any(), proxy, Trust::default());
                (transport, Some(addresses))
            }
            None => (Transport::new(addresses, None, Trust::default()), None),
        };
        let concurrency = options
            .http_concurrency
            .unwrap_or(usize::MAX)
            .clamp(1, Semaphore::MAX_PERMITS);
        Self {
            transport,
            allowed_hosts: options.allowed_hosts.as_slice().into(),
            proxied,
            concurrency,
            permits: Arc::new(Semaphore::new(concurrency)),
        }
    }

    /// How many requests may be open at the same time.
    pub(crate) fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// Sends a request, follows allowed redirects and reads the body, within the limits of a call.
    pub(crate) async fn send(
        &self,
        mut request: Request,
        limits: &Limits,
        room: &Room,
    ) -> Result<HttpResponse, HttpFailure> {
        let Some(limit) = limits.http_timeout.value() else {
            let _permit = self.permits.acquire().await;
            return self.exchange(&mut request, limits, room).await;
        };
        let permit = timeout(limit, self.permits.acquire()).await;
        let _permit =
            permit.map_err(|_| failure::too_many_open(&request.url, self.concurrency, limit))?;
        let response = timeout(limit, self.exchange(&mut request, limits, room)).await;
        response.unwrap_or_else(|_| Err(failure::timed_out(&request.url, limit)))
    }

    /// Sends a request, which becomes the last one that a redirect asks for.
    async fn exchange(
        &self,
        request: &mut Request,
        limits: &Limits,
        room: &Room,
    ) -> Result<HttpResponse, HttpFailure> {
        for _ in 0..=MAX_REDIRECTS {
            self.check_url(&request.url)?;
            let response = self.transport.send(request).await?;
            let Some(next) = request.redirected(&response)? else {
                let limit = limits.http_response.value().or(limits.memory.value());
                return read(response, &request.url, limit, room).await;
            };
            *request = next;
        }
        Err(failure::too_many_redirects(&request.url, MAX_REDIRECTS))
    }

    /// Whether a request to this URL is allowed.
    pub(crate) fn check_url(&self, url: &Url) -> Result<(), HttpFailure> {
        let host = url.host_str().unwrap_or_default();
        let mut patterns = self.allowed_hosts.iter();
        if !patterns.any(|pattern| glob::matches(pattern, host)) {
            return Err(failure::host_denied(url));
        }
        match &self.proxied {
            Some(addresses) if !addresses.allow_name(host) => Err(failure::address_denied(url)),
            _ => Ok(()),
        }
    }
}
