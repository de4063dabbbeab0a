//! Which requests are answered: those with an allowed `Host`, and an allowed `Origin` if they have one.

use std::{io, sync::Arc};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, Method, StatusCode},
    response::Response,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};

use super::HttpOptions;
use crate::handler::Handler;

/// rmcp's settings for the allowed hosts and origins. The size of bodies is limited before rmcp reads them.
pub(super) fn config(options: &HttpOptions) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(&options.hosts)
        .with_allowed_origins(&options.origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(usize::MAX)
}

/// Checks hosts and origins for a transport that rmcp does not have. rmcp offers its checks only as
/// a part of its service, so this one gets a copy of the head, with a method that it does not answer.
pub(super) struct OriginCheck(StreamableHttpService<Handler, LocalSessionManager>);

impl OriginCheck {
    pub(super) fn new(options: &HttpOptions) -> Self {
        let manager = Arc::new(LocalSessionManager::default());
        let never = || Err(io::Error::from(io::ErrorKind::Unsupported));
        Self(StreamableHttpService::new(never, manager, config(options)))
    }

    /// The response, if the request must not be answered.
    pub(super) async fn refusal(&self, headers: &HeaderMap) -> Option<Response> {
        let mut probe = Request::new(Body::empty());
        *probe.method_mut() = Method::OPTIONS;
        *probe.headers_mut() = headers.clone();
        let response = self.0.handle(probe).await.map(Body::new);
        (response.status() != StatusCode::METHOD_NOT_ALLOWED).then_some(response)
    }
}
