//! Listeners with TLS.

use std::{path::PathBuf, sync::Arc, time::Duration};

use http_body_util::BodyExt as _;
use hyper::{
    Version,
    client::conn::http2::{self, SendRequest},
    http::request::Builder,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcp_servlet_client::{Http, Options, Session, Tls, TlsVersion};
use mcp_servlet_config::Config;
use mcp_servlet_server::{Plan, Service, TlsOptions};
use puppet::eventually;
use serde_json::json;
use test_authority::Authority;
use time::OffsetDateTime;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, ConfigBuilder, RootCertStore, SupportedProtocolVersion,
        client::WantsClientCert,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
        version,
    },
};
use wire::message::stateless;

use crate::site::Site;

/// A configuration with these keys of TLS.
pub(crate) fn config(tls: &str) -> String {
    format!(
        "[listener.local]\naddress = \"127.0.0.1:0\"\ntls = {{ {tls} }}\n\
         [endpoint.web]\nkind = \"http\"\nlistener = \"local\"\n"
    )
}

pub(crate) const FILES: &str = "cert = \"cert.pem\", key = \"key.pem\"";

/// A site with a certificate of this authority, whose root is the file `root.pem`. The certificate 3 is revoked in `revoked.pem`.
pub(crate) async fn start(authority: &Authority, tls: &str) -> Site {
    start_with(authority, &config(tls)).await
}

async fn start_with(authority: &Authority, config: &str) -> Site {
    let (cert, key) = authority.sign(1);
    let root = authority.root();
    let lists = authority.revoked(&[3]);
    let files = [
        ("cert.pem", cert.as_bytes()),
        ("key.pem", key.as_bytes()),
        ("root.pem", root.as_bytes()),
        ("revoked.pem", lists.as_bytes()),
    ];
    Site::start(config, &files).await
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
    let config = config(FILES) + "[audit]\nto = \"audit.jsonl\"\n";
    let site = start_with(&authority, &config).await;
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
    let noted = r#""event":"plain_http","peer":"127.0.0.1","status":400}"#;
    eventually("a line of the audit log", async || {
        let lines = std::fs::read_to_string(site.path("audit.jsonl")).expect("a file");
        lines.matches(noted).count() == 1
    })
    .await;
}

/// A connection of a client that trusts this authority and offers these protocols of HTTP.
pub(crate) async fn shake_hands(
    address: &str,
    authority: &Authority,
    protocols: &[&[u8]],
) -> TlsStream<TcpStream> {
    let config = client_config(authority, &[&version::TLS13]);
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|one| one.to_vec()).collect();
    let connected = connect_tcp(address, config).await;
    connected.expect("a handshake")
}

