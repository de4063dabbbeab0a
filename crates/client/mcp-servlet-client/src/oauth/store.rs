//! The stored logins: one file for each server and client.

use std::env::VarError;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rmcp::transport::auth::StoredCredentials;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, sleep};
use url::Url;

use super::{failure, private};
use crate::bearer::Secret;
use crate::error::{Error, ErrorKind};

/// How long to wait for another process that renews the same login.
const LOCK_WAIT: Duration = Duration::from_mins(1);
const LOCK_POLL: Duration = Duration::from_millis(20);
/// Tokens are renewed this long before they expire, in seconds, because requests take time. Tokens that last less than a
/// minute are renewed after half of their time.
const RENEWAL_MARGIN_SECS: u64 = 30;

/// How the tokens of a login are renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Grant {
    /// With the refresh token.
    AuthorizationCode,
    /// With the secret of the client.
    ClientCredentials,
}

/// The secret of a client.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClientSecret {
    /// The authorization server issued it when the client was registered.
    Issued(String),
    /// The name of the environment variable that has it.
    Variable(String),
}

/// A login. It has no `Debug`, because it has tokens.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Login {
    /// The server, for a person who reads the file.
    pub(super) server: String,
    pub(super) grant: Grant,
    pub(super) client_secret: Option<ClientSecret>,
    pub(super) revocation_endpoint: Option<String>,
    pub(super) credentials: StoredCredentials,
}

/// The file of a login.
#[derive(Clone, Debug)]
pub(super) struct LoginFile {
    path: PathBuf,
}

/// While it exists, no other task or process changes the login.
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Removes the file of the lock, together with the login that it is for.
    pub(super) fn remove(self) {
        // A file that stays is empty and does no harm.
        let _ = private::remove(&self.path);
    }
}

impl ClientSecret {
    pub(super) fn value(&self) -> Result<Secret, Error> {
        match self {
            Self::Issued(secret) => Ok(Secret::new(secret)),
            Self::Variable(name) => {
                let problem = match std::env::var(name) {
                    Ok(secret) if !secret.is_empty() => return Ok(Secret::new(secret)),
                    Ok(_) | Err(VarError::NotPresent) => "not set",
                    Err(VarError::NotUnicode(_)) => "not UTF-8",
                };
                let message = format!("the environment variable `{name}` is {problem}");
                Err(failure::authentication(message)
                    .with_help("set it to the secret of the client"))
            }
        }
    }
}

impl Login {
    pub(super) fn access_token(&self) -> Option<Secret> {
        let tokens = self.tokens()?;
        Some(Secret::new(tokens["access_token"].as_str()?))
    }

    pub(super) fn refresh_token(&self) -> Option<Secret> {
        let tokens = self.tokens()?;
        Some(Secret::new(tokens["refresh_token"].as_str()?))
    }

    /// The token, if it is valid for some time and not the one that a server has refused.
    pub(super) fn usable_token(&self, refused: Option<&Secret>, now: u64) -> Option<Secret> {
        let lifetime = self.tokens()?["expires_in"].as_u64();
        let received = self.credentials.token_received_at;
        let renewal = lifetime.zip(received).map(|(lifetime, received)| {
            let early = RENEWAL_MARGIN_SECS.min(lifetime / 2);
            received.saturating_add(lifetime - early)
        });
        let is_fresh = renewal.is_none_or(|renewal| renewal > now);
        let token = self.access_token().filter(|_| is_fresh);
        token.filter(|token| refused != Some(token))
    }

    /// The response that had the tokens. Its type does not tell them without the crate `oauth2`.
    fn tokens(&self) -> Option<serde_json::Value> {
        let response = self.credentials.token_response.as_ref()?;
        serde_json::to_value(response).ok()
    }
}

impl LoginFile {
    /// The file for a server and the client that the user named, if any.
    pub(super) fn new(folder: &Path, server: &Url, client_id: Option<&str>) -> Self {
        let client = digest(client_id.unwrap_or_default());
        Self {
            path: folder.join(format!("{}{client}.json", prefix(server))),
        }
    }

