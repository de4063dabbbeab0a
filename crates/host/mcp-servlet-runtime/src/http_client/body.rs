//! The bodies of responses.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;
use http_body_util::BodyExt as _;
use hyper::{
    HeaderMap, Response,
    body::{Body as _, Incoming},
    header::{CONTENT_ENCODING, CONTENT_LENGTH},
};
use mcp_servlet_types::HttpErrorKind;
use url::Url;

use crate::exchange::{HttpFailure, HttpResponse};

/// Reads the body of a response, which is at most `limit` bytes after decompression.
pub(crate) async fn read(
    response: Response<Incoming>,
    url: &Url,
    limit: Option<u64>,
) -> Result<HttpResponse, HttpFailure> {
    let (mut head, mut incoming) = response.into_parts();
    let is_compressed = !incoming.is_end_stream() && take_gzip(&mut head.headers);
    let mut body = Decoder::new(is_compressed, limit);
    while let Some(frame) = incoming.frame().await {
        let frame = frame.map_err(|error| HttpFailure::sort(&error, url))?;
        if let Some(data) = frame.data_ref() {
            let written = body.write(data);
            written.map_err(|error| failed(error, url))?;
        }
    }
    let headers = head.headers.iter().filter_map(|(name, value)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    });
    Ok(HttpResponse {
        status: head.status.as_u16(),
        headers: headers.collect(),
        body: body.finish().map_err(|error| failed(error, url))?,
    })
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
    match error.downcast::<TooLarge>() {
        Ok(error) => HttpFailure::new(HttpErrorKind::TooLarge, error.to_string()),
        Err(error) => HttpFailure::not_http(url, &format!("gzip decompression failed: {error}")),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the HTTP response is larger than {limit} bytes")]
struct TooLarge {
    limit: u64,
}

/// Bytes up to a limit.
struct Limited {
    bytes: Vec<u8>,
    limit: Option<u64>,
}

impl Write for Limited {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        let size = (self.bytes.len() + part.len()) as u64;
        if let Some(limit) = self.limit.filter(|limit| size > *limit) {
            return Err(io::Error::other(TooLarge { limit }));
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decompresses a body if it is compressed.
enum Decoder {
    Plain(Limited),
    Gzip(Box<MultiGzDecoder<Limited>>),
}

impl Decoder {
    fn new(is_compressed: bool, limit: Option<u64>) -> Self {
        let bytes = Limited {
            bytes: Vec::new(),
            limit,
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
        match self {
            Self::Plain(limited) => Ok(limited.bytes),
            Self::Gzip(decoder) => Ok(decoder.finish()?.bytes),
        }
    }
}
