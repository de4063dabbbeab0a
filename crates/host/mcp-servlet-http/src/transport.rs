//! Sends single requests over connections that are kept open.
//!
//! See `docs/decisions/0047-hyper-for-requests.md`.

use std::time::Duration;

use http_body_util::Full;
use hyper::{
    Response,
    body::{Bytes, Incoming},
};
use hyper_util::{
    client::legacy,
    rt::{TokioExecutor, TokioTimer},
};
use mcp_servlet_call::HttpFailure;

use crate::{
    address::Addresses, connect::Connector, failure, proxy::ProxyServer, request::Request,
    trust::Trust,
};

/// How long a connection stays open without requests.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);

/// How many connections to one origin stay open without requests.
const MAX_IDLE_CONNECTIONS: usize = 3;

/// The limit for the head of a response in bytes. Bodies are read in parts of at most this size.
const MAX_HEAD: usize = 64 << 10;

/// Sends single requests and keeps the connections open.
#[derive(Clone)]
pub struct Transport(legacy::Client<Connector, Full<Bytes>>);

impl Transport {
    /// Connects to these addresses only: those of the hosts, or of the proxy if there is one.
    pub fn new(addresses: Addresses, proxy: Option<ProxyServer>, trust: Trust) -> Self {
        let client = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
            .http1_max_buf_size(MAX_HEAD)
            .build(Connector::new(addresses, proxy, trust));
        Self(client)
    }

    /// Sends a request and waits for the head of its response.
    pub async fn send(&self, request: &Request) -> Result<Response<Incoming>, HttpFailure> {
        let sent = self.0.request(request.to_http()?).await;
        sent.map_err(|error| failure::sort(&error, &request.url))
    }
}
