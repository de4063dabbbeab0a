//! Ways to a server. Each passes what it receives through the [tap](crate::tap).

pub(crate) mod child;
pub(crate) mod http;
mod json;
mod left_behind;
mod lines;
pub(crate) mod sse;
pub(crate) mod stderr;
pub(crate) mod stdio;

use std::io;

use futures_util::future::Either;
use rmcp::RoleClient;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use self::http::{Reported, Streamable, not_json};
use self::json::to_json;
use self::lines::response_id;
use self::sse::SseSession;
use self::stdio::Stdio;
use crate::tap::{Origin, Received, Tap};

/// Reads what came on a stream for all messages. None if rmcp gets nothing of it.
fn read_message(tap: &Tap, bytes: &[u8]) -> Option<ServerJsonRpcMessage> {
    let received = tap.received(bytes, Origin::Common);
    if matches!(received, Received::Nothing) {
        return None;
    }
    let message = received.message().or_else(|| {
        let error = not_json(bytes)?;
        tap.skipped(response_id(bytes), error).ok()
    });
    if message.is_none() {
        tap.ignore_line(bytes);
    }
    message
}

/// Any way to a server. It is one type, because the compiler copies rmcp's large code for each type of transport.
pub(crate) enum AnyTransport {
    Stdio(Box<Stdio>),
    Http(Streamable),
    Sse(SseSession),
}

/// Why a message was not sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TransportError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Http(#[from] StreamableHttpError<Reported>),
}

impl Transport<RoleClient> for AnyTransport {
    type Error = TransportError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), TransportError>> + Send + 'static {
        let sending = match self {
            Self::Stdio(stdio) => Either::Left(Either::Left(stdio.send(message))),
            Self::Sse(events) => Either::Left(Either::Right(events.send(message))),
            Self::Http(http) => Either::Right(http.send(message)),
        };
        async {
            match sending {
                Either::Left(sending) => Ok(sending.await?),
                Either::Right(sending) => Ok(sending.await?),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        match self {
            Self::Stdio(stdio) => stdio.receive().await,
            Self::Http(http) => http.receive().await,
            Self::Sse(events) => events.receive().await,
        }
    }

    async fn close(&mut self) -> Result<(), TransportError> {
        match self {
            Self::Stdio(stdio) => Ok(stdio.close().await?),
            Self::Http(http) => Ok(http.close().await?),
            Self::Sse(events) => Ok(events.close().await?),
        }
    }
}
