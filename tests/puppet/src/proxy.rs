//! A TCP proxy that holds back what passes, counts connections, and breaks them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy, sink};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

/// A TCP proxy in front of a server.
#[derive(Clone, Debug)]
pub struct Proxy {
    address: SocketAddr,
    line: Arc<Line>,
}

#[derive(Debug)]
struct Line {
    server: SocketAddr,
    /// Whether bytes of clients are held back.
    holds_requests: watch::Sender<bool>,
    /// The same for bytes of the server.
    holds_responses: watch::Sender<bool>,
    connections: AtomicUsize,
    /// How many connections of clients are not closed on both sides.
    open: AtomicUsize,
    /// How many responses are dropped, together with their connections.
    dropped: AtomicUsize,
    /// Whether new connections are closed at once.
    refuses: AtomicBool,
    close: Notify,
}

impl Proxy {
    /// Starts a proxy on a free port of this machine.
    ///
    /// # Panics
    /// If no port is free.
    pub async fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a free port");
        let address = listener.local_addr().expect("a port");
        let line = Arc::new(Line {
            server,
            holds_requests: watch::Sender::new(false),
            holds_responses: watch::Sender::new(false),
            connections: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
            refuses: AtomicBool::new(false),
            close: Notify::new(),
        });
        tokio::spawn(Arc::clone(&line).accept(listener));
        Self { address, line }
    }

    /// Where clients connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections there have been.
    pub fn connections(&self) -> usize {
        self.line.connections.load(Ordering::Relaxed)
    }

    /// How many connections are there, until their clients have closed them as well.
    pub fn open(&self) -> usize {
        self.line.open.load(Ordering::Relaxed)
    }

    /// Holds back what clients send from now on, or lets it pass again.
    pub fn hold_requests(&self, hold: bool) {
        self.line.holds_requests.send_replace(hold);
    }

    /// Holds back what the server sends from now on, or lets it pass again.
    pub fn hold_responses(&self, hold: bool) {
        self.line.holds_responses.send_replace(hold);
    }

    /// Closes new connections at once.
    pub fn refuse(&self) {
        self.line.refuses.store(true, Ordering::Relaxed);
    }

    /// Closes the open connections.
    pub fn close_all(&self) {
        self.line.close.notify_waiters();
    }

    /// Closes the connections on which the next responses arrive, instead of passing them on.
    pub fn drop_responses(&self, count: usize) {
        self.line.dropped.store(count, Ordering::Relaxed);
    }
}

impl Line {
    async fn accept(self: Arc<Self>, listener: TcpListener) {
        while let Ok((client, _)) = listener.accept().await {
            self.connections.fetch_add(1, Ordering::Relaxed);
            if self.refuses.load(Ordering::Relaxed) {
                continue;
            }
            self.open.fetch_add(1, Ordering::Relaxed);
            let line = Arc::clone(&self);
            tokio::spawn(async move {
                line.connect(client).await;
                line.open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }

    async fn connect(&self, client: TcpStream) {
        let Ok(server) = TcpStream::connect(self.server).await else {
            return;
        };
        let is_sent = client.set_nodelay(true).and(server.set_nodelay(true));
        is_sent.expect("a socket");
        let (mut from_client, mut to_client) = client.into_split();
        let (mut from_server, mut to_server) = server.into_split();
        tokio::select! {
            () = pass(&mut from_client, &mut to_server, &self.holds_requests, || true) => {}
            () = pass(&mut from_server, &mut to_client, &self.holds_responses, || self.is_kept()) => {}
            () = self.close.notified() => {
                drop((from_server, to_server, to_client));
                // The client closes its end when it has learnt of this one.
                let _ = copy(&mut from_client, &mut sink()).await;
            }
        }
    }

    fn is_kept(&self) -> bool {
        let dropped = self
            .dropped
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                count.checked_sub(1)
            });
        dropped.is_err()
    }
}

/// Passes bytes on until an end, or until they are not kept.
async fn pass(
    from: &mut OwnedReadHalf,
    to: &mut OwnedWriteHalf,
    holds: &watch::Sender<bool>,
    is_kept: impl Fn() -> bool,
) {
    let mut holds = holds.subscribe();
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        if !is_kept() || holds.wait_for(|hold| !hold).await.is_err() {
            return;
        }
        if to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}
