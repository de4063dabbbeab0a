//! Keys that issuers publish, and certificates of callers.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{Html, IntoResponse as _, Response},
};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use mcp_servlet_client::{Http, Options, Session, Tls};
use mcp_servlet_server::Sha256;
use puppet::eventually;
use serde_json::{Value, json};
use test_authority::Authority;
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    },
    server::TlsStream,
};

use crate::{
    issuer::{Issuer, RESOURCE, base64, now},
    site::{Site, WEB},
    tokens::refused,
    wasm::{echo, servlet},
};

/// What a path answers.
#[derive(Clone)]
enum Answer {
    Json(Value),
    /// The same once this is closed.
    Held(Arc<Semaphore>, Value),
    Page,
    Redirect(&'static str),
    Outage,
    Never,
}

/// A server of an issuer, by its paths.
#[derive(Clone, Default)]
struct Publisher(Arc<Mutex<BTreeMap<String, Place>>>);

#[derive(Default)]
struct Place {
    answer: Option<Answer>,
    /// The number of requests.
    count: usize,
    /// How many requests are held, and how many were at the same time.
    held: usize,
    most_held: usize,
}

impl Publisher {
    /// Starts the server, and returns its URL.
    async fn start(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let routes = Router::new().fallback(answer).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        url
    }

    /// The same over TLS, with a certificate of this authority.
    async fn start_tls(&self, authority: &Authority) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("https://{}", listener.local_addr().expect("an address"));
        let port = TlsPort(listener, acceptor(authority));
        let routes = Router::new().fallback(answer).with_state(self.clone());
        tokio::spawn(async move { axum::serve(port, routes).await });
        url
    }

    fn set(&self, path: &str, answer: Answer) {
        let mut paths = self.0.lock().expect("no panic");
        paths.entry(path.to_owned()).or_default().answer = Some(answer);
    }

    /// Counts a request, and returns its answer.
    fn ask(&self, path: &str) -> Option<Answer> {
        let mut paths = self.0.lock().expect("no panic");
        let place = paths.entry(path.to_owned()).or_default();
        place.count += 1;
        place.answer.clone()
    }

    /// Holds a request until its answer is ready.
    async fn hold(&self, path: &str, gate: &Semaphore) {
        let change = |change: fn(&mut Place)| {
            let mut paths = self.0.lock().expect("no panic");
            change(paths.get_mut(path).expect("a place"));
        };
        change(|place| {
            place.held += 1;
            place.most_held = place.most_held.max(place.held);
        });
        gate.acquire().await.expect_err("it is closed");
        change(|place| place.held -= 1);
    }

    fn count(&self, path: &str) -> usize {
        let paths = self.0.lock().expect("no panic");
        paths.get(path).map_or(0, |place| place.count)
    }

    /// How many requests were held at the same time.
    fn most_held(&self, path: &str) -> usize {
        let paths = self.0.lock().expect("no panic");
        paths.get(path).map_or(0, |place| place.most_held)
    }
}

/// Accepts connections with TLS.
struct TlsPort(TcpListener, TlsAcceptor);

