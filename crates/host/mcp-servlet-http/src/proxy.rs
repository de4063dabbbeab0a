//! Tunnels through HTTP proxies.
//!
//! See `docs/decisions/0035-proxy-resolves-names.md`.

use http_body_util::Empty;
use hyper::{
    Method, Request, Uri,
    body::Bytes,
    client::conn::http1,
    header::{HOST, HeaderValue, PROXY_AUTHORIZATION, USER_AGENT},
    http::uri::Scheme,
};
use hyper_util::{client::proxy::matcher::Matcher, rt::TokioIo};

use crate::proxy_url::Proxy;
use crate::{
    request::{self, basic_auth},
    stream::{BoxError, Stream},
};

/// A proxy that opens tunnels with the method CONNECT.
pub struct ProxyServer {
    uri: Uri,
    authorization: Option<HeaderValue>,
}

impl ProxyServer {
    /// The proxy that the operator configured.
    pub fn of(proxy: &Proxy) -> Self {
        let url = proxy.url();
        Self {
            uri: request::uri(url).expect("`Proxy::parse` checked it"),
            authorization: basic_auth(url),
        }
    }

    /// The proxy that the environment names for this URL, in `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`. The error is the
    /// scheme of a proxy of another kind.
    pub fn of_environment(url: &Uri) -> Result<Option<Self>, String> {
        let Some(proxy) = Matcher::from_env().intercept(url) else {
            return Ok(None);
        };
        match proxy.uri().scheme_str() {
            Some("http" | "https") => Ok(Some(Self {
                uri: proxy.uri().clone(),
                authorization: proxy.basic_auth().cloned(),
            })),
            scheme => Err(scheme.unwrap_or_default().to_owned()),
        }
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Asks the proxy at the other end of `stream` for a connection to the host of `target`.
    pub(crate) async fn tunnel(
        &self,
        stream: Box<dyn Stream>,
        target: &Uri,
    ) -> Result<Box<dyn Stream>, BoxError> {
        let (mut sender, connection) = http1::Builder::new()
            // Some proxies tell upper case from lower case.
            .title_case_headers(true)
            .handshake(TokioIo::new(stream))
            .await?;
        let request = self.connect(target)?;
        // The connection ends when the sender and the response are dropped.
        let sent = async move {
            let response = sender.send_request(request).await?;
            Ok::<_, hyper::Error>(response.status())
        };
        let (status, connection) = tokio::join!(sent, connection.without_shutdown());
        match status? {
            status if status.is_success() => Ok(Box::new(connection?.io.into_inner())),
            status => Err(format!("proxy server responded {status}").into()),
        }
    }

    fn connect(&self, target: &Uri) -> hyper::http::Result<Request<Empty<Bytes>>> {
        let is_https = target.scheme() == Some(&Scheme::HTTPS);
        let port = target.port_u16().unwrap_or(if is_https { 443 } else { 80 });
        let authority = format!("{}:{port}", target.host().unwrap_or_default());
        let mut request = Request::builder()
            .method(Method::CONNECT)
            .uri(&authority)
            .header(HOST, &authority)
            .header(USER_AGENT, request::AGENT);
        if let Some(value) = &self.authorization {
            request = request.header(PROXY_AUTHORIZATION, value);
        }
        request.body(Empty::new())
    }
}
