//! Credentials for registries, as docker and podman keep them.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsStr,
    fs,
    io::{self, ErrorKind},
    path::PathBuf,
    process::Stdio,
    time::Duration,
};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;
use tokio::{io::AsyncWriteExt as _, process::Command, time::timeout};

use crate::{
    error::Error,
    reference::{Reference, registry},
};

/// The name of Docker Hub for helpers.
const DOCKER_HUB: &str = "https://index.docker.io/v1/";

/// The user of a helper's answer whose secret is an identity token.
const TOKEN_USER: &str = "<token>";

/// How long a helper may take. It may ask the user to unlock a keychain.
const HELPER_TIMEOUT: Duration = Duration::from_mins(1);

/// What a registry or its token server gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// A user and a password.
    Basic { user: String, password: String },
    /// A token that is exchanged for others.
    Identity(String),
}

impl Credentials {
    /// The user, for messages.
    pub(crate) fn user(&self) -> &str {
        match self {
            Self::Basic { user, .. } => user,
            Self::Identity(_) => TOKEN_USER,
        }
    }
}

/// The files of docker and podman, in the order in which they are read.
pub fn auth_files() -> Vec<PathBuf> {
    let variable = |name| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let home = variable("HOME").or_else(|| variable("USERPROFILE"));
    let in_home = |folder: &str| Some(home.as_ref()?.join(folder));
    let docker = variable("DOCKER_CONFIG").or_else(|| in_home(".docker"));
    let config = variable("XDG_CONFIG_HOME").or_else(|| in_home(".config"));
    let podman = |folder: PathBuf| folder.join("containers").join("auth.json");
    let files = [
        docker.map(|folder| folder.join("config.json")),
        variable("REGISTRY_AUTH_FILE"),
        variable("XDG_RUNTIME_DIR")
            .map(podman)
            .or_else(file_of_user),
        config.map(podman),
    ];
    files.into_iter().flatten().collect()
}

/// The file that podman and skopeo use without `XDG_RUNTIME_DIR`, which is often not set for root, in containers and in CI jobs.
#[cfg(target_os = "linux")]
fn file_of_user() -> Option<PathBuf> {
    use std::os::linux::fs::MetadataExt as _;

    let user = fs::metadata("/proc/self").ok()?.st_uid();
    Some(format!("/run/containers/{user}/auth.json").into())
}

#[cfg(not(target_os = "linux"))]
fn file_of_user() -> Option<PathBuf> {
    None
}

/// As docker writes it. It takes null for nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct File {
    auths: Option<BTreeMap<String, Option<Entry>>>,
    cred_helpers: Option<BTreeMap<String, String>>,
    creds_store: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Entry {
    auth: String,
    username: String,
    password: String,
    identitytoken: String,
}

/// The answer of a helper.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HelperAnswer {
    username: String,
    secret: String,
}

/// The credentials for a repository in the first of the files that has some.
pub(crate) async fn find(
    files: &[PathBuf],
    reference: &Reference,
) -> Result<Option<Credentials>, Error> {
    for path in files {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if is_missing(&error) => continue,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                tracing::warn!(path = %path.display(), %error, "file with credentials skipped");
                continue;
            }
            Err(error) => return Err(unreadable(reference, path, &error)),
        };
        if text.trim_ascii().is_empty() {
            continue;
        }
        let file: File =
            serde_json::from_slice(&text).map_err(|error| unreadable(reference, path, &error))?;
        if let Some(found) = file.find(reference).await? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Whether there is no such file. A home that is a file has none.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn unreadable(
    reference: &Reference,
    path: &std::path::Path,
    error: &dyn std::fmt::Display,
) -> Error {
    Error::Credentials {
        host: reference.host().to_owned(),
        from: format!("`{}`", path.display()),
        reason: error.to_string(),
    }
}

