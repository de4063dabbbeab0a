//! TLS of listeners.

mod failure;

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use mcp_servlet_access::{Certificate, revocation_list_times};
use mcp_servlet_call::chain;
use mcp_servlet_common::lock;
use mcp_servlet_runtime::run_blocking;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        DEFAULT_VERSIONS, RootCertStore, ServerConfig, SupportedProtocolVersion,
        crypto::{CryptoProvider, ring},
        pki_types::{
            CertificateDer, CertificateRevocationListDer, PrivateKeyDer,
            pem::{self, PemObject},
        },
        server::{WebPkiClientVerifier, danger::ClientCertVerifier},
        version::TLS13,
    },
    server::TlsStream,
};

use crate::{server::metrics::CertificateExpiries, watch::Snapshot};
pub(super) use failure::HandshakeFailure;

/// The names of protocols in the handshake (ALPN).
const HTTP1: &[u8] = b"http/1.1";
pub(super) const HTTP2: &[u8] = b"h2";

/// The files and options of TLS at a listener. All files are PEM.
///
/// Changed files are read again, and apply to new connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsOptions {
    /// The certificate of the server, followed by those that lead to its root.
    pub cert: PathBuf,
    /// The key of that certificate: PKCS#8, PKCS#1 or SEC1.
    pub key: PathBuf,
    /// Whether clients need TLS 1.3. Without it, TLS 1.2 is enough.
    pub only_tls13: bool,
    /// Whether connections only use HTTP/1.1. Without it, clients can choose HTTP/2.
    pub only_http1: bool,
    /// The certificates of clients. `None` asks for none.
    pub clients: Option<ClientCertificates>,
}

/// Which certificates clients may have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientCertificates {
    /// The roots of their certificates.
    pub ca: PathBuf,
    /// Whether each client needs a certificate.
    pub required: bool,
    /// Lists of revoked certificates.
    pub crl: Vec<PathBuf>,
    /// Whether only the client's own certificate is looked up in the lists, and not those that lead to its root.
    pub only_end_entity: bool,
    /// Whether certificates pass whose issuer has no list, or an expired one.
    pub soft_fail: bool,
}

/// Why TLS does not work with the files of a listener.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct TlsError {
    /// The file with the problem.
    pub file: TlsFile,
    problem: String,
}

/// A file of [`TlsOptions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsFile {
    /// [`TlsOptions::cert`].
    Cert,
    /// [`TlsOptions::key`].
    Key,
    /// [`ClientCertificates::ca`].
    Ca,
    /// [`ClientCertificates::crl`], by its place in the list.
    Crl(usize),
}

impl TlsFile {
    fn error(self, problem: impl fmt::Display) -> TlsError {
        let problem = problem.to_string();
        TlsError {
            file: self,
            problem,
        }
    }

    /// The parts of a kind that a file has; at least one.
    fn parts<T: PemObject>(self, path: &Path, kind: &str) -> Result<Vec<T>, TlsError> {
        let parts = T::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        match parts {
            Ok(parts) if !parts.is_empty() => Ok(parts),
            Ok(_) => Err(self.error(format_args!("`{}` has no {kind} in PEM", path.display()))),
            Err(error) => Err(self.unreadable(path, &error)),
        }
    }

    fn unreadable(self, path: &Path, error: &pem::Error) -> TlsError {
        let path = path.display();
        match error {
            pem::Error::Io(error) => self.error(format_args!("cannot read `{path}`: {error}")),
            error => self.error(format_args!("`{path}` is not a file in PEM: {error}")),
        }
    }
}

impl TlsOptions {
    /// TLS with a certificate and its key.
    pub fn new(cert: PathBuf, key: PathBuf) -> Self {
        Self {
            cert,
            key,
            ..Self::default()
        }
    }

