//! Opens connections, with TLS for `https` and through the proxy if there is one.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use hyper::{Uri, http::uri::Scheme};
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo};
use mcp_servlet_common::literal;
use tokio_rustls::rustls::pki_types::ServerName;
use tower_service::Service;

use crate::{
    address::{Addresses, Unresolved},
    failure::{ProxyFailed, reason},
    proxy::ProxyServer,
    stream::{BoxError, Stream},
    trust::Trust,
};

/// Opens the connections of one client.
#[derive(Clone)]
pub(crate) struct Connector {
    tcp: HttpConnector<Addresses>,
    addresses: Addresses,
    proxy: Option<Arc<ProxyServer>>,
    trust: Trust,
}

impl Connector {
    pub(crate) fn new(addresses: Addresses, proxy: Option<ProxyServer>, trust: Trust) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(addresses.clone());
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        Self {
            tcp,
            addresses,
            proxy: proxy.map(Arc::new),
            trust,
        }
    }

    async fn connect(mut self, uri: Uri) -> Result<TokioIo<Box<dyn Stream>>, BoxError> {
        let stream = match self.proxy.clone() {
            None => self.open(&uri).await?,
            Some(proxy) => {
                let tunnel = self.tunnel(&proxy, &uri).await;
                tunnel.map_err(|error| ProxyFailed(reason(&*error)))?
            }
        };
        Ok(TokioIo::new(self.secure(stream, &uri).await?))
    }

    /// Connects to the host through a proxy.
    async fn tunnel(
        &mut self,
        proxy: &ProxyServer,
        uri: &Uri,
    ) -> Result<Box<dyn Stream>, BoxError> {
        let stream = self.open(proxy.uri()).await?;
        let stream = self.secure(stream, proxy.uri()).await?;
        proxy.tunnel(stream, uri).await
    }

    /// Connects to an allowed address of the host.
    async fn open(&mut self, uri: &Uri) -> Result<Box<dyn Stream>, BoxError> {
        let host = uri.host().unwrap_or_default();
        // The resolver gets names only.
        if literal(host).is_some_and(|address| !self.addresses.allow(host, address)) {
            return Err(Unresolved::Private.into());
        }
        let stream = self.tcp.call(uri.clone()).await?;
        Ok(Box::new(stream.into_inner()))
    }

    /// Adds TLS to the connection of an `https` URL.
    async fn secure(
        &self,
        stream: Box<dyn Stream>,
        uri: &Uri,
    ) -> Result<Box<dyn Stream>, BoxError> {
        if uri.scheme() != Some(&Scheme::HTTPS) {
            return Ok(stream);
        }
        let host = uri
            .host()
            .unwrap_or_default()
            .trim_start_matches('[')
            .trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned())?;
        Ok(Box::new(
            self.trust.connector().connect(name, stream).await?,
        ))
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Box<dyn Stream>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}
