//! The end of a login: the browser is sent to an HTTP server of this process, with the answer in the query.

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::Url;

const PATH: &str = "/callback";
/// The most bytes of a request's head.
const HEAD: usize = 16 << 10;
/// How long a browser may take to send a head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const PAGE: &str = "<!doctype html><meta charset=utf-8><title>Login</title>\
    <p>The program that you log in with has the answer. You can close this page.";

/// Waits for the browser on a free port of this machine.
pub(super) struct Loopback {
    listener: TcpListener,
    port: u16,
}

/// The answer of the authorization server, as the browser brings it.
#[derive(Default)]
pub(super) struct Answer(HashMap<String, String>);

impl Loopback {
    pub(super) async fn bind() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// Where the authorization server sends the browser.
    pub(super) fn redirect_uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the answer. Browsers open connections that they do not use, so all are served at once.
    pub(super) async fn answer(self) -> io::Result<Answer> {
        let (found, mut answers) = mpsc::channel(1);
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                Some(answer) = answers.recv() => return Ok(answer),
                accepted = self.listener.accept() => {
                    let (stream, _) = accepted?;
                    let found = found.clone();
                    connections.spawn(async move {
                        if let Ok(Some(answer)) = serve(stream).await {
                            // An error means that another connection had the answer first.
                            let _ = found.send(answer).await;
                        }
                    });
                }
                Some(_) = connections.join_next() => {}
            }
        }
    }
}

impl Answer {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The answer in the first line of a request. None if it has none.
    fn parse(head: &str) -> Option<Self> {
        let target = head.strip_prefix("GET ")?.split(' ').next()?;
        let base = Url::parse("http://127.0.0.1").ok()?;
        let url = base.join(target).ok().filter(|url| url.path() == PATH)?;
        let mut answer = Self::default();
        for (name, value) in url.query_pairs() {
            // A parameter must not occur twice (RFC 6749, section 3.1).
            let twice = answer.0.insert(name.into_owned(), value.into_owned());
            if twice.is_some() {
                return None;
            }
        }
        Some(answer).filter(|answer| answer.get("code").or(answer.get("error")).is_some())
    }
}

/// Answers one request.
async fn serve(mut stream: TcpStream) -> io::Result<Option<Answer>> {
    let head = timeout(HEAD_TIMEOUT, head(&mut stream)).await??;
    let answer = Answer::parse(&head);
    let status = if answer.is_some() {
        "200 OK"
    } else {
        "404 Not Found"
    };
    let page = if answer.is_some() { PAGE } else { "" };
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
        cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await?;
    Ok(answer)
}

/// The request until its empty line.
async fn head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() >= HEAD {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if stream.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_are_taken() {
        let answer = Answer::parse("GET /callback?code=a%20b&state=c HTTP/1.1\r\n\r\n");
        let answer = answer.expect("an answer");
        assert_eq!(answer.get("code"), Some("a b"));
        assert_eq!(answer.get("state"), Some("c"));
        assert!(Answer::parse("GET /callback?error=access_denied HTTP/1.1").is_some());
        for other in [
            "GET /favicon.ico HTTP/1.1",
            "GET /callback HTTP/1.1",
            "GET /callback?state=c HTTP/1.1",
            "GET /callback?code=a&code=b HTTP/1.1",
            "POST /callback?code=a HTTP/1.1",
            "GET /other/callback?code=a HTTP/1.1",
            "",
        ] {
            assert!(Answer::parse(other).is_none(), "{other}");
        }
    }

    #[tokio::test]
    async fn a_connection_without_a_request_does_not_block_the_answer() {
        let loopback = Loopback::bind().await.expect("a port");
        let port = loopback.port;
        let answer = tokio::spawn(loopback.answer());
        let _silent = TcpStream::connect(("127.0.0.1", port))
            .await
            .expect("a connection");
        let mut browser = TcpStream::connect(("127.0.0.1", port))
            .await
            .expect("a connection");
        let request = b"GET /callback?code=a HTTP/1.1\r\n\r\n";
        browser.write_all(request).await.expect("a request");
        let mut page = String::new();
        browser.read_to_string(&mut page).await.expect("a page");
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.ends_with(PAGE));
        let answer = answer.await.expect("a task").expect("an answer");
        assert_eq!(answer.get("code"), Some("a"));
    }
}