    /// Reads the files. Returns the certificate and the lists of revoked certificates that expire soon or have expired, and when.
    ///
    /// # Errors
    /// [`TlsError`], if a file cannot be read, or has no certificate, key or list that can be used.
    pub fn check_files(&self) -> Result<Vec<(TlsFile, SystemTime)>, TlsError> {
        let ends = self.load()?.ends.into_iter();
        Ok(ends
            .filter(|one| is_within(one.end, one.warning))
            .map(|one| (one.file, one.end))
            .collect())
    }

    fn load(&self) -> Result<Loaded, TlsError> {
        let chain = TlsFile::Cert.parts::<CertificateDer<'_>>(&self.cert, "certificate")?;
        let own = chain.first();
        let mut ends: Vec<_> = own
            .and_then(|own| Certificate::of_der(own).ends())
            .map(|end| Expiry {
                file: TlsFile::Cert,
                end,
                warning: EXPIRY_WARNING,
            })
            .into_iter()
            .collect();
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| match error {
            pem::Error::NoItemsFound => {
                TlsFile::Key.error(format_args!("`{}` has no key in PEM", self.key.display()))
            }
            error => TlsFile::Key.unreadable(&self.key, &error),
        })?;
        let provider = Arc::new(ring::default_provider());
        let versions: &[&SupportedProtocolVersion] = if self.only_tls13 {
            &[&TLS13]
        } else {
            DEFAULT_VERSIONS
        };
        let verifier = match &self.clients {
            Some(clients) => {
                let lists = clients.lists()?;
                ends.extend(clients.ends_of(&lists));
                clients.verifier(&provider, lists)?
            }
            None => WebPkiClientVerifier::no_client_auth(),
        };
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .expect("ring has ciphers for these versions")
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .map_err(|error| self.unfit(&error))?;
        config.alpn_protocols = vec![HTTP1.to_vec()];
        if !self.only_http1 {
            config.alpn_protocols.insert(0, HTTP2.to_vec());
        }
        let config = Arc::new(config);
        Ok(Loaded { config, ends })
    }

    /// Reads the files after a change. Other programs replace a certificate and its key one after the other, so files that cannot be
    /// used have a while to change again. `None` while the runtime ends.
    async fn load_changed(&self, files: &mut Snapshot) -> Option<Result<Loaded, TlsError>> {
        let end = Instant::now() + REPLACE_TIMEOUT;
        loop {
            let options = self.clone();
            let loaded = run_blocking(move || options.load()).await?;
            if loaded.is_ok() {
                return Some(loaded);
            }
            let Ok(changed) = timeout_at(end, files.changed()).await else {
                return Some(loaded);
            };
            *files = changed;
        }
    }

    /// The error of a certificate and a key that cannot be used.
    fn unfit(&self, error: &tokio_rustls::rustls::Error) -> TlsError {
        let (cert, key) = (self.cert.display(), self.key.display());
        match error {
            tokio_rustls::rustls::Error::InconsistentKeys(_) => TlsFile::Key.error(format_args!(
                "the key in `{key}` does not belong to the certificate in `{cert}`"
            )),
            error => {
                let problem = format!("cannot use `{cert}` with `{key}`: {error}");
                TlsFile::Cert.error(problem)
            }
        }
    }

    /// The path of a file.
    fn path(&self, file: TlsFile) -> &Path {
        let clients = self.clients.as_ref();
        let path = match file {
            TlsFile::Cert => None,
            TlsFile::Key => Some(&self.key),
            TlsFile::Ca => clients.map(|clients| &clients.ca),
            TlsFile::Crl(at) => clients.and_then(|clients| clients.crl.get(at)),
        };
        path.unwrap_or(&self.cert)
    }

    /// The files in their current state.
    fn snapshot(&self) -> Snapshot {
        let mut files = Snapshot::default();
        let clients = self.clients.iter();
        let of_clients = clients.flat_map(|clients| clients.crl.iter().chain([&clients.ca]));
        for file in [&self.cert, &self.key].into_iter().chain(of_clients) {
            files.add(file.clone());
        }
        files
    }
}

