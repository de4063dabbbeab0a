//! A TCP proxy that delays what passes, counts connections, and breaks them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy, sink};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep_until};

/// A TCP proxy in front of a server.
#[derive(Clone, Debug)]
pub struct Proxy {
    address: SocketAddr,
    line: Arc<Line>,
}

#[derive(Debug)]
struct Line {
    server: SocketAddr,
    /// How long each byte takes to the other side.
    delay: Duration,
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
    pub async fn start(server: SocketAddr, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a free port");
        let address = listener.local_addr().expect("a port");
        let line = Arc::new(Line {
            server,
            delay,
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
            () = self.pass(&mut from_client, &mut to_server, |_| true) => {}
            () = self.pass(&mut from_server, &mut to_client, Self::is_kept) => {}
            () = self.close.notified() => {
                drop((from_server, to_server, to_client));
                // The client closes its end when it has learnt of this one.
                let _ = copy(&mut from_client, &mut sink()).await;
            }
        }
    }

    /// Passes bytes on until an end, or until they are not kept.
    async fn pass(
        &self,
        from: &mut OwnedReadHalf,
        to: &mut OwnedWriteHalf,
        is_kept: impl Fn(&Self) -> bool,
    ) {
        let (sender, mut chunks) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
        let reading = async {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(length @ 1..) = from.read(&mut buffer).await {
                let chunk = (Instant::now() + self.delay, buffer[..length].to_vec());
                if !is_kept(self) || sender.send(chunk).is_err() {
                    return;
                }
            }
            // What is on its way arrives before the end.
            sleep_until(Instant::now() + self.delay).await;
        };
        let writing = async {
            while let Some((time, chunk)) = chunks.recv().await {
                sleep_until(time).await;
                if to.write_all(&chunk).await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = reading => {}
            () = writing => {}
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
