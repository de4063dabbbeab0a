//! Connections that use HTTP/2, which clients choose in the handshake of TLS.

use std::{convert::Infallible, future::Future, pin::pin, time::Duration};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderValue, header::HOST},
    response::Response,
};
use futures_util::FutureExt as _;
use hyper::{body::Incoming, rt::Executor, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use mcp_servlet_call::Nursery;
use tokio_util::{either::Either, sync::CancellationToken};

use super::{Limits, Place, Stream, certificate, mark};
use crate::http::{peer::Peer, tls::HTTP2};

/// How many requests of a connection are answered at the same time.
const STREAMS: u32 = 100;
/// How large the headers of a request may be, in bytes.
const HEADERS: u32 = 64 << 10;
/// How many bytes a client may send before the server has read them.
const WINDOW: u32 = 1 << 20;
/// How many requests a client may reset before the server has seen them.
const RESETS: usize = 20;
/// How often the server asks an idle client whether it is still there, and how long the client may take to answer.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Whether the client has chosen HTTP/2.
pub(super) fn is_chosen(stream: &Stream) -> bool {
    match stream {
        Either::Left(_) => false,
        Either::Right(stream) => stream.get_ref().1.alpn_protocol() == Some(HTTP2),
    }
}

/// Answers the requests of one connection.
pub(super) async fn converse<F: Future<Output = Response> + Send + 'static>(
    stream: Stream,
    (peer, place): (Peer, Place),
    answer: impl Fn(Request) -> F + Send + 'static,
    limits: Limits,
    end: CancellationToken,
) {
    let certificate = certificate(&stream);
    let requests = Requests(Nursery::new());
    let tasks = requests.0.clone();
    let _ending = CancelOnDrop(tasks.clone());
    let answer = service_fn(move |mut request: hyper::Request<Incoming>| {
        mark(
            &mut request,
            peer,
            &limits.trusted_proxies,
            certificate.as_ref(),
        );
        name_host(&mut request);
        let response = Box::pin(answer(request.map(Body::new)));
        response.map(Ok::<_, Infallible>)
    });
    let connection = http2::Builder::new(requests)
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(HEADERS)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_pending_accept_reset_streams(RESETS)
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = place.end.cancelled() => None,
        () = end.cancelled() => {
            connection.as_mut().graceful_shutdown();
            Some(connection.await)
        }
    };
    tasks.end().await;
    if let Some(Err(error)) = ended {
        tracing::debug!(%error, "connection");
    }
}

/// HTTP/2 names the host of a request in its URL.
fn name_host(request: &mut hyper::Request<Incoming>) {
    let authority = request.uri().authority();
    let host = authority.and_then(|authority| HeaderValue::from_str(authority.as_str()).ok());
    if let Some(host) = host
        && !request.headers().contains_key(HOST)
    {
        request.headers_mut().insert(HOST, host);
    }
}

/// Ends the tasks of a connection that is dropped.
struct CancelOnDrop(Nursery);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The tasks of a connection.
#[derive(Clone)]
struct Requests(Nursery);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Requests {
    fn execute(&self, work: F) {
        self.0.spawn(work);
    }
}
