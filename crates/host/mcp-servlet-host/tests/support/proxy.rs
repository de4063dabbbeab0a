//! An HTTP proxy.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

/// A forward proxy on this machine that connects every request to the same server.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Connects to this port of this machine; `None` refuses all requests.
    pub(crate) fn start(target: Option<u16>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, kept) = (client.expect("a connection"), Arc::clone(&kept));
                // A client that disconnects must not stop the proxy.
                std::thread::spawn(move || serve(client, target, &kept));
            }
        });
        Self { port, requests }
    }

    /// The requests so far, with their headers.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic").clone()
    }
}

fn serve(client: TcpStream, target: Option<u16>, kept: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head)? > 0 {}
    let is_tunnel = head.starts_with("CONNECT ");
    kept.lock().expect("no panic").push(head);
    let mut client = client;
    let Some(target) = target.filter(|_| is_tunnel) else {
        return client.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    };
    let server = TcpStream::connect(("127.0.0.1", target))?;
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    let mut to = server.try_clone()?;
    std::thread::spawn(move || {
        let copied = io::copy(&mut reader, &mut to);
        copied.and_then(|_| to.shutdown(Shutdown::Write))
    });
    io::copy(&mut &server, &mut client)?;
    client.shutdown(Shutdown::Both)
}
