//! Accepts connections, up to a limit. A client that sends nothing is disconnected.

use std::{pin::pin, sync::Arc, time::Duration};

use axum::{Router, serve::Listener};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::HttpOptions;

/// Limits for clients that send nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    connections: usize,
    head_time: Option<Duration>,
}

impl Limits {
    pub(super) fn of(options: &HttpOptions) -> Self {
        Self {
            connections: options.connections.clamp(1, Semaphore::MAX_PERMITS),
            head_time: options.head_time,
        }
    }
}

/// Serves connections until `end`, and then lets the open ones finish.
pub(super) async fn serve(
    mut listener: TcpListener,
    routes: Router,
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
        let (routes, end) = (routes.clone(), end.clone());
        tasks.spawn(async move {
            let _permit = permit;
            converse(stream, routes, limits.head_time, end).await;
        });
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

/// Answers the requests of one connection.
async fn converse(
    stream: TcpStream,
    routes: Router,
    head_time: Option<Duration>,
    end: CancellationToken,
) {
    // Nagle's algorithm would delay the small writes of an answer by about 25 ms per call.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_time)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes));
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
