//! Accepts connections, up to a limit. A client that sends or reads nothing is disconnected.

mod write_limit;

use std::{convert::Infallible, pin::pin, sync::Arc, time::Duration};

use axum::{body::Body, extract::Request, response::Response, serve::Listener};
use futures_util::FutureExt as _;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::HttpOptions;
use write_limit::WriteLimit;

/// Limits for clients that send or read nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    connections: usize,
    head_time: Option<Duration>,
    write_time: Option<Duration>,
}

impl Limits {
    pub(super) fn of(options: &HttpOptions) -> Self {
        Self {
            connections: options.connections.clamp(1, Semaphore::MAX_PERMITS),
            head_time: options.head_time,
            write_time: options.body_time,
        }
    }
}

/// Answers the requests of all connections until `end`, and then lets the open ones finish.
pub(super) async fn serve<F: Future<Output = Response> + Send + 'static>(
    mut listener: TcpListener,
    answer: impl Fn(Request) -> F + Clone + Send + 'static,
    limits: Limits,
    end: &CancellationToken,
) {
    let permits = Arc::new(Semaphore::new(limits.connections));
    let tasks = TaskTracker::new();
    loop {
        let next = async {
            let permit = Arc::clone(&permits).acquire_owned().await;
            // `accept` retries on errors.
            (permit, Listener::accept(&mut listener).await.0)
        };
        let Some((permit, stream)) = end.run_until_cancelled(next).await else {
            break;
        };
        let (answer, end) = (answer.clone(), end.clone());
        tasks.spawn(async move {
            let _permit = permit;
            converse(stream, answer, limits, end).await;
        });
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

/// Answers the requests of one connection.
async fn converse<F: Future<Output = Response>>(
    stream: TcpStream,
    answer: impl Fn(Request) -> F,
    limits: Limits,
    end: CancellationToken,
) {
    // Nagle's algorithm would delay the small writes of an answer by about 25 ms per call.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let stream = WriteLimit::new(stream, limits.write_time);
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        // Boxed, because hyper moves the future, which is large.
        let response = Box::pin(answer(request.map(Body::new)));
        response.map(Ok::<_, Infallible>)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = end.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection");
    }
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

    #[tokio::test]
    async fn a_client_that_does_not_read_is_disconnected() {
        let endless = |_| async {
            let chunk = stream::repeat_with(|| Ok::<_, Infallible>(vec![0_u8; 1 << 16]));
            Response::new(Body::from_stream(chunk))
        };
        let limits = Limits {
            connections: 1,
            head_time: None,
            write_time: Some(Duration::from_millis(200)),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let end = CancellationToken::new();
        let serving = serve(listener, endless, limits, &end);
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