/// A list of revoked certificates, and its file.
type RevocationList = (TlsFile, CertificateRevocationListDer<'static>);

impl ClientCertificates {
    /// Certificates that these roots have signed. Each client needs one.
    pub fn new(ca: PathBuf) -> Self {
        Self {
            ca,
            required: true,
            crl: Vec::new(),
            only_end_entity: false,
            soft_fail: false,
        }
    }

    fn lists(&self) -> Result<Vec<RevocationList>, TlsError> {
        let mut lists = Vec::new();
        for (at, path) in self.crl.iter().enumerate() {
            let file = TlsFile::Crl(at);
            let of_file = file.parts(path, "list of revoked certificates")?;
            lists.extend(of_file.into_iter().map(|list| (file, list)));
        }
        Ok(lists)
    }

    /// When the lists end, if certificates need one that has not ended.
    fn ends_of(&self, lists: &[RevocationList]) -> Vec<Expiry> {
        let needed = lists.iter().filter(|_| !self.soft_fail);
        let ends = needed.filter_map(|(file, list)| {
            let (begin, end) = revocation_list_times(list)?;
            Some(Expiry {
                file: *file,
                end,
                warning: warning_of_list(end.duration_since(begin).unwrap_or_default()),
            })
        });
        ends.collect()
    }

    fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
        lists: Vec<RevocationList>,
    ) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
        let mut roots = RootCertStore::empty();
        for root in TlsFile::Ca.parts::<CertificateDer<'_>>(&self.ca, "certificate")? {
            roots.add(root).map_err(|error| {
                TlsFile::Ca.error(format_args!("cannot use `{}`: {error}", self.ca.display()))
            })?;
        }
        let has_lists = !lists.is_empty();
        let lists = lists.into_iter().map(|(_, list)| list);
        let mut builder =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
                .with_crls(lists);
        if self.only_end_entity {
            builder = builder.only_check_end_entity_revocation();
        }
        if self.soft_fail {
            builder = builder.allow_unknown_revocation_status();
        } else if has_lists {
            builder = builder.enforce_revocation_expiration();
        }
        if !self.required {
            builder = builder.allow_unauthenticated();
        }
        builder.build().map_err(|error| {
            let file = if has_lists {
                TlsFile::Crl(0)
            } else {
                TlsFile::Ca
            };
            file.error(format_args!(
                "cannot check certificates of clients: {error}"
            ))
        })
    }
}

/// The content of the files.
#[derive(Clone, Debug)]
struct Loaded {
    config: Arc<ServerConfig>,
    /// When the certificate ends, and the lists of revoked certificates.
    ends: Vec<Expiry>,
}

/// When a file ends.
#[derive(Clone, Copy, Debug)]
struct Expiry {
    file: TlsFile,
    end: SystemTime,
    /// How long before that the log warns of it.
    warning: Duration,
}

/// How long before the end of a certificate the log warns of it, and how long before it does so again.
const EXPIRY_WARNING: Duration = Duration::from_hours(14 * 24);
const LAST_DAY: Duration = Duration::from_hours(24);
/// How often the server looks at the time that they have left.
const EXPIRY_CHECK_INTERVAL: Duration = Duration::from_hours(1);

/// How long replacing all files may take, before the log says that they cannot be used.
const REPLACE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long before its end the log warns of a list: in the last tenth of its time. Many lists are replaced each day.
fn warning_of_list(lasts: Duration) -> Duration {
    EXPIRY_WARNING.min(lasts / 10)
}

/// Whether less than this time is left.
fn is_within(ends: SystemTime, time: Duration) -> bool {
    ends < SystemTime::now() + time
}

/// The TLS of a listener, as its files are now.
#[derive(Debug)]
pub(crate) struct Tls {
    /// The name of the listener.
    name: String,
    options: TlsOptions,
    files: Snapshot,
    current: Mutex<Loaded>,
}

