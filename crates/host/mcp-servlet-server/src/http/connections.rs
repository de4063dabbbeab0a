//! Accepts connections, up to a limit. A client that sends or reads nothing is disconnected.

mod http2;
mod places;
mod write_limit;

use std::{
    convert::Infallible,
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderValue, header},
    response::Response,
    serve::Listener,
};
use futures_util::FutureExt as _;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use ipnet::IpNet;
use mcp_servlet_access::Certificate;
use mcp_servlet_common::lock;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_rustls::server::TlsStream;
use tokio_util::{either::Either, sync::CancellationToken};

use super::{
    HttpOptions, Listens,
    peer::{Peer, Refusals, Refused},
    tls::{self, HandshakeFailure, NoTls, Tls},
};
use crate::server::metrics::Connections;
use places::{Place, Places};
use write_limit::WriteLimit;

/// Limits for clients that send or read nothing.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    connections: usize,
    trusted_proxies: Arc<[IpNet]>,
    head_time: Option<Duration>,
    write_time: Option<Duration>,
}

impl Limits {
    pub(super) fn of(options: &HttpOptions) -> Self {
        Self {
            connections: options.connections.max(1),
            trusted_proxies: options.trusted_proxies.as_slice().into(),
            head_time: options.head_time,
            write_time: options.body_time,
        }
    }
}

/// How long open connections may take to finish.
const CLOSING: Duration = Duration::from_secs(1);

/// Answers the requests of all connections until `end`, and then lets the open ones finish. No connection is left when this
/// returns. `on_refused` learns about clients whose certificate is refused; or without TLS where they need it, which is None.
pub(super) async fn serve<F: Future<Output = Response> + Send + 'static>(
    (mut listener, tls): (TcpListener, Option<Arc<Tls>>),
    answer: impl Fn(Request) -> F + Clone + Send + 'static,
    limits: Limits,
    (refusals, counts, on_refused): (
        Arc<Refusals>,
        Connections,
        impl Fn(Peer, Option<HandshakeFailure>) + Clone + Send + 'static,
    ),
    end: &CancellationToken,
) {
    let places = Places::new(limits.connections, Arc::clone(&refusals), counts);
    // Dropping it ends all connections.
    let mut tasks = JoinSet::new();
    loop {
        // `accept` retries on errors.
        let next = Listener::accept(&mut listener);
        let Some((stream, address)) = end.run_until_cancelled(next).await else {
            break;
        };
        let peer = Peer::of_connection(address, &limits.trusted_proxies);
        let place = places.ask(peer);
        while tasks.try_join_next().is_some() {}
        let (answer, limits, end) = (answer.clone(), limits.clone(), end.clone());
        let (tls, refusals, on_refused) = (tls.clone(), Arc::clone(&refusals), on_refused.clone());
        tasks.spawn(async move {
            let Some(Ok(place)) = end.run_until_cancelled(place).await else {
                return;
            };
            match open(stream, tls, &limits, [&place.end, &end]).await {
                Ok(Some(stream)) => converse(stream, (peer, place), answer, limits, end).await,
                Ok(None) | Err(NoTls::Other) => {}
                Err(NoTls::PlainHttp) => on_refused(peer, None),
                Err(NoTls::Failed(error)) => {
                    let failure = HandshakeFailure::of(&error);
                    let address = peer.address().map(tracing::field::display);
                    tracing::debug!(what = failure.name(), address, %error, "no handshake");
                    let refused = Refused::Handshake(failure);
                    refusals.add_with(refused, peer, Some(error.to_string()));
                    if failure.is_refusal() {
                        on_refused(peer, Some(failure));
                    }
                }
            }
        });
    }
    drop(listener);
    let ended = async { while tasks.join_next().await.is_some() {} };
    if tokio::time::timeout(CLOSING, ended).await.is_err() {
        tasks.shutdown().await;
    }
}

/// The stream of a connection, with or without TLS.
type Stream = Either<WriteLimit<TcpStream>, TlsStream<WriteLimit<TcpStream>>>;

/// Prepares a connection. `None` if it has to end first.
///
/// # Errors
/// It has no TLS where it needs that.
async fn open(
    stream: TcpStream,
    tls: Option<Arc<Tls>>,
    limits: &Limits,
    ends: [&CancellationToken; 2],
) -> Result<Option<Stream>, NoTls> {
    // Nagle's algorithm would delay the small writes of an answer by about 25 ms per call.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let wrap = |stream| WriteLimit::new(stream, limits.write_time);
    let Some(tls) = tls else {
        return Ok(Some(Either::Left(wrap(stream))));
    };
    let [one, other] = ends;
    let stream = tls::accept(stream, wrap, tls.current(), limits.head_time);
    let stream = one.run_until_cancelled(other.run_until_cancelled(stream));
    let Some(stream) = stream.await.flatten() else {
        return Ok(None);
    };
    Ok(Some(Either::Right(stream?)))
}

/// The certificate of the client, if it has shown one.
fn certificate(stream: &Stream) -> Option<Arc<Certificate>> {
    let Either::Right(stream) = stream else {
        return None;
    };
    let (_, session) = stream.get_ref();
    let own = session.peer_certificates()?.first()?;
    Some(Arc::new(Certificate::of_der(own)))
}

