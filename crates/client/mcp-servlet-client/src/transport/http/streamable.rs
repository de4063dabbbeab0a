//! rmcp's transport for streamable HTTP.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};

use super::{Failure, HttpClient};
use crate::message::cancelled_id;
use crate::tap::Tap;

/// rmcp's transport. It stops reading a response when the request is cancelled, and this tells the tap so.
pub(crate) struct Streamable {
    transport: StreamableHttpClientTransport<HttpClient>,
    tap: Arc<Tap>,
}

impl Streamable {
    pub(crate) fn new(client: HttpClient, url: &str) -> Self {
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        config.max_sse_event_size = client.limit();
        // The time of a request begins when the caller sends it, so none waits for others.
        config.max_concurrent_requests = usize::MAX;
        let mut backoff = ExponentialBackoff::default();
        backoff.max_times = Some(5);
        backoff.max_delay = Some(Duration::from_secs(10));
        config.retry_config = Arc::new(backoff);
        let tap = Arc::clone(client.tap());
        Self {
            transport: StreamableHttpClientTransport::with_client(client, config),
            tap,
        }
    }
}

impl Transport<RoleClient> for Streamable {
    type Error = Failure;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Failure>> + Send + 'static {
        let cancelled = cancelled_id(&message).cloned();
        let sending = self.transport.send(message);
        let tap = Arc::clone(&self.tap);
        async move {
            let sent = sending.await;
            if let Some(id) = cancelled {
                tap.unread(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.transport.receive().await
    }

    async fn close(&mut self) -> Result<(), Failure> {
        self.transport.close().await
    }
}