impl axum::serve::Listener for TlsPort {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, peer) = self.0.accept().await.expect("a connection");
            // A client that does not trust the certificate leaves.
            if let Ok(stream) = self.1.accept(stream).await {
                return (stream, peer);
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

fn acceptor(authority: &Authority) -> TlsAcceptor {
    let (cert, key) = authority.sign(1);
    let cert = CertificateDer::from_pem_slice(cert.as_bytes()).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has ciphers for these versions")
        .with_no_client_auth()
        .with_single_cert(vec![cert], key);
    Arc::new(config.expect("they belong together")).into()
}

/// Whether a question about a token has the credentials of the server.
fn is_authorized(request: &Request) -> bool {
    let sent = request.headers().get(header::AUTHORIZATION);
    let expected = format!("Basic {}", BASE64_STANDARD.encode("mcp:s%3Acret"));
    sent.is_some_and(|sent| *sent == *expected)
}

async fn answer(State(publisher): State<Publisher>, request: Request) -> Response {
    if request.uri().path() == "/introspect" && !is_authorized(&request) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let path = request.uri().path();
    match publisher.ask(path) {
        Some(Answer::Json(json)) => axum::Json(json).into_response(),
        Some(Answer::Held(gate, json)) => {
            publisher.hold(path, &gate).await;
            axum::Json(json).into_response()
        }
        Some(Answer::Page) => Html("<p>Log in").into_response(),
        Some(Answer::Redirect(to)) => (StatusCode::FOUND, [(header::LOCATION, to)]).into_response(),
        Some(Answer::Never) => std::future::pending().await,
        Some(Answer::Outage) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A site that trusts this issuer, whose keys are at its `jwks`, or where its metadata says.
async fn site(issuer: &str, jwks: Option<&str>) -> Site {
    let jwks = jwks.map_or_else(String::new, |jwks| format!("jwks = \"{jwks}\"\n"));
    let config = format!(
        "{WEB}auth = \"corp\"\n[servlet.a]\nsource = \"a.wasm\"\n[auth.corp]\nresource = \"{RESOURCE}\"\n\
         [[auth.corp.jwt]]\nissuer = \"{issuer}\"\n{jwks}"
    );
    Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await
}

fn keys(keys: &[Value]) -> Answer {
    Answer::Json(json!({ "keys": keys }))
}

/// The status of the response to a request with this token.
fn status(site: &Site, token: &str) -> u16 {
    let authorization = format!("Bearer {token}");
    let client = site.http("web").with("authorization", &authorization);
    client.initialize().status()
}

#[tokio::test(flavor = "multi_thread")]
async fn new_keys_are_found_but_not_looked_for_too_often() {
    let publisher = Publisher::default();
    let url = publisher.start().await;
    let issuer = Issuer::new();
    let [ec, ed, _] = &*issuer.keys() else {
        panic!("three keys");
    };
    publisher.set("/keys", keys(std::slice::from_ref(ec)));
    let site = site(&url, Some(&format!("{url}/keys"))).await;
    eventually("the keys are read at the start", async || {
        publisher.count("/keys") == 1
    })
    .await;
    assert_eq!(status(&site, &issuer.token(&json!({ "iss": url }))), 200);
    assert_eq!(publisher.count("/keys"), 1);

    // The issuer publishes another key.
    publisher.set("/keys", keys(&[ec.clone(), ed.clone()]));
    let head = json!({ "alg": "EdDSA", "kid": "ed" });
    let payload = crate::issuer::payload(&json!({ "iss": url }));
    assert_eq!(status(&site, &issuer.sign(&head, &payload)), 200);
    assert_eq!(publisher.count("/keys"), 2);

    // Unknown keys do not make the server ask again.
    for number in 0..100 {
        let head = json!({ "alg": "ES256", "kid": format!("k{number}") });
        assert_eq!(status(&site, &issuer.sign(&head, &payload)), 401);
    }
    assert_eq!(publisher.count("/keys"), 2);
    assert_eq!(refused(&site, "unknown_key"), 100);
}

/// Whether the server has this many connections.
fn connections(site: &Site, count: usize) -> bool {
    let open = format!("servlet_connections{{state=\"open\"}} {count}\n");
    site.service.metrics().contains(&open)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_does_not_stop_the_look_for_new_keys() {
    let publisher = Publisher::default();
    let url = publisher.start().await;
    let issuer = Issuer::new();
    let [ec, ed, _] = &*issuer.keys() else {
        panic!("three keys");
    };
    publisher.set("/keys", keys(std::slice::from_ref(ec)));
    let site = site(&url, Some(&format!("{url}/keys"))).await;
    assert_eq!(status(&site, &issuer.token(&json!({ "iss": url }))), 200);

    let gate = Arc::new(Semaphore::new(0));
    let new = json!({ "keys": [ec, ed] });
    publisher.set("/keys", Answer::Held(Arc::clone(&gate), new));
    let payload = crate::issuer::payload(&json!({ "iss": url }));
    let unknown = issuer.sign(&json!({ "alg": "ES256", "kid": "unknown" }), &payload);
    let address = site.url("web").trim_start_matches("http://");
    let (address, _) = address.split_once('/').expect("a path");
    // The connection of the request before has ended.
    eventually("no connection", async || connections(&site, 0)).await;
    let mut client = TcpStream::connect(address).await.expect("a connection");
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {unknown}\r\ncontent-length: 0\r\n\r\n"
    );
    let sent = client.write_all(request.as_bytes()).await;
    sent.expect("the request is sent");
    eventually("the server looks for new keys", async || {
        publisher.count("/keys") == 2
    })
    .await;
    drop(client);
    eventually("the client has left", async || connections(&site, 0)).await;
    gate.close();
    // Nobody would look again for 30 seconds.
    let head = json!({ "alg": "EdDSA", "kid": "ed" });
    assert_eq!(status(&site, &issuer.sign(&head, &payload)), 200);
    assert_eq!(publisher.count("/keys"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_keys_a_client_may_try_again() {
    let publisher = Publisher::default();
    let url = publisher.start().await;
    let issuer = Issuer::new();
    publisher.set("/keys", Answer::Outage);
    let site = site(&url, Some(&format!("{url}/keys"))).await;
    let token = issuer.token(&json!({ "iss": url }));
    let authorization = format!("Bearer {token}");
    let client = site.http("web").with("authorization", &authorization);
    for _ in 0..20 {
        let response = client.initialize();
        assert_eq!(response.status(), 503);
        assert_eq!(response.header("retry-after"), Some("5"));
        assert_eq!(response.header("www-authenticate"), None);
    }
    assert_eq!(refused(&site, "keys_unreachable"), 20);
    assert!(publisher.count("/keys") <= 2);
    publisher.set("/keys", keys(&issuer.keys()));
    eventually("the issuer is asked again", async || {
        status(&site, &token) == 200
    })
    .await;
    // An outage later does not matter.
    publisher.set("/keys", Answer::Outage);
    assert_eq!(
        status(&site, &issuer.token(&json!({ "iss": url, "sub": "bob" }))),
        200
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_of_an_issuer_says_where_its_keys_are() {
    const OAUTH: &str = "/.well-known/oauth-authorization-server/tenant";
    const OPENID: &str = "/tenant/.well-known/openid-configuration";
    let issuer = Issuer::new();
    let neighbor = Publisher::default();
    let other = neighbor.start().await;
    neighbor.set("/keys", keys(&issuer.keys()));
    for (path, change, expected) in [
        (OAUTH, json!({}), 200),
        (OPENID, json!({}), 200),
        (OPENID, json!({ "issuer": "https://other.example" }), 503),
        (OAUTH, json!({ "jwks_uri": null }), 503),
        (OAUTH, json!({ "jwks_uri": "redirect" }), 503),
        // An issuer must not make the server ask others in its network. Another port is another server.
        (OAUTH, json!({ "jwks_uri": format!("{other}/keys") }), 503),
        (
            OAUTH,
            json!({ "jwks_uri": "http://169.254.169.254/keys" }),
            503,
        ),
    ] {
        let publisher = Publisher::default();
        let root = publisher.start().await;
        let url = format!("{root}/tenant");
        let mut metadata = json!({ "issuer": url, "jwks_uri": format!("{root}/keys") });
        for (name, value) in change.as_object().into_iter().flatten() {
            metadata[name] = value.clone();
        }
        if metadata["jwks_uri"] == "redirect" {
            metadata["jwks_uri"] = format!("{root}/moved").into();
        }
        publisher.set(path, Answer::Json(metadata));
        publisher.set("/keys", keys(&issuer.keys()));
        publisher.set("/moved", Answer::Redirect("/keys"));
        let site = site(&url, None).await;
        let token = issuer.token(&json!({ "iss": url }));
        assert_eq!(status(&site, &token), expected, "{path}: {change}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_of_another_kind_leads_to_those_of_openid() {
    let issuer = Issuer::new();
    for number in 0..4 {
        let publisher = Publisher::default();
        let root = publisher.start().await;
        let url = format!("{root}/tenant");
        let oauth = match number {
            0 => Answer::Page,
            1 => Answer::Json(json!({ "issuer": root, "jwks_uri": format!("{root}/others") })),
            2 => Answer::Json(json!({ "issuer": url })),
            _ => Answer::Outage,
        };
        let openid = json!({ "issuer": url, "jwks_uri": format!("{root}/keys") });
        publisher.set("/.well-known/oauth-authorization-server/tenant", oauth);
        publisher.set(
            "/tenant/.well-known/openid-configuration",
            Answer::Json(openid),
        );
        publisher.set("/keys", keys(&issuer.keys()));
        let site = site(&url, None).await;
        let token = issuer.token(&json!({ "iss": url }));
        assert_eq!(status(&site, &token), 200, "{number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_callers_do_not_need_the_issuer() {
    let publisher = Publisher::default();
    let url = publisher.start().await;
    let issuer = Issuer::new();
    publisher.set("/keys", keys(&issuer.keys()));
    let site = site(&url, Some(&format!("{url}/keys"))).await;
    let token = |subject: &str| issuer.token(&json!({ "iss": url, "sub": subject }));
    assert_eq!(status(&site, &token("ann")), 200);
    publisher.set("/keys", Answer::Outage);
    let sha256 = Sha256::of(b"a-key");
    let key = format!("[[auth.corp.key]]\nname = \"ci\"\nsha256 = \"{sha256}\"\n");
    let config = std::fs::read_to_string(site.path("servlet.toml")).expect("a file");
    site.write("servlet.toml", config + &key);
    eventually("the key is accepted", async || {
        status(&site, "a-key") == 200
    })
    .await;
    assert_eq!(status(&site, &token("bob")), 200);
    assert_eq!(publisher.count("/keys"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_authorities_of_an_issuer_count_at_once() {
    let [authority, other] = [Authority::new(), Authority::new()];
    let publisher = Publisher::default();
    let url = publisher.start_tls(&authority).await;
    let answer = json!({ "active": true, "sub": "ann", "aud": RESOURCE, "iss": url });
    publisher.set("/introspect", Answer::Json(answer));
    let config = format!(
        "{WEB}auth = \"corp\"\n[servlet.a]\nsource = \"a.wasm\"\n[auth.corp]\nresource = \"{RESOURCE}\"\n\
         [auth.corp.introspection]\nurl = \"{url}/introspect\"\nclient = \"mcp\"\nsecret = \"s:cret\"\n\
         issuer = \"{url}\"\ntls = {{ ca = \"ca.pem\" }}\n"
    );
    let root = authority.root();
    let files = [
        ("a.wasm", &*servlet(&["t"], "a")),
        ("ca.pem", root.as_bytes()),
    ];
    let site = Site::start(&config, &files).await;
    // What is known about a token is not asked again.
    let token = || format!("opaque-{}", publisher.count("/introspect"));
    assert_eq!(status(&site, &token()), 200);
    for (trusted, expected) in [(&other, 503), (&authority, 200)] {
        site.write("ca.pem", trusted.root());
        eventually("the authorities are read again", async || {
            status(&site, &token()) == expected
        })
        .await;
    }
}

/// What servlets learn of a client with this certificate, if it has one, and this token. None for a client that is refused.
async fn connect(
    site: &Site,
    certificate: Option<&(String, String)>,
    token: Option<&str>,
) -> Option<Value> {
    let url = site.url("web").replace("http://", "https://");
    let mut tls = Tls::default().roots(site.path("root.pem")).expect("a root");
    if let Some((cert, key)) = certificate {
        site.write("client.pem", cert);
        site.write("client.key", key);
        let tls_with = tls.identity(site.path("client.pem"), site.path("client.key"));
        tls = tls_with.expect("an identity");
    }
    let mut http = Http::new(&url).expect("a URL").tls(tls);
    if let Some(token) = token {
        let value = format!("Bearer {token}");
        http = http.header("authorization", &value).expect("a header");
    }
    let connected = Session::connect_with(&http.into(), &Options::new()).await;
    let session = connected.ok()?;
    let result = session.call("t", json!({})).await.expect("a result");
    session.close().await;
    Some(json!(result.raw)["structuredContent"]["params"]["_meta"].clone())
}

/// A site whose callers may have a token of this issuer, a certificate of this authority, or both. The certificate 5 is rejected.
async fn site_with_certificates(authority: &Authority, issuer: &Issuer) -> Site {
    let (cert, key) = authority.sign(1);
    let keys = json!({ "keys": issuer.keys() }).to_string();
    let config = format!(
        "{WEB}auth = \"corp\"\nforward = [\"caller\", \"certificate\"]\n\
         reject = [{{ when = \"${{{{ has(caller.certificate) && caller.certificate.serial == '05' }}}}\" }}]\n\
         [servlet.a]\nsource = \"a.wasm\"\n\
         [listener.local.tls]\ncert = \"cert.pem\"\nkey = \"key.pem\"\nclients = {{ ca = \"root.pem\", required = false }}\n\
         [auth.corp]\nresource = \"{RESOURCE}\"\nscopes = [\"mcp\"]\n\
         certificate = {{ subject = \"san:uri\", scopes = [\"mcp\"] }}\n\
         jwt = [{{ issuer = \"{}\", jwks = \"keys.json\" }}]\n",
        crate::issuer::ISSUER
    );
    let root = authority.root();
    let files = [
        ("a.wasm", &*echo(&["t"])),
        ("cert.pem", cert.as_bytes()),
        ("key.pem", key.as_bytes()),
        ("root.pem", root.as_bytes()),
        ("keys.json", keys.as_bytes()),
    ];
    Site::start(&config, &files).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_names_its_caller_and_binds_tokens() {
    let (authority, issuer) = (Authority::new(), Issuer::new());
    let site = site_with_certificates(&authority, &issuer).await;
    let agent = "spiffe://acme.example/agent";
    let named = authority.sign_for(2, agent);
    let nameless = authority.sign(3);
    let other = authority.sign_for(4, "spiffe://acme.example/other");
    let rejected = authority.sign_for(5, agent);
    let token = issuer.token(&json!({}));
    let thumbprint = thumbprint(&named.0);
    let bound = issuer.token(&json!({ "cnf": { "x5t#S256": thumbprint } }));
    for (name, certificate, token, outcome) in [
        (
            "43 certificate and token",
            Some(&named),
            Some(&token),
            Ok("ann"),
        ),
        ("44 certificate alone", Some(&named), None, Ok(agent)),
        (
            "45 no such name",
            Some(&nameless),
            None,
            Err("certificate_name"),
        ),
        ("token alone", None, Some(&token), Ok("ann")),
        ("37 bound", Some(&named), Some(&bound), Ok("ann")),
        (
            "37 bound to another",
            Some(&other),
            Some(&bound),
            Err("binding"),
        ),
        ("37 bound, none shown", None, Some(&bound), Err("binding")),
        ("37 bound, again", Some(&named), Some(&bound), Ok("ann")),
        ("neither", None, None, Err("no_credentials")),
    ] {
        let before = outcome.err().map(|reason| refused(&site, reason));
        let meta = connect(&site, certificate, token.map(String::as_str)).await;
        assert_eq!(meta.is_some(), outcome.is_ok(), "{name}");
        match (outcome, meta) {
            (Ok(subject), Some(meta)) => {
                assert_eq!(meta["mcp-servlet/caller"]["subject"], subject, "{name}");
                let serial = &meta["mcp-servlet/certificate"]["serial"];
                let shown = certificate.map(|_| "02");
                assert_eq!(serial.as_str(), shown, "{name}");
            }
            (Err(reason), _) => assert!(Some(refused(&site, reason)) > before, "{name}"),
            (Ok(_), None) => {}
        }
    }
    // 43: a token names the caller, and the certificate still is what conditions read.
    for token in [None, Some(&*token)] {
        assert_eq!(connect(&site, Some(&rejected), token).await, None);
    }
}

/// The SHA-256 digest of a certificate in PEM, as tokens have it.
fn thumbprint(pem: &str) -> String {
    let lines = pem.lines().filter(|line| !line.starts_with("-----"));
    let der = BASE64_STANDARD
        .decode(lines.collect::<String>())
        .expect("base64");
    let digest = Sha256::of(&der).to_string();
    let bytes: Vec<_> = (0..digest.len() / 2)
        .map(|at| u8::from_str_radix(&digest[2 * at..2 * at + 2], 16).expect("digits"))
        .collect();
    base64(&bytes)
}

/// A site that asks this issuer about tokens. `more` ends the options.
async fn site_that_asks(url: &str, keys: &[Value], more: &str) -> Site {
    let config = format!(
        "{WEB}auth = \"corp\"\n[servlet.a]\nsource = \"a.wasm\"\n[auth.corp]\nresource = \"{RESOURCE}\"\n\
         jwt = [{{ issuer = \"{}\", jwks = \"keys.json\" }}]\n[auth.corp.introspection]\nurl = \"{url}/introspect\"\n\
         client = \"mcp\"\nsecret = \"s:cret\"\nissuer = \"{url}\"\n{more}",
        crate::issuer::ISSUER
    );
    let keys = json!({ "keys": keys }).to_string();
    let files = [
        ("a.wasm", &*servlet(&["t"], "a")),
        ("keys.json", keys.as_bytes()),
    ];
    Site::start(&config, &files).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_is_asked_about_sixteen_tokens_at_once() {
    const CLIENTS: usize = 40;
    let publisher = Publisher::default();
    let url = publisher.start().await;
    let gate = Arc::new(Semaphore::new(0));
    let active = json!({ "active": true, "sub": "ann", "aud": RESOURCE, "iss": url });
    publisher.set("/introspect", Answer::Held(Arc::clone(&gate), active));
    let keys = Issuer::new().keys();
    let site = Arc::new(site_that_asks(&url, &keys, "timeout = \"30s\"\n").await);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let site = Arc::clone(&site);
            tokio::task::spawn_blocking(move || status(&site, &format!("opaque-{number}")))
        })
        .collect();
    eventually("all clients", async || connections(&site, CLIENTS)).await;
    eventually("the first questions", async || {
        publisher.most_held("/introspect") == 16
    })
    .await;
    gate.close();
    for client in clients {
        assert_eq!(client.await.expect("a status"), 200);
    }
    assert_eq!(publisher.count("/introspect"), CLIENTS);
    assert_eq!(publisher.most_held("/introspect"), 16);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_is_asked_about_tokens_that_only_it_can_read() {
    let publisher = Publisher::default();
    let url = publisher.start().await;
    let issuer = Issuer::new();
    let site = site_that_asks(&url, &issuer.keys(), "timeout = \"2s\"\n").await;
    let active = json!({ "active": true, "sub": "ann", "aud": RESOURCE, "iss": url });
    let with = |name: &str, value: Value| {
        let mut answer = active.clone();
        answer[name] = value;
        Answer::Json(answer)
    };
    for (number, (answer, expected, reason)) in [
        (Answer::Json(active.clone()), 200, ""),
        (with("exp", (now() + 60).into()), 200, ""),
        (Answer::Json(json!({ "active": false })), 401, "inactive"),
        (with("aud", Value::Null), 401, "audience"),
        (with("sub", "".into()), 401, "subject"),
        (with("exp", (now() - 1).into()), 401, "expired"),
        (with("iss", "https://other.example".into()), 401, "issuer"),
        (Answer::Redirect("/elsewhere"), 503, "introspection"),
        (
            Answer::Redirect("http://169.254.169.254/"),
            503,
            "introspection",
        ),
        (Answer::Outage, 503, "introspection"),
        (Answer::Never, 503, "introspection"),
        (Answer::Json(json!([])), 503, "introspection"),
    ]
    .into_iter()
    .enumerate()
    {
        publisher.set("/introspect", answer);
        let (asked, before) = (publisher.count("/introspect"), refused(&site, reason));
        // Only three parts can be a JWT.
        let parts = ["", ".x", ".x.y.z"][number % 3];
        let token = format!("opaque-{number}{parts}");
        assert_eq!(status(&site, &token), expected, "{number}");
        assert_eq!(publisher.count("/introspect"), asked + 1, "{number}");
        if expected != 200 {
            assert_eq!(refused(&site, reason), before + 1, "{number}");
        }
        // An answer is known for a while, but no outage is.
        if expected != 503 {
            assert_eq!(status(&site, &token), expected, "{number}");
            assert_eq!(publisher.count("/introspect"), asked + 1, "{number}");
        }
    }
    assert_eq!(publisher.count("/elsewhere"), 0);
    // A JWT is not sent to anyone.
    let asked = publisher.count("/introspect");
    assert_eq!(status(&site, &issuer.token(&json!({}))), 200);
    assert_eq!(publisher.count("/introspect"), asked);
}