/// Answers the requests of one connection.
async fn converse<F: Future<Output = Response> + Send + 'static>(
    stream: Stream,
    (peer, place): (Peer, Place),
    answer: impl Fn(Request) -> F + Send + 'static,
    limits: Limits,
    end: CancellationToken,
) {
    if http2::is_chosen(&stream) {
        return http2::converse(stream, (peer, place), answer, limits, end).await;
    }
    let must_end = place.end.clone();
    let place = &Mutex::new(place);
    let trusted_proxies = limits.trusted_proxies;
    let certificate = certificate(&stream);
    let answer = service_fn(move |mut request: hyper::Request<Incoming>| {
        mark(&mut request, peer, &trusted_proxies, certificate.as_ref());
        // Boxed, because hyper moves the future, which is large.
        let response = Box::pin(answer(request.map(Body::new)));
        response.map(move |mut response| {
            if response.extensions().get::<Listens>().is_some() && is_stream(&response) {
                let mut place = lock(place);
                place.become_stream();
                // A next request would need the place again.
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(header::CONNECTION, close);
            }
            Ok::<_, Infallible>(response)
        })
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = must_end.cancelled() => return,
        () = end.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection");
    }
}

/// Notes who sends a request in its extensions.
fn mark(
    request: &mut hyper::Request<Incoming>,
    peer: Peer,
    trusted_proxies: &[IpNet],
    certificate: Option<&Arc<Certificate>>,
) {
    let peer = peer.of_request(request.headers(), trusted_proxies);
    request.extensions_mut().insert(peer);
    if let Some(certificate) = certificate {
        request.extensions_mut().insert(Arc::clone(certificate));
    }
}

/// Whether the response is a stream of events.
fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn get(address: std::net::SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        let head = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
        stream.write_all(head).await.expect("a write");
        stream
    }

    /// A connection from another address of this machine, with a request whose body does not come.
    #[cfg(target_os = "linux")]
    async fn slow_body(from: &str, to: std::net::SocketAddr) -> TcpStream {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        let from = format!("{from}:0").parse().expect("an address");
        socket.bind(from).expect("an address of this machine");
        let mut stream = socket.connect(to).await.expect("a connection");
        let head = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n";
        stream.write_all(head).await.expect("a write");
        stream
    }

    fn limits(connections: usize) -> Limits {
        Limits {
            connections,
            trusted_proxies: [].into(),
            head_time: None,
            write_time: None,
        }
    }

    type OnRefused = fn(Peer, Option<HandshakeFailure>);

    fn no_watch() -> (Arc<Refusals>, Connections, OnRefused) {
        (<_>::default(), <_>::default(), |_, _| {})
    }

    /// Runs clients against a server with four places, which answers when it has the body of a request.
    async fn with_server<F: Future<Output = Response> + Send + 'static>(
        answer: impl Fn(Request) -> F + Clone + Send + 'static,
        clients: impl AsyncFnOnce(std::net::SocketAddr),
    ) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let end = CancellationToken::new();
        let serving = serve((listener, None), answer, limits(4), no_watch(), &end);
        tokio::select! {
            () = serving => panic!("the server has ended"),
            done = tokio::time::timeout(Duration::from_secs(20), clients(address)) => done.expect("an answer"),
        }
    }

    async fn is_answered(mut stream: TcpStream) -> bool {
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.is_ok() && answer.starts_with(b"HTTP/1.1 200")
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn an_address_with_all_connections_makes_room_for_another_one() {
        async fn echo(request: Request) -> Response {
            let body = axum::body::to_bytes(request.into_body(), 9).await;
            Response::new(Body::from(body.unwrap_or_default()))
        }
        with_server(echo, async |address| {
            let mut slow = Vec::new();
            // Twelve do not fit: four are answered, four wait, and the others are closed.
            for _ in 0..12 {
                slow.push(slow_body("127.0.0.2", address).await);
            }
            assert!(is_answered(get(address).await).await);
            let mut other = slow_body("127.0.0.3", address).await;
            other.write_all(&[0; 9]).await.expect("a write");
            assert!(is_answered(other).await);
        })
        .await;
    }

    #[tokio::test]
    async fn streams_take_no_places() {
        async fn events(_: Request) -> Response {
            let body = Body::from_stream(stream::pending::<Result<Vec<u8>, Infallible>>());
            let mut response = Response::new(body);
            let kind = HeaderValue::from_static("text/event-stream");
            response.headers_mut().insert(header::CONTENT_TYPE, kind);
            response.extensions_mut().insert(Listens);
            response
        }
        with_server(events, async |address| {
            let mut streams = Vec::new();
            // As many streams as places, and then as many streams that take places.
            for _ in 0..8 {
                let mut stream = get(address).await;
                let mut answer = [0; 12];
                stream.read_exact(&mut answer).await.expect("an answer");
                streams.push(stream);
            }
        })
        .await;
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_disconnected() {
        let endless = |_| async {
            let chunk = stream::repeat_with(|| Ok::<_, Infallible>(vec![0_u8; 1 << 16]));
            Response::new(Body::from_stream(chunk))
        };
        let limits = Limits {
            write_time: Some(Duration::from_millis(200)),
            ..limits(1)
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let end = CancellationToken::new();
        let serving = serve((listener, None), endless, limits, no_watch(), &end);
        let reading = async {
            let _idle = get(address).await;
            // There is one connection only, so that this one waits for the end of the other.
            let mut other = get(address).await;
            let mut answer = [0; 12];
            other.read_exact(&mut answer).await.expect("an answer");
            assert_eq!(&answer, b"HTTP/1.1 200");
        };
        tokio::select! {
            () = serving => panic!("the server has ended"),
            read = tokio::time::timeout(Duration::from_secs(20), reading) => read.expect("a free connection"),
        }
    }
}
