//! Lets web pages of the allowed origins read answers.

use axum::{
    extract::Request,
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{
            ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
            ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
            ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ALLOW, ORIGIN, VARY,
        },
    },
    response::Response,
};

/// What a browser says of a page that sends a request.
pub(super) struct Page {
    origin: HeaderValue,
    /// The answer, if it only asks whether it may send another request.
    permission: Option<Response>,
}

impl Page {
    /// None if no page sends it.
    pub(super) fn of(request: &Request) -> Option<Self> {
        let headers = request.headers();
        let origin = headers.get(ORIGIN)?.clone();
        let is_question = request.method() == Method::OPTIONS
            && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        let permission = is_question.then(|| permission(headers));
        Some(Self { origin, permission })
    }

    /// Adds what browsers want to see to the answer that an allowed origin gets.
    pub(super) fn share(self, mut response: Response) -> Response {
        // The service looks at the origin before anything else, and this is how it refuses one.
        if response.status() == StatusCode::FORBIDDEN {
            return response;
        }
        if let Some(permission) = self.permission {
            response = permission;
        }
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.origin);
        headers.insert(VARY, HeaderValue::from_static("Origin"));
        let exposed = HeaderValue::from_static("Mcp-Session-Id");
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        response
    }
}

/// The answer to a browser that asks whether it may send a request.
fn permission(asked: &HeaderMap) -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    let methods = HeaderValue::from_static("GET, POST, DELETE");
    headers.insert(ALLOW, methods.clone());
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    // Whichever it wants: parameters of tools are headers too.
    if let Some(wanted) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("7200"));
    response
}