fn client_config(
    authority: &Authority,
    versions: &[&'static SupportedProtocolVersion],
) -> ConfigBuilder<ClientConfig, WantsClientCert> {
    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(authority.root().as_bytes());
    roots.add(root.expect("PEM")).expect("a root");
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .expect("versions")
        .with_root_certificates(roots)
}

async fn connect_tcp(address: &str, config: ClientConfig) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("127.0.0.1").expect("an address");
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

/// The host and port of an endpoint.
pub(crate) fn address_of(site: &Site) -> &str {
    let address = site.url("web").trim_start_matches("http://");
    address.trim_end_matches("/mcp")
}

#[tokio::test]
async fn the_least_version_is_1_3_if_the_configuration_says_so() {
    let authority = Authority::new();
    let site = start(&authority, &format!("{FILES}, min = \"1.3\"")).await;
    let tls = trusting(site.path("root.pem")).least_version(TlsVersion::Tls13);
    connect(&site, tls).await.expect("a session").close().await;
    let old = client_config(&authority, &[&version::TLS12]).with_no_client_auth();
    let outcome = connect_tcp(address_of(&site), old).await;
    let error = outcome.expect_err("TLS 1.2").to_string();
    assert!(error.contains("ProtocolVersion"), "{error}");
}

/// Sends a request over HTTP/2.
pub(crate) async fn ask(
    client: &mut SendRequest<String>,
    request: Builder,
    body: String,
) -> (u16, Version, String) {
    let request = request.body(body).expect("a request");
    let response = client.send_request(request).await.expect("a response");
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    let text = String::from_utf8(body.to_vec()).expect("text");
    (parts.status.as_u16(), parts.version, text)
}

pub(crate) async fn http2(stream: TlsStream<TcpStream>) -> SendRequest<String> {
    let io = TokioIo::new(stream);
    let shaken = http2::handshake(TokioExecutor::new(), io).await;
    let (client, connection) = shaken.expect("HTTP/2");
    tokio::spawn(connection);
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_can_choose_http_2() {
    let authority = Authority::new();
    let site = start(&authority, FILES).await;
    let address = address_of(&site);
    let stream = shake_hands(address, &authority, &[b"h2", b"http/1.1"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let mut client = http2(stream).await;
    let request = |url: String| {
        let request = hyper::Request::post(url);
        let request = request.header("content-type", "application/json");
        request
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/list")
    };
    let list = stateless("tools/list", json!({})).to_string();
    let url = format!("https://{address}/mcp");
    let asked = (0..16).map(|_| {
        let (mut client, request, list) = (client.clone(), request(url.clone()), list.clone());
        async move { ask(&mut client, request, list).await }
    });
    for (status, version, body) in futures_util::future::join_all(asked).await {
        assert_eq!((status, version), (200, Version::HTTP_2), "{body}");
        assert!(body.contains("\"tools\":[]"), "{body}");
    }
    // The host in the URL is checked as the header would be.
    let evil = request("https://evil.example/mcp".to_owned());
    let (status, _, body) = ask(&mut client, evil, list).await;
    assert_eq!(status, 403, "{body}");
}

#[tokio::test]
async fn a_listener_can_do_without_http_2() {
    let authority = Authority::new();
    let site = start(&authority, &format!("{FILES}, http2 = false")).await;
    let stream = shake_hands(address_of(&site), &authority, &[b"h2", b"http/1.1"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn operators_have_https_as_well() {
    let authority = Authority::new();
    let folder = tempfile::tempdir().expect("a folder");
    let (cert, key) = authority.sign(1);
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("cert.pem"), cert).expect("a file");
    std::fs::write(path("key.pem"), key).expect("a file");
    let mut plan = Plan::from_host(mcp_servlet_host::Host::new(Vec::new()));
    plan.operations = Some("127.0.0.1:0".to_owned());
    plan.operations_tls = Some(TlsOptions::new(path("cert.pem"), path("key.pem")));
    let service = Service::start(plan).await.expect("a service");
    let address = service.operations_address().expect("an address");
    let stream = shake_hands(&address.to_string(), &authority, &[b"h2"]).await;
    let mut client = http2(stream).await;
    eventually("the end of the certificate", async || {
        let metrics = hyper::Request::get(format!("https://{address}/metrics"));
        let (status, _, body) = ask(&mut client, metrics, String::new()).await;
        assert_eq!(status, 200, "{body}");
        body.contains("servlet_certificate_expires_seconds{listener=\"operations\"} ")
    })
    .await;
    service.stop().await.expect("no transport fails");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_ends_soon_is_a_warning() {
    crate::log::start();
    let authority = Authority::new();
    let now = OffsetDateTime::now_utc() + Duration::from_hours(72);
    let day = (now.year(), u8::from(now.month()), now.day());
    let (cert, key) = authority.sign_until(1, day);
    let files = [("soon.pem", cert.as_bytes()), ("key.pem", key.as_bytes())];
    let tls = "cert = \"soon.pem\", key = \"key.pem\"";
    let site = Site::start(&config(tls), &files).await;
    crate::log::says("soon.pem hours=").await;
    let midnight = now.replace_time(time::Time::MIDNIGHT).unix_timestamp();
    let line = format!("servlet_certificate_expires_seconds{{listener=\"local\"}} {midnight}\n");
    eventually("the end of the certificate", async || {
        site.service.metrics().contains(&line)
    })
    .await;
    let shown = shown_findings(&site);
    let expected = format!("this certificate expires on {}", now.date());
    assert!(shown.contains(&expected), "{shown}");
}

/// What `config check` finds in the configuration of a site without servlets.
fn shown_findings(site: &Site) -> String {
    let path = site.path("servlet.toml");
    let checked = Config::check(&path).expect("a configuration");
    let loaded = checked.load(None).expect("no servlets");
    let findings = checked.findings(mcp_servlet_config::Served {
        loaded: &loaded,
        remotes: None,
        not_ready: &[],
    });
    findings.iter().map(|one| findings.shown(one)).collect()
}

/// Whether a client with a certificate of an intermediate authority passes.
async fn passes(site: &Site, authority: &Authority, issuer: &Authority) -> bool {
    let (cert, key) = issuer.sign(2);
    let is_direct = issuer.root() == authority.root();
    let chain = if is_direct {
        cert
    } else {
        cert + &issuer.root()
    };
    site.write("client.pem", chain);
    site.write("client.key", key);
    let tls = trusting(site.path("root.pem"));
    let tls = tls.identity(site.path("client.pem"), site.path("client.key"));
    connect(site, tls.expect("an identity")).await.is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_of_revoked_certificates_apply_to_the_chain() {
    let authority = Authority::new();
    let intermediate = authority.intermediate(50);
    let (cert, key) = authority.sign(1);
    let files = [
        ("cert.pem", cert),
        ("key.pem", key),
        ("root.pem", authority.root()),
        ("none.pem", authority.revoked(&[])),
        ("intermediate.pem", authority.revoked(&[50])),
        ("expired.pem", authority.revoked_until(&[], 2025)),
        ("below.pem", intermediate.revoked(&[])),
        ("client.pem", intermediate.revoked(&[2])),
    ];
    let files: Vec<_> = files
        .iter()
        .map(|(name, text)| (*name, text.as_bytes()))
        .collect();
    for (lists, more, is_direct, expected) in [
        ("\"none.pem\", \"below.pem\"", "", false, true),
        ("\"none.pem\", \"client.pem\"", "", false, false),
        ("\"intermediate.pem\", \"below.pem\"", "", false, false),
        (
            "\"intermediate.pem\", \"below.pem\"",
            ", only_end_entity = true",
            false,
            true,
        ),
        (
            "\"none.pem\", \"client.pem\"",
            ", only_end_entity = true",
            false,
            false,
        ),
        ("\"none.pem\"", "", false, false),
        ("\"none.pem\"", ", soft_fail = true", false, true),
        ("\"intermediate.pem\"", ", soft_fail = true", false, false),
        ("\"expired.pem\"", "", true, false),
        ("\"expired.pem\"", ", soft_fail = true", true, true),
    ] {
        let clients = format!("{FILES}, clients = {{ ca = \"root.pem\", crl = [{lists}]{more} }}");
        let site = Site::start(&config(&clients), &files).await;
        let issuer = if is_direct { &authority } else { &intermediate };
        let passed = passes(&site, &authority, issuer).await;
        assert_eq!(passed, expected, "{lists}{more}");
    }
}

#[tokio::test]
async fn an_ended_list_of_revoked_certificates_is_reported() {
    crate::log::start();
    let authority = Authority::new();
    let (cert, key) = authority.sign(1);
    let files = [
        ("cert.pem", cert),
        ("key.pem", key),
        ("root.pem", authority.root()),
        ("ended.pem", authority.revoked_until(&[], 2025)),
    ];
    let files: Vec<_> = files
        .iter()
        .map(|(name, text)| (*name, text.as_bytes()))
        .collect();
    let clients = format!("{FILES}, clients = {{ ca = \"root.pem\", crl = [\"ended.pem\"] }}");
    let config = format!("{}[audit]\nto = \"audit.jsonl\"\n", config(&clients));
    let site = Site::start(&config, &files).await;
    crate::log::says("the list of revoked certificates expired").await;
    assert!(!passes(&site, &authority, &authority).await);
    crate::log::says("a TLS handshake failed").await;
    let refused = r#"servlet_refused_total{what="handshake_revocation_list"} 1"#;
    assert!(site.service.metrics().contains(refused));
    let line = r#""event":"refused","peer":"127.0.0.1","reason":"handshake_revocation_list"}"#;
    eventually("a line of the audit log", async || {
        let log = std::fs::read_to_string(site.path("audit.jsonl"));
        log.is_ok_and(|log| log.contains(line))
    })
    .await;
    let shown = shown_findings(&site);
    let expected = "this list of revoked certificates expired on 2025-01-01";
    assert!(shown.contains(expected), "{shown}");
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

#[tokio::test(flavor = "multi_thread")]
async fn servlets_and_conditions_read_the_certificate_of_the_client() {
    let authority = Authority::new();
    let (cert, key) = authority.sign(1);
    let clients = format!("{FILES}, clients = {{ ca = \"root.pem\" }}");
    let text = format!(
        "{}auth = \"agents\"\nforward = [\"caller\", \"certificate\"]\n\
         reject = [{{ when = \"${{{{ caller.certificate.serial == '08' }}}}\" }}]\n\
         [auth.agents]\ncertificate = {{ subject = \"san:uri\" }}\n[servlet.a]\nsource = \"a.wasm\"\n",
        config(&clients)
    );
    let (root, wasm) = (authority.root(), crate::wasm::echo(&["t"]));
    let files = [
        ("cert.pem", cert.as_bytes()),
        ("key.pem", key.as_bytes()),
        ("root.pem", root.as_bytes()),
        ("a.wasm", &*wasm),
    ];
    let site = Site::start(&text, &files).await;
    let connect_as = async |serial| {
        let (cert, key) = authority.sign_for(serial, "urn:agent:7");
        site.write("client.pem", cert);
        site.write("client.key", key);
        let tls = trusting(site.path("root.pem"));
        let tls = tls.identity(site.path("client.pem"), site.path("client.key"));
        connect(&site, tls.expect("an identity")).await
    };
    let session = connect_as(7).await.expect("a session");
    let result = session.call("t", json!({})).await.expect("a result");
    let meta = &json!(result.raw)["structuredContent"]["params"]["_meta"];
    let (caller, certificate) = (
        &meta["mcp-servlet/caller"],
        &meta["mcp-servlet/certificate"],
    );
    assert_eq!(caller["subject"], "urn:agent:7");
    assert_eq!(caller["kind"], "certificate");
    assert_eq!(caller.get("certificate"), None);
    assert_eq!(certificate["serial"], "07");
    assert_eq!(certificate["issuer_common_name"], "authority of the test");
    let names = json!([{ "type": "uri", "value": "urn:agent:7" }]);
    assert_eq!(certificate["sans"], names);
    session.close().await;
    let error = connect_as(8)
        .await
        .map(drop)
        .expect_err("a rejected client");
    assert!(error.contains("refuses this session"), "{error}");
}