    /// The file for a server and the client that the user named. Without a name, the only login to the server.
    pub(super) fn find(
        folder: &Path,
        server: &Url,
        client_id: Option<&str>,
    ) -> Result<Self, Error> {
        let named = Self::new(folder, server, client_id);
        if client_id.is_some() || named.path.exists() {
            return Ok(named);
        }
        let mut others = Self::all(folder, server);
        match (others.pop(), others.is_empty()) {
            (Some(only), true) => Ok(only),
            (None, _) => Ok(named),
            (Some(last), false) => {
                others.push(last);
                Err(several_clients(&others))
            }
        }
    }

    /// The logins to a server, of all clients.
    fn all(folder: &Path, server: &Url) -> Vec<Self> {
        let prefix = prefix(server);
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let is_login = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&prefix) && name.ends_with(".json")
        };
        paths.filter(is_login).map(|path| Self { path }).collect()
    }

    pub(super) fn load(&self) -> Result<Option<Login>, Error> {
        let text =
            private::read(&self.path).map_err(|error| failure::file("read", &self.path, error))?;
        let Some(text) = text else { return Ok(None) };
        let login = serde_json::from_str(&text).map_err(|error| {
            // Without serde's text, which may quote a token.
            let message = format!(
                "the stored login `{}` is not valid, in line {}",
                self.path.display(),
                error.line()
            );
            failure::authentication(message).with_help("remove the file, and log in again")
        })?;
        Ok(Some(login))
    }

    pub(super) fn save(&self, login: &Login) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(login).map_err(std::io::Error::other);
        let written = text.and_then(|text| private::write(&self.path, &text));
        written.map_err(|error| failure::file("write", &self.path, error))
    }

    /// Removes the login. Returns whether there was one.
    pub(super) fn remove(&self) -> Result<bool, Error> {
        let removed = private::remove(&self.path);
        removed.map_err(|error| failure::file("remove", &self.path, error))
    }

    /// Waits until no other task or process changes the login.
    pub(super) async fn lock(&self) -> Result<Lock, Error> {
        let path = self.path.with_extension("lock");
        let failed = |error| failure::file("lock", &path, error);
        let mut file = private::lock_file(&path).map_err(failed)?;
        let end = Instant::now() + LOCK_WAIT;
        loop {
            match file.try_lock() {
                Ok(()) if private::is_at(&file, &path) => return Ok(Lock { path, _file: file }),
                // A logout has removed the file since it was opened.
                Ok(()) => file = private::lock_file(&path).map_err(failed)?,
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if Instant::now() > end => {
                    let message = format!("another process holds `{}`", path.display());
                    return Err(Error::new(ErrorKind::RequestTimeout, message));
                }
                Err(TryLockError::WouldBlock) => sleep(LOCK_POLL).await,
            }
        }
    }
}

/// How the names of all files for a server begin.
fn prefix(server: &Url) -> String {
    let host = server.host_str().unwrap_or_default();
    let is_plain = |one: &char| one.is_ascii_alphanumeric() || matches!(one, '.' | '-');
    let host: String = host.chars().filter(is_plain).take(100).collect();
    format!("{host}-{}-", digest(&without_user(server)))
}

/// A URL without user, password and fragment. Two servers may differ in the query alone.
fn without_user(server: &Url) -> String {
    let mut server = server.clone();
    // Only URLs without a host have no user to remove.
    let _ = server.set_username("");
    let _ = server.set_password(None);
    server.set_fragment(None);
    server.into()
}

/// There are logins of several clients, and the caller names none. Their ids are those that the user chose.
fn several_clients(files: &[LoginFile]) -> Error {
    let logins = files.iter().filter_map(|file| file.load().ok().flatten());
    let mut ids: Vec<_> = logins.map(|login| login.credentials.client_id).collect();
    ids.sort();
    let message = "several clients are logged in to the server";
    let help = format!("choose one with `--client-id ID`: `{}`", ids.join("`, `"));
    failure::authentication(message).with_help(help)
}

