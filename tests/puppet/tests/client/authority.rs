//! A certificate authority, and servers with its certificates.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::serve::Listener;
use puppet::Puppet;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType,
    IsCa, KeyIdMethod, KeyPair, KeyUsagePurpose, RevocationReason, RevokedCertParams, SerialNumber,
    date_time_ymd,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto::ring, version};
use tokio_rustls::server::TlsStream;

/// A certificate authority, and a folder with its files.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    pub(crate) folder: tempfile::TempDir,
}

/// The serial number of the server's certificate.
pub(crate) const SERVER: u8 = 7;

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(DnType::CommonName, "authority of the test");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().expect("a key");
        Self {
            issuer: CertifiedIssuer::self_signed(params, key).expect("a certificate"),
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    pub(crate) fn roots(&self) -> PathBuf {
        self.write("roots.pem", &self.issuer.pem())
    }

    /// A certificate for this machine, and its key.
    pub(crate) fn sign(&self, serial: u8) -> (rcgen::Certificate, KeyPair) {
        let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("an address");
        params.serial_number = Some(SerialNumber::from_slice(&[serial]));
        let key = KeyPair::generate().expect("a key");
        (
            params.signed_by(&key, &self.issuer).expect("a certificate"),
            key,
        )
    }

    /// A list of revoked certificates.
    pub(crate) fn revoked(&self, serials: &[u8]) -> PathBuf {
        let revoked = serials.iter().map(|serial| RevokedCertParams {
            serial_number: SerialNumber::from_slice(&[*serial]),
            revocation_time: date_time_ymd(2024, 1, 1),
            reason_code: Some(RevocationReason::KeyCompromise),
            invalidity_date: None,
        });
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(2124, 1, 1),
            crl_number: SerialNumber::from_slice(&[1]),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let list = params.signed_by(&self.issuer).expect("a list");
        self.write("revoked.pem", &list.pem().expect("PEM"))
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
        let (certificate, key) = self.sign(SERVER);
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder
            .with_protocol_versions(&[&version::TLS12])
            .expect("a version");
        let builder = if wants_clients {
            let mut roots = RootCertStore::empty();
            roots.add(self.issuer.der().clone()).expect("a root");
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().expect("a verifier"))
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let config = builder.with_single_cert(vec![certificate.der().clone()], key);
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
