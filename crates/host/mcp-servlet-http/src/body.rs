//! The bodies of responses.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    mem,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use flate2::write::MultiGzDecoder;
use http_body_util::BodyExt as _;
use hyper::{
    HeaderMap, Response,
    body::{Body as _, Incoming},
    header::{CONTENT_ENCODING, CONTENT_LENGTH, SET_COOKIE},
};
use mcp_servlet_call::{HttpFailure, HttpResponse};
use mcp_servlet_types::HttpErrorKind;
use tokio::time::timeout;
use url::Url;

use crate::failure;

/// How many bytes the bodies of several responses may have together.
#[derive(Default)]
pub struct Room(Option<Bytes>);

struct Bytes {
    limit: u64,
    left: AtomicU64,
}

impl Room {
    /// Room for this many bytes.
    pub fn of(limit: Option<u64>) -> Self {
        Self(limit.map(|limit| Bytes {
            limit,
            left: limit.into(),
        }))
    }

    fn take(&self, bytes: usize) -> Result<(), NoRoom> {
        let Some(Bytes { limit, left }) = &self.0 else {
            return Ok(());
        };
        let taken = left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes as u64));
        taken.map(drop).map_err(|_| NoRoom { limit: *limit })
    }

    fn give_back(&self, bytes: usize) {
        if let Some(Bytes { left, .. }) = &self.0 {
            left.fetch_add(bytes as u64, Relaxed);
        }
    }
}

/// Reads the body of a response, which is at most `limit` bytes after decompression.
pub async fn read(
    response: Response<Incoming>,
    url: &Url,
    limit: Option<u64>,
    room: &Room,
) -> Result<HttpResponse, HttpFailure> {
    let (mut head, mut incoming) = response.into_parts();
    let is_compressed = !incoming.is_end_stream() && take_gzip(&mut head.headers);
    let mut body = Decoder::new(is_compressed, limit, room);
    while let Some(frame) = incoming.frame().await {
        let frame = frame.map_err(|error| failure::sort(&error, url))?;
        if let Some(data) = frame.data_ref() {
            let written = body.write(data);
            written.map_err(|error| failed(error, url))?;
        }
    }
    Ok(HttpResponse {
        status: head.status.as_u16(),
        headers: joined(&head.headers),
        body: body.finish().map_err(|error| failed(error, url))?,
    })
}

/// The headers by name. The values of a repeated header are joined; of `set-cookie`, only the last one is kept.
fn joined(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut joined: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers {
        let Ok(value) = value.to_str() else { continue };
        match joined.get_mut(name.as_str()) {
            Some(list) if name != SET_COOKIE => {
                list.push_str(", ");
                list.push_str(value);
            }
            _ => drop(joined.insert(name.as_str().to_owned(), value.to_owned())),
        }
    }
    joined
}

/// Appends the body of a response to `bytes`, up to `limit` bytes in all. After an error, `bytes` has the part that arrived before it.
/// The body is not decompressed.
///
/// # Errors
/// [`HttpFailure`] if the connection breaks, the server sends nothing for `pause`, or there is more.
pub async fn read_more(
    response: Response<Incoming>,
    url: &Url,
    bytes: &mut Vec<u8>,
    limit: u64,
    pause: Duration,
) -> Result<(), HttpFailure> {
    let mut incoming = response.into_body();
    loop {
        let frame = timeout(pause, incoming.frame())
            .await
            .map_err(|_| failure::timed_out(url, pause))?;
        let Some(frame) = frame else { return Ok(()) };
        let frame = frame.map_err(|error| failure::sort(&error, url))?;
        let data = frame.data_ref().map_or(&[][..], |data| data);
        if (bytes.len() + data.len()) as u64 > limit {
            let too_large = TooLarge { limit };
            return Err(HttpFailure::new(
                HttpErrorKind::TooLarge,
                too_large.to_string(),
            ));
        }
        bytes.extend_from_slice(data);
    }
}

/// Whether a body is compressed. Then it removes the headers that describe the compressed body.
fn take_gzip(headers: &mut HeaderMap) -> bool {
    let encoding = headers.get(CONTENT_ENCODING);
    let is_gzip =
        encoding.is_some_and(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"gzip"));
    if is_gzip {
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
    }
    is_gzip
}

fn failed(error: io::Error, url: &Url) -> HttpFailure {
    let too_large = error
        .downcast::<TooLarge>()
        .map(|error| error.to_string())
        .or_else(|error| error.downcast::<NoRoom>().map(|error| error.to_string()));
    match too_large {
        Ok(message) => HttpFailure::new(HttpErrorKind::TooLarge, message),
        Err(error) => failure::not_http(url, &format!("gzip decompression failed: {error}")),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the HTTP response is larger than {limit} bytes")]
struct TooLarge {
    limit: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("the HTTP responses together are larger than {limit} bytes")]
struct NoRoom {
    limit: u64,
}

/// Bytes up to a limit.
struct Limited<'a> {
    bytes: Vec<u8>,
    limit: Option<u64>,
    room: &'a Room,
}

impl Write for Limited<'_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        let size = (self.bytes.len() + part.len()) as u64;
        if let Some(limit) = self.limit.filter(|limit| size > *limit) {
            return Err(io::Error::other(TooLarge { limit }));
        }
        self.room.take(part.len()).map_err(io::Error::other)?;
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A response that fails leaves its room to the others.
impl Drop for Limited<'_> {
    fn drop(&mut self) {
        self.room.give_back(self.bytes.len());
    }
}

/// Decompresses a body if it is compressed.
enum Decoder<'a> {
    Plain(Limited<'a>),
    Gzip(Box<MultiGzDecoder<Limited<'a>>>),
}

impl<'a> Decoder<'a> {
    fn new(is_compressed: bool, limit: Option<u64>, room: &'a Room) -> Self {
        let bytes = Limited {
            bytes: Vec::new(),
            limit,
            room,
        };
        if is_compressed {
            Self::Gzip(Box::new(MultiGzDecoder::new(bytes)))
        } else {
            Self::Plain(bytes)
        }
    }

    fn write(&mut self, part: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(bytes) => bytes.write_all(part),
            Self::Gzip(decoder) => decoder.write_all(part),
        }
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        let mut limited = match self {
            Self::Plain(limited) => limited,
            Self::Gzip(decoder) => decoder.finish()?,
        };
        Ok(mem::take(&mut limited.bytes))
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderValue, LINK};

    use super::*;

    #[test]
    fn headers_of_one_name_are_joined_except_cookies() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            (LINK, "<a>"),
            (SET_COOKIE, "a=1"),
            (LINK, "<b>"),
            (SET_COOKIE, "b=2"),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        let joined = joined(&headers);
        assert_eq!(
            (&*joined["link"], &*joined["set-cookie"]),
            ("<a>, <b>", "b=2")
        );
    }
}
