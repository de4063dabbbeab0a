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
const MAX_HEAD_BYTES: usize = 16 << 10;
/// How long a browser may take to send a head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const NOT_FOUND: &str = "404 Not Found";
const BAD_REQUEST: &str = "400 Bad Request";
const PAGE: &str = "<!doctype html><meta charset=utf-8><title>Login</title>\
    <p>The program that you log in with has the answer. You can close this page.";

/// Waits for the browser on a free port of this machine.
pub(super) struct Loopback {
    listener: TcpListener,
    port: u16,
}

/// The answer of the authorization server, as the browser brings it.
#[derive(Default)]
pub(super) struct LoginAnswer(HashMap<String, String>);

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

    /// Waits for the answer with this `state`. Other programs and pages can send requests to this port, too; they get an
    /// error. Browsers open connections that they do not use, so all are served at once.
    pub(super) async fn answer(self, state: &str) -> io::Result<LoginAnswer> {
        let (found, mut answers) = mpsc::channel(1);
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                Some(answer) = answers.recv() => return Ok(answer),
                accepted = self.listener.accept() => {
                    let (stream, _) = accepted?;
                    let (found, state) = (found.clone(), state.to_owned());
                    connections.spawn(async move {
                        if let Ok(Some(answer)) = serve(stream, &state).await {
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

impl LoginAnswer {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The answer with this `state` in the first line of a request, or else the status of the response.
    fn parse(head: &str, state: &str) -> Result<Self, &'static str> {
        let url = callback(head).ok_or(NOT_FOUND)?;
        Self::of_query(&url, state).ok_or(BAD_REQUEST)
    }

    fn of_query(url: &Url, state: &str) -> Option<Self> {
        let mut answer = Self::default();
        for (name, value) in url.query_pairs() {
            // A parameter must not occur twice (RFC 6749, section 3.1).
            let twice = answer.0.insert(name.into_owned(), value.into_owned());
            if twice.is_some() {
                return None;
            }
        }
        let is_answer = answer.get("code").or(answer.get("error")).is_some();
        let is_ours = !state.is_empty() && answer.get("state") == Some(state);
        (is_answer && is_ours).then_some(answer)
    }
}

/// The URL of a GET request for the path of answers.
fn callback(head: &str) -> Option<Url> {
    let target = head.strip_prefix("GET ")?.split(' ').next()?;
    let base = Url::parse("http://127.0.0.1").ok()?;
    base.join(target).ok().filter(|url| url.path() == PATH)
}

/// Answers one request.
async fn serve(mut stream: TcpStream, state: &str) -> io::Result<Option<LoginAnswer>> {
    let head = timeout(HEAD_TIMEOUT, head(&mut stream)).await??;
    let answer = LoginAnswer::parse(&head, state);
    let (status, page) = match &answer {
        Ok(_) => ("200 OK", PAGE),
        Err(status) => (*status, ""),
    };
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
        cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await?;
    Ok(answer.ok())
}

/// The request until its empty line.
async fn head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() >= MAX_HEAD_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if stream.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "tasks of a test end with its runtime"
)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_to_this_login_are_taken() {
        let parse = |head| LoginAnswer::parse(head, "c").map_err(|status| &status[..3]);
        let answer = parse("GET /callback?code=a%20b&state=c HTTP/1.1\r\n\r\n");
        assert_eq!(answer.expect("an answer").get("code"), Some("a b"));
        assert!(parse("GET /callback?error=access_denied&state=c HTTP/1.1").is_ok());
        for (head, status) in [
            ("GET /callback HTTP/1.1", "400"),
            ("GET /callback?code=a HTTP/1.1", "400"),
            ("GET /callback?code=a&state=d HTTP/1.1", "400"),
            ("GET /callback?error=access_denied HTTP/1.1", "400"),
            ("GET /callback?state=c HTTP/1.1", "400"),
            ("GET /callback?code=a&code=b&state=c HTTP/1.1", "400"),
            ("GET /favicon.ico HTTP/1.1", "404"),
            ("POST /callback?code=a&state=c HTTP/1.1", "404"),
            ("GET /other/callback?code=a&state=c HTTP/1.1", "404"),
            ("", "404"),
        ] {
            assert_eq!(parse(head).err(), Some(status), "{head}");
        }
        let unknown = LoginAnswer::parse("GET /callback?code=a&state= HTTP/1.1", "");
        assert!(unknown.is_err(), "a login without a state");
    }

    /// The response to a GET request.
    async fn get(port: u16, path: &str) -> String {
        let mut browser = TcpStream::connect(("127.0.0.1", port))
            .await
            .expect("a connection");
        let request = format!("GET {path} HTTP/1.1\r\n\r\n");
        let sent = browser.write_all(request.as_bytes()).await;
        sent.expect("a request");
        let mut response = String::new();
        let read = browser.read_to_string(&mut response).await;
        read.expect("a response");
        response
    }

    #[tokio::test]
    async fn neither_silence_nor_a_stray_request_ends_the_wait() {
        let loopback = Loopback::bind().await.expect("a port");
        let port = loopback.port;
        let answer = tokio::spawn(async move { loopback.answer("c").await });
        let _silent = TcpStream::connect(("127.0.0.1", port))
            .await
            .expect("a connection");
        for path in ["/callback?code=a&state=d", "/callback?error=e", "/callback"] {
            let response = get(port, path).await;
            assert!(response.starts_with("HTTP/1.1 400 "), "{path}: {response}");
        }
        let page = get(port, "/callback?code=a&state=c").await;
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.ends_with(PAGE));
        let answer = answer.await.expect("a task").expect("an answer");
        assert_eq!(answer.get("code"), Some("a"));
    }
}
