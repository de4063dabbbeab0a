//! Sessions over TLS, with certificates made by the test.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::serve::Listener;
use mcp_servlet_client::{Error, ErrorKind, Http, Session, TargetError, Tls, TlsVersion};
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

use crate::support::count_tools;

/// A certificate authority, and a folder with its files.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

/// The serial number of the server's certificate.
const SERVER: u8 = 7;

impl Authority {
    fn new() -> Self {
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

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    fn roots(&self) -> PathBuf {
        self.write("roots.pem", &self.issuer.pem())
    }

    /// A certificate for this machine, and its key.
    fn sign(&self, serial: u8) -> (rcgen::Certificate, KeyPair) {
        let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("an address");
        params.serial_number = Some(SerialNumber::from_slice(&[serial]));
        let key = KeyPair::generate().expect("a key");
        (
            params.signed_by(&key, &self.issuer).expect("a certificate"),
            key,
        )
    }

    /// A list of revoked certificates.
    fn revoked(&self, serials: &[u8]) -> PathBuf {
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
    async fn serve(&self, wants_clients: bool) -> String {
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
        let listener = TlsListener {
            tcp: TcpListener::bind("127.0.0.1:0").await.expect("a free port"),
            acceptor: TlsAcceptor::from(Arc::new(config.expect("a certificate with its key"))),
        };
        let address = listener.local_addr().expect("a port");
        let app = Puppet::new("plain").app();
        tokio::spawn(async move { axum::serve(listener, app).await });
        format!("https://{address}")
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

async fn connect(url: &str, tls: Tls) -> Result<Session, Error> {
    let http = Http::new(url).expect("a URL").tls(tls);
    Session::connect(&http.into()).await
}

fn trusting(roots: &Path) -> Tls {
    Tls::default().roots(roots).expect("a certificate")
}

#[tokio::test]
async fn a_server_is_reached_if_its_authority_is_trusted() {
    let authority = Authority::new();
    let url = authority.serve(false).await;
    let session = connect(&url, trusting(&authority.roots()))
        .await
        .expect("a session");
    assert_eq!(count_tools(&session).await, 1);
}

#[tokio::test]
async fn a_server_of_another_authority_is_refused() {
    let url = Authority::new().serve(false).await;
    for tls in [Tls::default(), trusting(&Authority::new().roots())] {
        let error = connect(&url, tls).await.expect_err("another authority");
        assert_eq!(error.kind(), ErrorKind::Connectivity);
        assert!(error.message().contains("certificate"), "{error}");
    }
}

#[tokio::test]
async fn a_revoked_certificate_is_refused() {
    let authority = Authority::new();
    let url = authority.serve(false).await;
    let tls = |serials| {
        trusting(&authority.roots())
            .revoked(authority.revoked(serials))
            .expect("a list")
    };
    connect(&url, tls(&[SERVER + 1])).await.expect("a session");
    let error = connect(&url, tls(&[SERVER]))
        .await
        .expect_err("a revoked certificate");
    assert_eq!(error.kind(), ErrorKind::Connectivity);
    assert!(
        error.message().to_lowercase().contains("revoked"),
        "{error}"
    );
}

#[tokio::test]
async fn a_client_identifies_itself_with_a_certificate() {
    let authority = Authority::new();
    let url = authority.serve(true).await;
    let (certificate, key) = authority.sign(9);
    let certificate = authority.write("client.pem", &certificate.pem());
    let key = authority.write("client.key", &key.serialize_pem());
    let tls = trusting(&authority.roots())
        .identity(certificate, key)
        .expect("an identity");
    connect(&url, tls).await.expect("a session");
    let error = connect(&url, trusting(&authority.roots())).await;
    assert_eq!(
        error.expect_err("no certificate").kind(),
        ErrorKind::Connectivity
    );
}

#[tokio::test]
async fn the_least_version_is_kept() {
    let authority = Authority::new();
    let url = authority.serve(false).await;
    let tls = |version| trusting(&authority.roots()).least_version(version);
    connect(&url, tls(TlsVersion::Tls12))
        .await
        .expect("a session");
    let error = connect(&url, tls(TlsVersion::Tls13))
        .await
        .expect_err("TLS 1.2");
    assert_eq!(error.kind(), ErrorKind::Connectivity);
}

#[tokio::test]
async fn any_certificate_can_be_accepted() {
    let url = Authority::new().serve(false).await;
    let tls = Tls::default().accept_invalid_certificates();
    connect(&url, tls).await.expect("a session");
}

#[test]
fn files_without_certificates_are_named() {
    let authority = Authority::new();
    let empty = authority.write("empty.pem", "");
    let missing = authority.folder.path().join("missing.pem");
    for (result, text) in [
        (
            Tls::default().roots(&empty),
            "empty.pem` has no valid certificate in PEM",
        ),
        (
            Tls::default().revoked(&empty),
            "empty.pem` has no valid list of revoked certificates in PEM",
        ),
        (
            Tls::default().identity(&empty, &empty),
            "empty.pem` has no valid certificate with a key in PEM",
        ),
        (Tls::default().roots(&missing), "cannot read `"),
    ] {
        let error: TargetError = result.expect_err("no file");
        assert!(error.to_string().contains(text), "{error}");
    }
}
