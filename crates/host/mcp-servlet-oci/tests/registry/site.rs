//! A small registry with TLS, whose answers a test can replace.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{Method, StatusCode, header},
    response::{IntoResponse as _, Response},
    serve::Listener,
};
use futures_util::{StreamExt as _, stream};
use mcp_servlet_oci::{Cache, Client, Digest, Error, Pulled, Reference, Settings};
use tempfile::TempDir;
use test_authority::Authority;
use tokio::{
    net::{TcpListener, TcpStream},
    task::yield_now,
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

/// The bytes of a module.
pub(crate) const WASM: &[u8] = b"\0asm\x01\0\0\0";

/// The types of configurations and layers.
pub(crate) const DOCKER_IMAGE: &str = "application/vnd.oci.image.config.v1+json";
pub(crate) const WASM_CONFIG: &str = "application/vnd.wasm.config.v0+json";

/// The head of a request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) authorization: Option<String>,
    pub(crate) range: Option<String>,
    pub(crate) body: Bytes,
}

/// Answers a request instead of the registry, if it wants to.
type Rule = Box<dyn FnMut(&Asked) -> Option<Response> + Send>;

#[derive(Default)]
struct Shared {
    objects: Mutex<BTreeMap<String, Bytes>>,
    rules: Mutex<Vec<Rule>>,
    asked: Mutex<Vec<Asked>>,
}

pub(crate) struct Site {
    shared: Arc<Shared>,
    pub(crate) address: SocketAddr,
    pub(crate) folder: TempDir,
    certificate: String,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let authority = Authority::new();
        let (certificate, key) = authority.sign(1);
        let certificate = CertificateDer::from_pem_slice(certificate.as_bytes());
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.expect("PEM")], key.expect("PEM"))
            .expect("a certificate with its key");
        let listener = Tls {
            tcp: TcpListener::bind("127.0.0.1:0").await.expect("a free port"),
            acceptor: TlsAcceptor::from(Arc::new(config)),
        };
        let address = listener.local_addr().expect("a port");
        let shared = Arc::new(Shared::default());
        let app = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, app).await });
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("ca.pem"), authority.root()).expect("a file");
        Self {
            shared,
            address,
            folder,
            certificate: authority.root(),
        }
    }

    /// Trusts another site's authority as well.
    pub(crate) fn trust(&self, other: &Self) {
        let both = format!("{}{}", self.certificate, other.certificate);
        std::fs::write(self.ca(), both).expect("a file");
    }

    pub(crate) fn ca(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }

    pub(crate) fn reference(&self, image: &str) -> Reference {
        let text = format!("oci://{}/demo/greet{image}", self.address);
        Reference::parse(&text).expect("a reference")
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            ca: Some(self.ca()),
            auth_files: vec![self.folder.path().join("auth.json")],
            cache: Cache::at(self.folder.path().join("cache")),
            last_known: false,
            signers: Vec::new(),
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.settings()).expect("certificates")
    }

    pub(crate) async fn pull(&self, image: &str) -> Result<Pulled, Error> {
        self.client().pull(&self.reference(image)).await
    }

    /// The code of the error of a pull, and its message with all causes.
    pub(crate) async fn refused(&self, image: &str) -> (&'static str, String) {
        let error = self.pull(image).await.expect_err("an error");
        (error.code(), chain(&error))
    }

    /// Writes the file with credentials for this site.
    pub(crate) fn log_in(&self, entry: &str) {
        let json = format!(r#"{{"auths":{{"{}":{entry}}}}}"#, self.address);
        std::fs::write(self.folder.path().join("auth.json"), json).expect("a file");
    }

    /// Answers as this says; `None` leaves it to the rules before, and to the registry.
    pub(crate) fn rule(&self, rule: impl FnMut(&Asked) -> Option<Response> + Send + 'static) {
        self.shared
            .rules
            .lock()
            .expect("no panic")
            .insert(0, Box::new(rule));
    }

    /// The requests so far; forgets them.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.shared.asked.lock().expect("no panic"))
    }

    /// The lines of the requests so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.line).collect()
    }

    pub(crate) fn object(&self, path: &str) -> Option<Bytes> {
        let objects = self.shared.objects.lock().expect("no panic");
        objects.get(&format!("/v2/demo/greet/{path}")).cloned()
    }

    pub(crate) fn put(&self, path: &str, bytes: impl Into<Bytes>) {
        let mut objects = self.shared.objects.lock().expect("no panic");
        objects.insert(format!("/v2/demo/greet/{path}"), bytes.into());
    }

    /// Adds a blob and returns its descriptor.
    pub(crate) fn blob(&self, media_type: &str, bytes: &[u8]) -> String {
        let digest = Digest::of(bytes);
        self.put(&format!("blobs/{digest}"), bytes.to_vec());
        format!(
            r#"{{"mediaType":"{media_type}","digest":"{digest}","size":{}}}"#,
            bytes.len()
        )
    }

    /// Adds a manifest under a tag and its digest.
    pub(crate) fn manifest(&self, tag: &str, json: String) -> Digest {
        let digest = Digest::of(json.as_bytes());
        self.put(&format!("manifests/{digest}"), json.clone());
        self.put(&format!("manifests/{tag}"), json);
        digest
    }

    /// Adds an image with these layers.
    pub(crate) fn image(&self, tag: &str, config: &str, layers: &[String]) -> Digest {
        let config = self.blob(config, b"{}");
        let layers = layers.join(",");
        let json = format!(r#"{{"schemaVersion":2,"config":{config},"layers":[{layers}]}}"#);
        self.manifest(tag, json)
    }

    /// Adds an image with a module.
    pub(crate) fn module(&self, tag: &str) -> Digest {
        let layer = self.blob("application/wasm", WASM);
        self.image(tag, WASM_CONFIG, &[layer])
    }
}

