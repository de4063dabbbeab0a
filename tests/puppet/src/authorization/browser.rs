//! A browser that follows redirects.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use url::{Position, Url};

/// Opens a URL in the background. See [`visit`].
///
/// # Panics
/// In the background, if a server on the way does not answer.
pub fn browse(url: &str) {
    let url = url.to_owned();
    std::thread::spawn(move || visit(&url));
}

/// Opens a URL, and follows its redirects.
///
/// # Panics
/// If a server on the way does not answer.
pub fn visit(url: &str) {
    let mut next = Url::parse(url).ok();
    while let Some(url) = next {
        next = redirect(&url, &get(&url));
    }
}

fn get(url: &Url) -> String {
    let address = &url[Position::BeforeHost..Position::AfterPort];
    let path = &url[Position::BeforePath..Position::AfterQuery];
    let mut stream = TcpStream::connect(address).expect("a server");
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
    )
    .expect("a connection");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    response
}

fn redirect(url: &Url, response: &str) -> Option<Url> {
    let mut lines = response.lines();
    let location = lines.find_map(|line| line.strip_prefix("location: "))?;
    url.join(location).ok()
}
