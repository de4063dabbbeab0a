//! Sends spans to a collector with the HTTP client of the other requests of the operator.

use std::{fmt, future::Future, pin::Pin, time::Duration};

use mcp_servlet_access::Trust;
use mcp_servlet_call::Nursery;
use mcp_servlet_http::{Operator, Request, read_more};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request as Sent, Response};
use url::Url;

/// How long a collector may take for one request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// How long its answer may be.
const MAX_ANSWER: u64 = 64 << 10;

/// A client for one collector.
#[derive(Clone)]
pub(super) struct Collector {
    operator: Operator,
    /// Runs the requests, because the SDK sends on a thread without a runtime.
    nursery: Nursery,
}

impl Collector {
    pub(super) fn new(trust: Trust, nursery: Nursery) -> Self {
        Self {
            operator: Operator::new(trust),
            nursery,
        }
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Collector")
    }
}

impl HttpClient for Collector {
    fn send_bytes<'client, 'sending>(
        &'client self,
        request: Sent<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sending>>
    where
        'client: 'sending,
        Self: 'sending,
    {
        let operator = self.operator.clone();
        let sending = self.nursery.spawn(async move {
            let sent = tokio::time::timeout(REQUEST_TIMEOUT, send(&operator, request));
            sent.await
                .map_err(|_| "the collector did not answer within 10 s")?
        });
        Box::pin(async move { sending.await?.ok_or("the server is stopping")? })
    }
}

async fn send(operator: &Operator, sent: Sent<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let (parts, body) = sent.into_parts();
    let url = Url::parse(&parts.uri.to_string())?;
    let mut request = Request::new(parts.method.as_str(), url.clone()).with_body(body);
    for (name, value) in &parts.headers {
        request = request.header(name.as_str(), value.to_str()?);
    }
    let response = operator.send_once(&request).await?;
    let status = response.status();
    let mut answer = Vec::new();
    read_more(response, &url, &mut answer, MAX_ANSWER, REQUEST_TIMEOUT).await?;
    let response = Response::builder().status(status);
    Ok(response.body(answer.into())?)
}