/// An error and its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

pub(crate) fn status(code: u16) -> Response {
    StatusCode::from_u16(code)
        .expect("a status")
        .into_response()
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let text = |name| {
        let value = parts.headers.get(name)?;
        value.to_str().ok().map(str::to_owned)
    };
    let target = parts
        .uri
        .path_and_query()
        .map_or("", |target| target.as_str());
    let asked = Asked {
        line: format!("{} {target}", parts.method),
        authorization: text(header::AUTHORIZATION),
        range: text(header::RANGE),
        body: to_bytes(body, 1 << 20).await.expect("a small body"),
    };
    shared.asked.lock().expect("no panic").push(asked.clone());
    for rule in &mut *shared.rules.lock().expect("no panic") {
        if let Some(response) = rule(&asked) {
            return response;
        }
    }
    shared.serve(
        &parts.method,
        parts.uri.path(),
        parts.uri.query().unwrap_or_default(),
        &asked,
    )
}

impl Shared {
    fn serve(&self, method: &Method, path: &str, query: &str, asked: &Asked) -> Response {
        let mut objects = self.objects.lock().expect("no panic");
        let digest = Digest::of(&asked.body).to_string();
        if *method == Method::POST && path.ends_with("/blobs/uploads/") {
            let location = [(header::LOCATION, format!("{path}7?state=a"))];
            return (StatusCode::ACCEPTED, location).into_response();
        }
        if *method == Method::PUT && path.contains("/blobs/uploads/") {
            assert_eq!(
                query,
                format!("state=a&digest={}", digest.replace(':', "%3A"))
            );
            let path = path.replace("uploads/7", &digest);
            objects.insert(path, asked.body.clone());
            return StatusCode::CREATED.into_response();
        }
        if *method == Method::PUT {
            let (start, _) = path.rsplit_once('/').expect("a path");
            objects.insert(format!("{start}/{digest}"), asked.body.clone());
            objects.insert(path.to_owned(), asked.body.clone());
            return StatusCode::CREATED.into_response();
        }
        let Some(found) = objects.get(path).cloned() else {
            let json = r#"{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}"#;
            return (StatusCode::NOT_FOUND, json).into_response();
        };
        let digest = [("docker-content-digest", Digest::of(&found).to_string())];
        let start = asked.range.as_deref().and_then(|range| {
            let start = range.strip_prefix("bytes=")?.strip_suffix('-')?;
            start.parse::<usize>().ok()
        });
        match start {
            None => (digest, found).into_response(),
            Some(start) => {
                let range = format!("bytes {start}-{}/{}", found.len() - 1, found.len());
                let range = [(header::CONTENT_RANGE, range)];
                (StatusCode::PARTIAL_CONTENT, range, found.slice(start..)).into_response()
            }
        }
    }
}

/// A body that has this length and breaks off after these bytes.
pub(crate) fn broken(length: usize, bytes: &'static [u8]) -> Response {
    let first = stream::once(async move { Ok(Bytes::from_static(bytes)) });
    // Later, so that the bytes before are sent: the server sends what it has when there is nothing more for a moment.
    let end = stream::once(async {
        yield_now().await;
        Err(io::Error::other("broken"))
    });
    let body = Body::from_stream(first.chain(end));
    ([(header::CONTENT_LENGTH, length)], body).into_response()
}

struct Tls {
    tcp: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for Tls {
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
