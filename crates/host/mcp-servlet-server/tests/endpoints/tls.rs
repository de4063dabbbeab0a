//! Listeners with TLS.

use std::path::PathBuf;

use mcp_servlet_client::{Http, Options, Session, Tls, TlsVersion};
use mcp_servlet_server::config::Config;
use test_authority::Authority;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::site::{Site, eventually};

/// A configuration with these keys of TLS.
fn config(tls: &str) -> String {
    format!(
        "[listener.local]\naddress = \"127.0.0.1:0\"\ntls = {{ {tls} }}\n\
         [endpoint.web]\nkind = \"http\"\nlistener = \"local\"\n"
    )
}

const FILES: &str = "cert = \"cert.pem\", key = \"key.pem\"";

/// A site with a certificate of this authority, whose root is the file `root.pem`.
async fn start(authority: &Authority, tls: &str) -> Site {
    let (cert, key) = authority.sign(1);
    let root = authority.root();
    let lists = authority.revoked(&[3]);
    let files = [
        ("cert.pem", cert.as_bytes()),
        ("key.pem", key.as_bytes()),
        ("root.pem", root.as_bytes()),
        ("revoked.pem", lists.as_bytes()),
    ];
    Site::start(&config(tls), &files).await
}

fn trusting(root: PathBuf) -> Tls {
    Tls::default().roots(root).expect("a root")
}

async fn connect(site: &Site, tls: Tls) -> Result<Session, String> {
    let url = site.url("web").replace("http://", "https://");
    let http = Http::new(&url).expect("a URL").tls(tls);
    let session = Session::connect_with(&http.into(), &Options::new()).await;
    session.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_listener_speaks_https_and_tells_others_so() {
    let authority = Authority::new();
    let site = start(&authority, FILES).await;
    let session = connect(&site, trusting(site.path("root.pem"))).await;
    session.expect("a session").close().await;
    connect(&site, Tls::default()).await.expect_err("no trust");

    let address = site.url("web").trim_start_matches("http://");
    let address = address.trim_end_matches("/mcp");
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let head = format!("POST /mcp?a=1 HTTP/1.1\r\nx: y\r\nHost: {address}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("a write");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    assert!(
        answer.starts_with("HTTP/1.1 400 Bad Request\r\n"),
        "{answer}"
    );
    let body = format!("\r\n\r\nthis address speaks https: use https://{address}/mcp?a=1\n");
    assert!(answer.ends_with(&body), "{answer}");
}

#[tokio::test]
async fn the_least_version_is_1_3_if_the_configuration_says_so() {
    use tokio_rustls::{
        TlsConnector,
        rustls::{
            ClientConfig, RootCertStore,
            crypto::ring,
            pki_types::{CertificateDer, ServerName, pem::PemObject as _},
            version,
        },
    };

    let authority = Authority::new();
    let site = start(&authority, &format!("{FILES}, min = \"1.3\"")).await;
    let tls = trusting(site.path("root.pem")).least_version(TlsVersion::Tls13);
    connect(&site, tls).await.expect("a session").close().await;
    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(authority.root().as_bytes());
    roots.add(root.expect("PEM")).expect("a root");
    let provider = std::sync::Arc::new(ring::default_provider());
    let old = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&version::TLS12])
        .expect("a version")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let address = site.url("web").trim_start_matches("http://");
    let stream = TcpStream::connect(address.trim_end_matches("/mcp")).await;
    let name = ServerName::try_from("127.0.0.1").expect("an address");
    let connector = TlsConnector::from(std::sync::Arc::new(old));
    let outcome = connector.connect(name, stream.expect("a connection")).await;
    let error = outcome.expect_err("TLS 1.2").to_string();
    assert!(error.contains("ProtocolVersion"), "{error}");
}

#[tokio::test]
async fn changed_files_apply_to_new_connections() {
    let site = start(&Authority::new(), FILES).await;
    let other = Authority::new();
    let root = site.path("other.pem");
    site.write("other.pem", other.root());
    connect(&site, trusting(root.clone()))
        .await
        .expect_err("an authority that the server does not have yet");
    // A file that cannot be used changes nothing.
    site.write("cert.pem", "no certificate");
    let (cert, key) = other.sign(2);
    site.write("key.pem", key);
    site.write("cert.pem", cert);
    eventually("session with the new certificate", async || {
        connect(&site, trusting(root.clone())).await.is_ok()
    })
    .await;
}

#[tokio::test]
async fn clients_need_a_certificate_that_is_not_revoked() {
    let authority = Authority::new();
    let clients = format!("{FILES}, clients = {{ ca = \"root.pem\", crl = [\"revoked.pem\"] }}");
    let site = start(&authority, &clients).await;
    let identified = |authority: &Authority, serial| {
        let (cert, key) = authority.sign(serial);
        site.write("client.pem", cert);
        site.write("client.key", key);
        let tls = trusting(site.path("root.pem"));
        let tls = tls.identity(site.path("client.pem"), site.path("client.key"));
        tls.expect("an identity")
    };
    let session = connect(&site, identified(&authority, 2)).await;
    session.expect("a session").close().await;
    let revoked = connect(&site, identified(&authority, 3)).await;
    revoked.expect_err("a revoked certificate");
    let foreign = connect(&site, identified(&Authority::new(), 2)).await;
    foreign.expect_err("a certificate of another authority");
    let nobody = connect(&site, trusting(site.path("root.pem"))).await;
    nobody.expect_err("no certificate");

    let optional = clients.replace("crl =", "required = false, crl =");
    let site = start(&authority, &optional).await;
    let nobody = connect(&site, trusting(site.path("root.pem"))).await;
    nobody
        .expect("a session without a certificate")
        .close()
        .await;
}

#[test]
fn files_that_cannot_be_used_are_problems_with_a_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: String| {
        std::fs::write(folder.path().join(name), text).expect("a file");
    };
    let authority = Authority::new();
    let (cert, key) = authority.sign(1);
    write("cert.pem", cert);
    write("key.pem", key);
    write("other.key", authority.sign(2).1);
    write("empty.pem", String::new());
    for (tls, problem) in [
        (
            "cert = \"no.pem\", key = \"key.pem\"",
            ":3:16: cannot read `",
        ),
        (
            "cert = \"empty.pem\", key = \"key.pem\"",
            "empty.pem` has no certificate in PEM",
        ),
        (
            "cert = \"cert.pem\", key = \"empty.pem\"",
            "empty.pem` has no key in PEM",
        ),
        (
            "cert = \"cert.pem\", key = \"other.key\"",
            ":3:34: the key in `",
        ),
        (
            &format!("{FILES}, clients = {{ ca = \"empty.pem\" }}"),
            "empty.pem` has no certificate in PEM",
        ),
        (
            &format!("{FILES}, clients = {{ ca = \"cert.pem\", crl = [\"cert.pem\"] }}"),
            "cert.pem` has no list of revoked certificates in PEM",
        ),
        (&format!("{FILES}, min = \"1.1\""), "1.1"),
        (
            &format!("{FILES}, insecure = true"),
            "unknown key `insecure`; a listener takes no certificates that it cannot check",
        ),
        (
            &format!("{FILES}, clients = {{ ca = \"cert.pem\", ocsp = true }}"),
            "unknown key `ocsp`; OCSP is not asked",
        ),
    ] {
        let path = folder.path().join("servlet.toml");
        std::fs::write(&path, config(tls)).expect("a file");
        let error = Config::read(&path).expect_err(tls).to_string();
        assert!(error.contains(problem), "{error}\nhas no\n{problem}");
    }
}