impl Tls {
    pub(crate) fn load(name: &str, options: &TlsOptions) -> Result<Arc<Self>, TlsError> {
        // The state from before the files are read, so that a later change is noticed.
        let files = options.snapshot();
        let current = Mutex::new(options.load()?);
        let options = options.clone();
        Ok(Arc::new(Self {
            name: name.to_owned(),
            options,
            files,
            current,
        }))
    }

    /// Whether each client needs a certificate.
    pub(crate) fn authenticates(&self) -> bool {
        let clients = self.options.clients.as_ref();
        clients.is_some_and(|clients| clients.required)
    }

    pub(super) fn current(&self) -> Arc<ServerConfig> {
        Arc::clone(&lock(&self.current).config)
    }

    /// Reads the files again whenever they change. Files that cannot be used leave what was read before. Warns before the certificate
    /// or a list ends. Never returns.
    pub(super) async fn follow(&self, expiries: &CertificateExpiries) {
        let mut files = self.files.clone();
        let mut warned = Vec::new();
        loop {
            let ends = lock(&self.current).ends.clone();
            let of_certificate = ends.iter().find(|one| one.file == TlsFile::Cert);
            expiries.set(&self.name, of_certificate.map(|one| one.end));
            self.warn_before(&ends, &mut warned);
            let Ok(changed) = timeout(EXPIRY_CHECK_INTERVAL, files.changed()).await else {
                continue;
            };
            files = changed;
            let Some(loaded) = self.options.load_changed(&mut files).await else {
                continue;
            };
            match loaded {
                // It has no sessions of the previous one, so a client whose certificate is revoked cannot resume.
                Ok(loaded) => {
                    *lock(&self.current) = loaded;
                    warned.clear();
                    tracing::info!(cert = %self.options.cert.display(), "read the files of TLS again");
                }
                Err(error) => {
                    let problem = chain(&error);
                    tracing::error!("still using the previous files of TLS: {problem}");
                }
            }
        }
    }

    /// Warns some time and one day before the certificate or a list ends, and when it has ended. `warned` are the files for which it did
    /// so, with these times.
    fn warn_before(&self, ends: &[Expiry], warned: &mut Vec<(TlsFile, SystemTime, Duration)>) {
        for &Expiry { file, end, warning } in ends {
            let times = [Duration::ZERO, LAST_DAY.min(warning), warning];
            let Some(within) = times.into_iter().find(|time| is_within(end, *time)) else {
                continue;
            };
            let is_same = |one: &(TlsFile, SystemTime, Duration)| (one.0, one.1) == (file, end);
            if warned.iter().any(|one| is_same(one) && one.2 <= within) {
                continue;
            }
            warned.push((file, end, within));
            let left = end.duration_since(SystemTime::now()).unwrap_or_default();
            let hours = left.as_secs() / 3600;
            let path = self.options.path(file).display();
            match (file, within.is_zero()) {
                (TlsFile::Crl(_), true) => tracing::error!(
                    list = %path,
                    "the list of revoked certificates expired, so clients whose certificates it covers are refused; replace the file, which is read again"
                ),
                (TlsFile::Crl(_), false) => tracing::warn!(
                    list = %path,
                    hours,
                    "the list of revoked certificates expires soon; replace the file, which is read again"
                ),
                (_, true) => tracing::error!(
                    cert = %path,
                    "the certificate expired; replace the file, which is read again"
                ),
                (_, false) => tracing::warn!(
                    cert = %path,
                    hours,
                    "the certificate expires soon; replace the file, which is read again"
                ),
            }
        }
    }
}

/// The first byte of each TLS connection.
const HANDSHAKE: u8 = 0x16;

/// How long the server waits for the head of a plain HTTP request, and how many bytes of it are read.
const PLAIN_TIME: Duration = Duration::from_secs(2);
const PLAIN_HEAD: usize = 8 << 10;

