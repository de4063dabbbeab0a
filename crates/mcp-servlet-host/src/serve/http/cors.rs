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
    middleware::Next,
    response::Response,
};

/// Adds what browsers want to see to answers that the service behind gives to allowed origins.
pub(super) async fn share(request: Request, next: Next) -> Response {
    let asked = request.headers().clone();
    let is_question =
        request.method() == Method::OPTIONS && asked.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = next.run(request).await;
    let Some(origin) = asked.get(ORIGIN) else {
        return response;
    };
    // The service looks at the origin before anything else, and this is how it refuses one.
    if response.status() == StatusCode::FORBIDDEN {
        return response;
    }
    if is_question {
        response = permission(&asked);
    }
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    let exposed = HeaderValue::from_static("Mcp-Session-Id");
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    response
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
