//! The credentials of a request.

use http::{HeaderName, HeaderValue, header::AUTHORIZATION};
use url::form_urlencoded;

use super::{Head, Reason};
use crate::{
    certificate::Certificate,
    options::{AuthOptions, CertificateOptions},
};

/// How long a token or a key may be.
const MAX_CREDENTIAL: usize = 16 << 10;

/// The only credentials of a request.
#[derive(Debug)]
pub(super) enum Credentials<'a> {
    /// A bearer token.
    Token(&'a str),
    /// A key in a header of its own.
    Key(HeaderKey<'a>),
    /// A certificate, and how it names the caller.
    Certificate(&'a Certificate, &'a CertificateOptions),
}

#[derive(Debug)]
pub(super) struct HeaderKey<'a> {
    pub(super) header: HeaderName,
    pub(super) value: &'a str,
}

impl<'a> Credentials<'a> {
    pub(super) fn of(head: Head<'a>, options: &'a AuthOptions) -> Result<Self, Reason> {
        let query = head.query.unwrap_or_default();
        let mut parameters = form_urlencoded::parse(query.as_bytes());
        if parameters.any(|(name, _)| name == "access_token") {
            return Err(Reason::TokenInUrl);
        }
        let mut found = head.headers.get_all(AUTHORIZATION).iter();
        let token = found.next();
        let mut key = None;
        let mut has_more = found.next().is_some();
        for one in &options.keys {
            let values = head.headers.get_all(&one.header).iter();
            let header = &one.header;
            // Several keys may have the same header.
            if *header == AUTHORIZATION || key.as_ref().is_some_and(|(name, _)| *name == header) {
                continue;
            }
            for value in values {
                has_more |= token.is_some() || key.replace((header, value)).is_some();
            }
        }
        if has_more {
            return Err(Reason::SeveralCredentials);
        }
        match (token, key) {
            (Some(token), _) => bearer(token).map(Self::Token),
            (None, Some((header, value))) => {
                let value = text(value, Reason::Key)?;
                let header = header.clone();
                Ok(Self::Key(HeaderKey { header, value }))
            }
            (None, None) => match (head.certificate, &options.certificate) {
                (Some(certificate), Some(options)) => Ok(Self::Certificate(certificate, options)),
                _ => Err(Reason::NoCredentials),
            },
        }
    }
}

fn text(value: &HeaderValue, otherwise: Reason) -> Result<&str, Reason> {
    if value.len() > MAX_CREDENTIAL {
        return Err(Reason::TooLong);
    }
    value.to_str().map_err(|_| otherwise)
}

/// The token of an `Authorization` header.
fn bearer(value: &HeaderValue) -> Result<&str, Reason> {
    let value = text(value, Reason::NotJwt)?;
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Reason::Scheme);
    }
    let token = token.trim_matches(' ');
    let body = token.trim_end_matches('=');
    let is_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    if body.is_empty() || !body.bytes().all(is_byte) {
        return Err(Reason::NotJwt);
    }
    Ok(token)
}
