//! A certificate authority, and servers with its certificates.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::serve::Listener;
use puppet::Puppet;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto::ring, version};
use tokio_rustls::server::TlsStream;

/// A certificate authority, and a folder with its files.
pub(crate) struct Authority {
    authority: test_authority::Authority,
    pub(crate) folder: tempfile::TempDir,
}

/// The serial number of the server's certificate.
pub(crate) const SERVER: u8 = 7;

impl Authority {
    pub(crate) fn new() -> Self {
        Self {
            authority: test_authority::Authority::new(),
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    pub(crate) fn roots(&self) -> PathBuf {
        self.write("roots.pem", &self.authority.root())
    }

    /// The files of a certificate for a client, and of its key.
    pub(crate) fn client(&self) -> (PathBuf, PathBuf) {
        let (certificate, key) = self.authority.sign(9);
        let certificate = self.write("client.pem", &certificate);
        (certificate, self.write("client.key", &key))
    }

    /// A list of revoked certificates.
    pub(crate) fn revoked(&self, serials: &[u8]) -> PathBuf {
        self.write("revoked.pem", &self.authority.revoked(serials))
    }

    /// A puppet with TLS, and its URL.
    pub(crate) async fn serve(&self, wants_clients: bool) -> String {
        let puppet = Puppet::new("plain");
        let address = self.serve_puppet(&puppet, &[], wants_clients).await;
        format!("https://{address}")
    }

    /// Serves a puppet with TLS and these protocols of HTTP.
    pub(crate) async fn serve_puppet(
        &self,
        puppet: &Puppet,
        protocols: &[&str],
        wants_clients: bool,
    ) -> SocketAddr {
        let (certificate, key) = self.authority.sign(SERVER);
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder
            .with_protocol_versions(&[&version::TLS12])
            .expect("a version");
        let builder = if wants_clients {
            let mut roots = RootCertStore::empty();
            let root = CertificateDer::from_pem_slice(self.authority.root().as_bytes());
            roots.add(root.expect("PEM")).expect("a root");
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().expect("a verifier"))
        } else {
            builder.with_no_client_auth()
        };
        let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).expect("PEM");
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("PEM");
        let config = builder.with_single_cert(vec![certificate], key);
        let mut config = config.expect("a certificate with its key");
        let protocols = protocols.iter().map(|name| name.as_bytes().to_vec());
        config.alpn_protocols = protocols.collect();
        let listener = TlsListener {
            tcp: TcpListener::bind("127.0.0.1:0").await.expect("a free port"),
            acceptor: TlsAcceptor::from(Arc::new(config)),
        };
        let address = listener.local_addr().expect("a port");
        let app = puppet.app();
        tokio::spawn(async move { axum::serve(listener, app).await });
        address
    }
}

struct TlsListener {
    tcp: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            let (stream, address) = self.tcp.accept().await.expect("a connection");
            // Clients that refuse the certificate end the handshake.
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}