impl File {
    async fn find(&self, reference: &Reference) -> Result<Option<Credentials>, Error> {
        let host = reference.host();
        let covered = |key: &str| covered_by(key, reference.is_plain());
        // A registry can have several names. The one that docker writes wins.
        let is_usual = |key: &str| key == DOCKER_HUB || bare(key) == host;
        let helpers = self
            .cred_helpers
            .iter()
            .flatten()
            .filter(|(key, _)| covered(key) == host);
        let own = helpers.max_by_key(|(key, _)| is_usual(key));
        let asked = match own {
            Some((key, _)) => key.as_str(),
            None if host == "docker.io" => DOCKER_HUB,
            None => host,
        };
        let helper = own.map(|(_, helper)| helper).or(self.creds_store.as_ref());
        // docker ignores an empty name, too.
        if let Some(helper) = helper.filter(|helper| !helper.is_empty())
            && let Some(found) = ask(helper, asked, reference).await?
        {
            return Ok(Some(found));
        }
        let path = format!("{host}/{}", reference.path());
        let auths = self
            .auths
            .iter()
            .flatten()
            .filter_map(|(key, entry)| Some((key, entry.as_ref()?)))
            .filter(|(key, _)| {
                let rest = path.strip_prefix(&covered(key));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
        let closest =
            auths.max_by_key(|(key, entry)| (covered(key).len(), !entry.is_empty(), is_usual(key)));
        closest.map_or(Ok(None), |(key, entry)| entry.read(key, reference))
    }
}

/// A key without the scheme and the path that docker writes.
fn bare(key: &str) -> &str {
    let address = key
        .strip_prefix("https://")
        .or_else(|| key.strip_prefix("http://"))
        .unwrap_or(key)
        .trim_end_matches('/');
    address
        .strip_suffix("/v1")
        .or_else(|| address.strip_suffix("/v2"))
        .unwrap_or(address)
}

/// What a key covers, spelled as in references: a host or, in podman's files, also a host and the start of a path.
fn covered_by(key: &str, is_plain: bool) -> String {
    let key = bare(key);
    let (host, path) = key.split_at(key.find('/').unwrap_or(key.len()));
    let host = registry(host, is_plain).unwrap_or_else(|| host.to_owned());
    host + path
}

impl Entry {
    fn is_empty(&self) -> bool {
        self.auth.is_empty() && self.username.is_empty() && self.identitytoken.is_empty()
    }

    fn read(&self, key: &str, reference: &Reference) -> Result<Option<Credentials>, Error> {
        if !self.identitytoken.is_empty() {
            return Ok(Some(Credentials::Identity(self.identitytoken.clone())));
        }
        if !self.username.is_empty() {
            return Ok(Some(Credentials::Basic {
                user: self.username.clone(),
                password: self.password.clone(),
            }));
        }
        // With a helper, docker writes an empty entry.
        if self.auth.is_empty() {
            return Ok(None);
        }
        let decoded = BASE64_STANDARD
            .decode(self.auth.trim())
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok());
        let pair = decoded.as_deref().and_then(|text| text.split_once(':'));
        let Some((user, password)) = pair else {
            return Err(Error::Credentials {
                host: reference.host().to_owned(),
                from: format!("the entry `{key}`"),
                reason: "`auth` is not USER:PASSWORD in base64".to_owned(),
            });
        };
        Ok(Some(Credentials::Basic {
            user: user.to_owned(),
            password: password.trim_end_matches('\0').to_owned(),
        }))
    }
}

/// Finds a program in a `PATH` of Windows. It may be a script, such as `docker-credential-gcloud.cmd`: Windows itself only looks for
/// `.exe`.
fn script(path: &OsStr, program: &str) -> Option<PathBuf> {
    let folders = env::split_paths(path).filter(|folder| folder.is_absolute());
    let mut files = folders.flat_map(|folder| {
        ["exe", "cmd", "bat"].map(|ending| folder.join(format!("{program}.{ending}")))
    });
    files.find(|file| file.is_file())
}

/// Asks `docker-credential-NAME`. `None` if it has no credentials for the host.
async fn ask(name: &str, host: &str, reference: &Reference) -> Result<Option<Credentials>, Error> {
    let program = format!("docker-credential-{name}");
    let failed = |reason: String| Error::Credentials {
        host: reference.host().to_owned(),
        from: format!("`{program}`"),
        reason,
    };
    let run = async {
        let path = env::var_os("PATH").filter(|_| cfg!(windows));
        let script = path.and_then(|path| script(&path, &program));
        let mut child = Command::new(script.unwrap_or_else(|| PathBuf::from(&program)))
            .arg("get")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A helper that ends before it has read the host says why.
            let _ = stdin.write_all(host.as_bytes()).await;
        }
        child.wait_with_output().await
    };
    let output = timeout(HELPER_TIMEOUT, run)
        .await
        .map_err(|_| failed(format!("it did not answer within {HELPER_TIMEOUT:?}")))?
        .map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        // What docker's library of helpers writes for a host that it does not know.
        if text.trim() == "credentials not found in native keychain" {
            return Ok(None);
        }
        let outputs = [text, String::from_utf8_lossy(&output.stderr)];
        let said = outputs
            .iter()
            .map(|text| text.trim())
            .find(|text| !text.is_empty());
        return Err(failed(said.unwrap_or("it failed").to_owned()));
    }
    // The text may have the secret, so it is not shown.
    let answer: HelperAnswer = serde_json::from_str(&text)
        .map_err(|_| failed("its answer has no `Username` and `Secret`".to_owned()))?;
    Ok(Some(match answer.username.as_str() {
        TOKEN_USER => Credentials::Identity(answer.secret),
        _ => Credentials::Basic {
            user: answer.username,
            password: answer.secret,
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn found(json: &str, reference: &str) -> Result<Option<Credentials>, Error> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("auth.json");
        fs::write(&path, json).expect("a file");
        let reference = Reference::parse(reference).expect("a reference");
        find(&[folder.path().join("missing.json"), path], &reference).await
    }

    fn basic(user: &str, password: &str) -> Credentials {
        Credentials::Basic {
            user: user.to_owned(),
            password: password.to_owned(),
        }
    }

    #[tokio::test]
    async fn of_two_names_of_a_registry_the_usual_one_wins() {
        let ada = r#"{"auth":"YWRhOnMzY3JldA=="}"#;
        let bob = r#"{"username":"bob","password":"old"}"#;
        for (usual, other, reference) in [
            (
                "https://index.docker.io/v1/",
                "registry-1.docker.io",
                "oci://docker.io/acme/x",
            ),
            (
                "registry.example",
                "registry.example:443",
                "oci://registry.example/acme/x",
            ),
        ] {
            for last in [bob, "{}"] {
                let json = format!(r#"{{"auths":{{"{usual}":{ada},"{other}":{last}}}}}"#);
                let login = found(&json, reference).await.expect("logins");
                assert_eq!(login, Some(basic("ada", "s3cret")), "{usual}");
            }
        }
    }

    #[tokio::test]
    async fn keys_are_read_as_docker_and_podman_write_them() {
        let ada = r#"{"auth":"YWRhOnMzY3JldA=="}"#;
        for key in [
            "registry.example:5000",
            "https://registry.example:5000",
            "https://registry.example:5000/v1/",
            "registry.example:5000/team",
            "registry.example:5000/team/mine",
        ] {
            let json = format!(r#"{{"auths":{{"{key}":{ada}}}}}"#);
            let found = found(&json, "oci://registry.example:5000/team/mine:1").await;
            assert_eq!(found.expect(key), Some(basic("ada", "s3cret")), "{key}");
        }
        for key in [
            "registry.example",
            "registry.example:5000/tea",
            "other.example",
        ] {
            let json = format!(r#"{{"auths":{{"{key}":{ada}}}}}"#);
            let found = found(&json, "oci://registry.example:5000/team/mine:1").await;
            assert_eq!(found.expect(key), None, "{key}");
        }
        for (key, reference) in [
            ("https://index.docker.io/v1/", "oci://docker.io/ada/mine:1"),
            ("registry-1.docker.io", "oci://docker.io/ada/mine:1"),
            ("docker.io/ada", "oci://docker.io/ada/mine:1"),
            ("Registry.example:443", "oci://registry.example/mine:1"),
        ] {
            let json = format!(r#"{{"auths":{{"{key}":{ada}}}}}"#);
            let found = found(&json, reference).await;
            assert_eq!(found.expect(key), Some(basic("ada", "s3cret")), "{key}");
        }
    }

    #[tokio::test]
    async fn files_without_logins_are_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let [empty, last] = ["empty.json", "last.json"].map(|name| folder.path().join(name));
        fs::write(&empty, "\n").expect("a file");
        fs::write(
            &last,
            r#"{"auths":{"a.example":{"auth":"YWRhOnMzY3JldA=="}}}"#,
        )
        .expect("a file");
        let in_a_file = empty.join(".docker").join("config.json");
        let reference = Reference::parse("oci://a.example/mine:1").expect("a reference");
        let found = find(&[empty, in_a_file, last], &reference).await;
        assert_eq!(found.expect("the last one"), Some(basic("ada", "s3cret")));
    }

    #[tokio::test]
    async fn null_is_nothing() {
        for json in [
            r#"{"auths":null,"credHelpers":null,"credsStore":null}"#,
            r#"{"auths":{"a.example":null}}"#,
        ] {
            let found = found(json, "oci://a.example/mine:1").await;
            assert_eq!(found.expect(json), None, "{json}");
        }
    }

    #[tokio::test]
    async fn an_empty_helper_is_none() {
        let auths = r#""auths":{"a.example":{"auth":"YWRhOnMzY3JldA=="}}"#;
        for helpers in [
            r#""credsStore":"""#,
            r#""credsStore":"no-such-helper","credHelpers":{"a.example":""}"#,
        ] {
            let found = found(&format!("{{{auths},{helpers}}}"), "oci://a.example/mine:1").await;
            assert_eq!(found.expect(helpers), Some(basic("ada", "s3cret")));
        }
    }

    #[test]
    fn a_helper_may_be_a_script_on_windows() {
        let folder = tempfile::tempdir().expect("a folder");
        let cmd = folder.path().join("docker-credential-gcloud.cmd");
        fs::write(&cmd, "").expect("a file");
        let path = folder.path().as_os_str();
        assert_eq!(script(path, "docker-credential-gcloud"), Some(cmd));
        assert_eq!(script(path, "docker-credential-other"), None);
    }

    #[tokio::test]
    async fn the_longest_prefix_wins() {
        let json = r#"{"auths":{
            "a.example":{"username":"all","password":"1"},
            "a.example/team":{"username":"team","password":"2"},
            "a.example/team/other":{"username":"other","password":"3"}}}"#;
        let found = found(json, "oci://a.example/team/mine:1").await;
        assert_eq!(found.expect("an entry"), Some(basic("team", "2")));
    }

    #[tokio::test]
    async fn an_identity_token_is_not_a_password() {
        let json = r#"{"auths":{"a.example":{"auth":"YWRhOng=","identitytoken":"t0ken"}}}"#;
        let found = found(json, "oci://a.example/mine:1").await;
        let token = Credentials::Identity("t0ken".to_owned());
        assert_eq!(found.expect("an entry"), Some(token));
    }

    #[tokio::test]
    async fn entries_that_cannot_be_read_are_errors_without_the_secret() {
        for (json, problem) in [
            (
                r#"{"auths":{"a.example":{"auth":"czNjcmV0"}}}"#,
                "not USER:PASSWORD in base64",
            ),
            (
                r#"{"auths":{"a.example":{"auth":"s3cret!"}}}"#,
                "not USER:PASSWORD in base64",
            ),
            (r#"{"auths": 3"#, "auth.json"),
            (
                r#"{"credsStore":"no-such-helper"}"#,
                "`docker-credential-no-such-helper`",
            ),
        ] {
            let error = found(json, "oci://a.example/mine:1").await.expect_err(json);
            assert_eq!(error.code(), "credentials");
            assert!(error.to_string().contains(problem), "{error}");
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }
}
