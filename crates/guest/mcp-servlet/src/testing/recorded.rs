//! Recorded HTTP responses for tests.

use std::collections::BTreeMap;

use crate::{HttpError, HttpErrorKind, HttpRequest, HttpResponse};

/// The recorded outcome of an HTTP request: a response, an error, or the kind of an error.
#[derive(Debug, Clone)]
pub struct RecordedHttp(Result<HttpResponse, HttpError>);

impl From<HttpResponse> for RecordedHttp {
    fn from(response: HttpResponse) -> Self {
        Self(Ok(response))
    }
}

impl From<HttpError> for RecordedHttp {
    fn from(error: HttpError) -> Self {
        Self(Err(error))
    }
}

impl From<HttpErrorKind> for RecordedHttp {
    fn from(kind: HttpErrorKind) -> Self {
        Self(Err(kind.into()))
    }
}

impl<E: Into<HttpError>> From<Result<HttpResponse, E>> for RecordedHttp {
    fn from(outcome: Result<HttpResponse, E>) -> Self {
        Self(outcome.map_err(Into::into))
    }
}

/// Responses and failures by method and URL.
pub(super) struct Recording(BTreeMap<String, RecordedHttp>);

impl Recording {
    pub(super) fn new<'a>(
        answers: impl IntoIterator<Item = (&'a str, impl Into<RecordedHttp>)>,
    ) -> Self {
        Self(
            answers
                .into_iter()
                .map(|(request, answer)| (request.to_owned(), answer.into()))
                .collect(),
        )
    }

    /// The recorded outcome of a request, if there is one.
    pub(super) fn answer(&self, request: &HttpRequest) -> Option<Result<HttpResponse, HttpError>> {
        Some(self.0.get(&key(request))?.0.clone())
    }
}

/// The error message for a request without a recording.
pub(super) fn missing(request: &HttpRequest) -> String {
    format!("the test has no response to `{}`", key(request))
}

fn key(request: &HttpRequest) -> String {
    format!("{} {}", request.method, request.url)
}
