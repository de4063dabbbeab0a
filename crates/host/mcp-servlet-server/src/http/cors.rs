//! CORS: lets pages of the allowed origins read responses.

use axum::{
    extract::Request,
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{
            ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
            ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
            ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ALLOW, ORIGIN, VARY,
            WWW_AUTHENTICATE,
        },
    },
    response::Response,
};

/// A request that comes from a web page.
pub(super) struct Page {
    origin: HeaderValue,
    /// The response, if the request is a preflight.
    permission: Option<Response>,
}

impl Page {
    /// None if the request does not come from a page.
    pub(super) fn of(request: &Request) -> Option<Self> {
        let headers = request.headers();
        let origin = headers.get(ORIGIN)?.clone();
        let is_preflight = request.method() == Method::OPTIONS
            && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        let permission = is_preflight.then(|| permission(headers, "GET, POST, DELETE"));
        Some(Self { origin, permission })
    }

    /// Whether the request asks for permission to send another one.
    pub(super) fn is_preflight(&self) -> bool {
        self.permission.is_some()
    }

    /// Adds the CORS headers to a response to a page whose origin is allowed.
    ///
    /// `names` are the headers of the endpoint, which pages may read too.
    pub(super) fn share<'n>(
        self,
        mut response: Response,
        names: impl Iterator<Item = &'n str>,
    ) -> Response {
        if let Some(permission) = self.permission {
            response = permission;
        }
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.origin);
        headers.append(VARY, HeaderValue::from_static("Origin"));
        let mut exposed: Vec<_> = std::iter::once("Mcp-Session-Id").chain(names).collect();
        if headers.contains_key(WWW_AUTHENTICATE) {
            exposed.push("WWW-Authenticate");
        }
        if let Ok(exposed) = HeaderValue::try_from(exposed.join(", ")) {
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        }
        response
    }
}

/// The response to a preflight request for one of these methods.
pub(super) fn permission(asked: &HeaderMap, methods: &'static str) -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    let methods = HeaderValue::from_static(methods);
    headers.insert(ALLOW, methods.clone());
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    // All requested headers are allowed, because tool parameters may be headers.
    if let Some(wanted) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("7200"));
    response
}