/// A short name for a text.
fn digest(text: &str) -> String {
    let digest = Sha256::digest(text);
    let start = digest.first_chunk().copied();
    format!("{:016x}", start.map_or(0, u64::from_be_bytes))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn login(expires_in: Option<u64>) -> Login {
        let login = json!({
            "server": "https://mcp.example.com/mcp",
            "grant": "authorization_code",
            "credentials": {
                "client_id": "me",
                "token_response": {
                    "access_token": "hush", "token_type": "bearer", "expires_in": expires_in,
                },
                "token_received_at": 1000,
            },
        });
        serde_json::from_value(login).expect("a login")
    }

    #[test]
    fn a_token_is_usable_until_30_seconds_or_half_of_its_time_before_it_expires() {
        let hush = Secret::new("hush");
        for (expires_in, refused, now, is_usable) in [
            (Some(100), None, 1000, true),
            (Some(100), None, 1069, true),
            (Some(100), None, 1070, false),
            (Some(100), None, u64::MAX, false),
            (Some(20), None, 1009, true),
            (Some(20), None, 1010, false),
            (Some(0), None, 1000, false),
            (Some(u64::MAX), None, 5000, true),
            (None, None, 5000, true),
            (Some(100), Some("hush"), 1000, false),
            (Some(100), Some("another"), 1000, true),
        ] {
            let refused = refused.map(Secret::new);
            let token = login(expires_in).usable_token(refused.as_ref(), now);
            assert_eq!(
                token,
                is_usable.then(|| hush.clone()),
                "{expires_in:?} {now}"
            );
        }
    }

    #[test]
    fn each_server_and_client_has_its_own_file() {
        let file = |server: &str, client: Option<&str>| {
            let server = server.parse().expect("a URL");
            LoginFile::new(Path::new("logins"), &server, client).path
        };
        let first = file("https://mcp.example.com/mcp", None);
        let name = first.display().to_string();
        assert!(name.starts_with("logins/mcp.example.com-"), "{name}");
        assert_eq!(first, file("https://user:pw@mcp.example.com/mcp#y", None));
        for other in [
            file("https://mcp.example.com/other", None),
            file("http://mcp.example.com/mcp", None),
            file("https://mcp.example.com:99/mcp", None),
            file("https://mcp.example.com/mcp?tenant=a", None),
            file("https://mcp.example.com/mcp", Some("me")),
        ] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn the_only_login_to_a_server_needs_no_client() {
        let folder = tempfile::tempdir().expect("a folder");
        let server = "https://mcp.example.com/mcp".parse().expect("a URL");
        let find = |client| LoginFile::find(folder.path(), &server, client).map(|file| file.path);
        let file = |client| LoginFile::new(folder.path(), &server, client);
        let save = |client| file(client).save(&login(None)).expect("a file");
        assert_eq!(find(None).expect("a path"), file(None).path);
        save(Some("one"));
        assert_eq!(find(None).expect("a path"), file(Some("one")).path);
        assert_eq!(find(Some("two")).expect("a path"), file(Some("two")).path);
        save(Some("two"));
        let error = find(None).expect_err("two clients").to_string();
        assert!(error.contains("`--client-id ID`: `me`, `me`"), "{error}");
        save(None);
        assert_eq!(find(None).expect("a path"), file(None).path);
    }

    #[test]
    fn an_invalid_file_is_named_without_its_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let server = "https://mcp.example.com/mcp".parse().expect("a URL");
        let file = LoginFile::new(folder.path(), &server, None);
        private::write(&file.path, r#"{"grant":"hush"}"#).expect("a file");
        let error = file.load().err().expect("an error").to_string();
        assert!(error.contains(&file.path.display().to_string()), "{error}");
        assert!(!error.contains("hush"), "{error}");
    }
}