/// Why a connection has no TLS.
pub(super) enum NoTls {
    /// The handshake failed.
    Failed(io::Error),
    /// The client sent plain HTTP, and has learned what is expected.
    PlainHttp,
    /// The client sent something else, or nothing.
    Other,
}

/// Shakes hands with a client within `limit`.
pub(super) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
    stream: TcpStream,
    wrap: impl FnOnce(TcpStream) -> S,
    config: Arc<ServerConfig>,
    limit: Option<Duration>,
) -> Result<TlsStream<S>, NoTls> {
    let handshake = async {
        let mut first = [0];
        match stream.peek(&mut first).await {
            Ok(1) if first[0] == HANDSHAKE => {
                let accepted = TlsAcceptor::from(config).accept(wrap(stream));
                accepted.await.map_err(NoTls::Failed)
            }
            Ok(1) if first[0].is_ascii_uppercase() => {
                if let Err(error) = refuse_plain(stream).await {
                    tracing::debug!(%error, "plain HTTP where TLS is expected");
                }
                Err(NoTls::PlainHttp)
            }
            Ok(_) => Err(NoTls::Other),
            Err(error) => {
                tracing::debug!(%error, "no first byte of a connection");
                Err(NoTls::Other)
            }
        }
    };
    match limit {
        Some(limit) => timeout(limit, handshake).await.unwrap_or_else(|_| {
            let message = format!("the client did not shake hands within {limit:?}");
            let error = io::Error::new(io::ErrorKind::TimedOut, message);
            Err(NoTls::Failed(error))
        }),
        None => handshake.await,
    }
}

/// Answers a request that came without TLS. A redirect would hide from a client that it sent a token unencrypted.
async fn refuse_plain(mut stream: TcpStream) -> io::Result<()> {
    let mut head = Vec::new();
    let reading = async {
        let mut part = [0; 1024];
        while head.len() < PLAIN_HEAD && !head.windows(4).any(|end| end == b"\r\n\r\n") {
            match stream.read(&mut part).await {
                Ok(length) if length > 0 => head.extend_from_slice(&part[..length]),
                _ => break,
            }
        }
    };
    // An incomplete head is enough for an answer.
    let _ = timeout(PLAIN_TIME, reading).await;
    let text = String::from_utf8_lossy(&head);
    let (mut target, mut host) = ("/", None);
    if let Some((request, headers)) = text.split_once("\r\n") {
        target = request.split(' ').nth(1).unwrap_or(target);
        let mut headers = headers.lines().filter_map(|line| line.split_once(':'));
        host = headers.find(|(name, _)| name.eq_ignore_ascii_case("host"));
    }
    let at = match host {
        Some((_, host)) => format!(": use https://{}{target}", host.trim()),
        None => String::new(),
    };
    let body = format!("this address speaks https{at}\n");
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n\
         content-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_a_day_are_not_always_about_to_end() {
        let days = |days: u64| Duration::from_hours(24 * days);
        for (lasts, warning) in [
            (days(365), days(14)),
            (days(30), days(3)),
            (days(10), days(1)),
            (days(1), Duration::from_mins(144)),
            (days(0), days(0)),
        ] {
            assert_eq!(warning_of_list(lasts), warning, "{lasts:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn files_that_cannot_be_used_have_a_while_to_change_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let options = TlsOptions::new(path("cert.pem"), path("key.pem"));
        let mut files = options.snapshot();
        let start = Instant::now();
        std::fs::write(path("cert.pem"), "not complete").expect("a file");
        let loaded = options.load_changed(&mut files).await;
        assert!(loaded.expect("the runtime goes on").is_err());
        assert!(start.elapsed() >= REPLACE_TIMEOUT, "{:?}", start.elapsed());
        assert_eq!(files, options.snapshot());
    }
}
