//! Logins to servers that require one.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use mcp_servlet_client::{
    Error, ErrorKind, Http, HttpTransport, LoggedOut, OAuth, Options, Session,
};
use puppet::{AuthorizationServer, ProtectedServer, ROBOT, ROBOT_SECRET, SECRET, browse};
use tempfile::TempDir;
use tracing_subscriber::filter::LevelFilter;

use crate::support::count_tools;

/// Environment variables of tests that start themselves as another process.
const URL: &str = "PUPPET_TEST_URL";
const FOLDER: &str = "PUPPET_TEST_FOLDER";
const CLIENT_SECRET: &str = "PUPPET_TEST_SECRET";

/// A server with a folder for logins.
pub(crate) struct Stage {
    pub(crate) server: ProtectedServer,
    folder: TempDir,
}

impl Stage {
    pub(crate) async fn new(rules: AuthorizationServer) -> Self {
        Self {
            server: rules.start().await,
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    pub(crate) fn http(&self) -> Http {
        Http::new(&self.server.url()).expect("a URL")
    }

    pub(crate) fn oauth(&self) -> OAuth {
        OAuth::new().folder(self.folder.path())
    }

    async fn login(&self) {
        let login = self.oauth().login(&self.http(), browse).await;
        login.expect("a login");
    }

    /// The error of a login. If it comes before the browser, the URL must not be shown.
    pub(crate) async fn login_error(&self, is_shown: bool) -> Error {
        let mut shown = false;
        let show = |url: &str| {
            shown = true;
            browse(url);
        };
        let error = self.oauth().login(&self.http(), show).await;
        let error = error.expect_err("an error");
        assert_eq!(shown, is_shown, "{error}");
        assert_eq!(self.server.count("authorization_code"), 0, "{error}");
        assert_eq!(error.target(), Some(&*self.server.url()));
        error
    }

    async fn connect(&self) -> Result<Session, Error> {
        let options = Options::new().oauth(self.oauth());
        Session::connect_with(&self.http().into(), &options).await
    }

    pub(crate) async fn session(&self) -> Session {
        self.connect().await.expect("a session")
    }

    /// The files of logins, without those that are only locked.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let paths = paths.filter(|path| path.extension().is_some_and(|end| end == "json"));
        paths
            .map(|path| std::fs::read_to_string(path).expect("a file"))
            .collect()
    }

    /// Runs a test of this file in another process. Returns its output, which has no secret.
    async fn child(&self, name: &str) -> String {
        let program = std::env::current_exe().expect("a path");
        let mut command = Command::new(program);
        command
            .args(["--exact", &format!("oauth::{name}"), "--nocapture"])
            .env(URL, self.server.url())
            .env(FOLDER, self.folder.path())
            .env(CLIENT_SECRET, ROBOT_SECRET)
            .stdin(Stdio::null());
        let ended = tokio::task::spawn_blocking(move || command.output()).await;
        let output = ended.expect("a task").expect("output");
        let text = [&*output.stdout, &*output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{text}"
        );
        assert!(!text.contains(SECRET), "{text}");
        text
    }
}

/// The server and the folder of the process that has started this one.
fn parent() -> Option<(Http, OAuth)> {
    let url = std::env::var(URL).ok()?;
    let folder = std::env::var_os(FOLDER)?;
    let http = Http::new(&url).expect("a URL");
    Some((http, OAuth::new().folder(Path::new(&folder))))
}

async fn count(http: &Http, oauth: &OAuth) -> usize {
    let options = Options::new().oauth(oauth.clone());
    let session = Session::connect_with(&http.clone().into(), &options).await;
    count_tools(&session.expect("a session")).await
}

#[tokio::test]
async fn a_login_gives_sessions_a_token() {
    for is_openid in [false, true] {
        let stage = Stage::new(AuthorizationServer {
            is_openid,
            ..Default::default()
        })
        .await;
        let login = stage.oauth().login(&stage.http(), browse).await;
        let login = login.expect("a login");
        assert_eq!(format!("{}/mcp", login.issuer()), stage.server.url());
        assert_eq!(login.client_id(), "client-1");
        assert_eq!(login.scopes(), ["read", "offline_access"]);
        assert_eq!(count_tools(&stage.session().await).await, 1);
        assert_eq!(stage.server.count("refresh_token"), 0);
        let files = stage.files();
        assert_eq!(files.len(), 1);
        assert!(!files[0].contains("id_token"), "only what is needed");
    }
}

#[tokio::test]
async fn without_a_login_the_error_says_how_to_log_in() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    let error = stage.connect().await.expect_err("no token");
    assert_eq!(error.kind(), ErrorKind::Authentication);
    let command = format!("`servlet login {}`", stage.server.url());
    assert!(error.to_string().contains(&command), "{error}");
    let entries = std::fs::read_dir(stage.folder.path()).expect("a folder");
    assert_eq!(entries.count(), 0, "nothing is written");
}

#[tokio::test]
async fn a_client_may_be_named_by_the_url_of_its_metadata() {
    for (reads_client_metadata, client) in [
        (true, "https://client.example/metadata.json"),
        (false, "client-1"),
    ] {
        let stage = Stage::new(AuthorizationServer {
            reads_client_metadata,
            ..Default::default()
        })
        .await;
        let oauth = stage
            .oauth()
            .client_metadata("https://client.example/metadata.json");
        let login = oauth.login(&stage.http(), browse).await.expect("a login");
        assert_eq!(login.client_id(), client);
        assert_eq!(count(&stage.http(), &oauth).await, 1);
    }
}

#[tokio::test]
async fn a_missing_scope_is_added_to_those_of_the_login() {
    let stage = Stage::new(AuthorizationServer {
        needed_scope: "write",
        ..Default::default()
    })
    .await;
    let read = stage.oauth().scope("read");
    read.login(&stage.http(), browse).await.expect("a login");
    let error = stage.connect().await.expect_err("a scope is missing");
    assert_eq!(error.kind(), ErrorKind::Authentication);
    let command = format!("`servlet login {} --scope 'write'`", stage.server.url());
    assert!(error.to_string().contains(&command), "{error}");
    let write = stage.oauth().scope("write");
    let login = write.login(&stage.http(), browse).await.expect("a login");
    assert_eq!(login.scopes(), ["read", "offline_access", "write"]);
    assert_eq!(count_tools(&stage.session().await).await, 1);
}

#[tokio::test]
async fn an_expired_token_is_renewed() {
    let stage = Stage::new(AuthorizationServer {
        first_lifetime: 0,
        ..Default::default()
    })
    .await;
    stage.login().await;
    for _ in 0..2 {
        assert_eq!(count_tools(&stage.session().await).await, 1);
        assert_eq!(stage.server.count("refresh_token"), 1);
    }
}

#[tokio::test]
async fn a_token_that_lasts_a_few_seconds_is_used_until_half_of_them_are_over() {
    let stage = Stage::new(AuthorizationServer {
        first_lifetime: 0,
        lifetime: 29,
        ..Default::default()
    })
    .await;
    stage.login().await;
    for _ in 0..3 {
        assert_eq!(count_tools(&stage.session().await).await, 1);
        assert_eq!(stage.server.count("refresh_token"), 1);
    }
}

#[tokio::test]
async fn servers_that_differ_in_the_query_have_their_own_logins() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    let tenant = |name| {
        let url = format!("{}?tenant={name}", stage.server.url());
        Http::new(&url).expect("a URL")
    };
    let login = stage.oauth().login(&tenant("a"), browse).await;
    login.expect("a login");
    assert_eq!(count(&tenant("a"), &stage.oauth()).await, 1);
    let options = Options::new().oauth(stage.oauth());
    let other = Session::connect_with(&tenant("b").into(), &options).await;
    let error = other.expect_err("no login");
    assert_eq!(error.kind(), ErrorKind::Authentication);
    assert!(!error.to_string().contains("tenant"), "{error}");
}

#[tokio::test]
async fn a_server_with_a_name_is_called_by_it() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    let http = stage.http().name("notes");
    let options = Options::new().oauth(stage.oauth());
    let connect = async || Session::connect_with(&http.clone().into(), &options).await;
    let no_login = connect().await.expect_err("no token");
    stage.login().await;
    stage.server.expire_tokens();
    stage.server.expire_logins();
    for error in [no_login, connect().await.expect_err("no login")] {
        let text = format!("{error} {error:?}");
        assert!(text.contains("`servlet login notes`"), "{text}");
        assert!(!text.contains("/mcp"), "{text}");
    }
}

#[tokio::test]
async fn a_refused_token_is_renewed_once_for_all_requests() {
    let stage = Stage::new(AuthorizationServer {
        token_wait: Duration::from_millis(50),
        ..Default::default()
    })
    .await;
    stage.login().await;
    let session = stage.session().await;
    stage.server.expire_tokens();
    let lists = futures_util::future::join_all((0..4).map(|_| count_tools(&session)));
    assert_eq!(lists.await, [1; 4]);
    assert_eq!(stage.server.count("refresh_token"), 1);
}

#[tokio::test]
async fn a_login_that_has_ended_says_so() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    stage.login().await;
    stage.server.expire_tokens();
    stage.server.expire_logins();
    let error = stage.connect().await.expect_err("an error");
    assert_eq!(error.kind(), ErrorKind::Authentication);
    assert_eq!(error.message(), "the login has ended");
    assert!(error.to_string().contains("`servlet login "), "{error}");
}

#[tokio::test]
async fn a_renewal_is_stored_even_if_the_connection_is_given_up() {
    let stage = Stage::new(AuthorizationServer {
        first_lifetime: 0,
        token_wait: Duration::from_millis(500),
        ..Default::default()
    })
    .await;
    stage.login().await;
    let options = Options::new().oauth(stage.oauth());
    let options = options.connect_timeout(Duration::from_millis(300));
    // Here, the future that is dropped is the one that renews.
    let http = stage.http().transport(HttpTransport::Sse);
    let given_up = Session::connect_with(&http.into(), &options).await;
    let error = given_up.expect_err("no time");
    assert_eq!(error.kind(), ErrorKind::RequestTimeout);
    assert_eq!(count_tools(&stage.session().await).await, 1);
    assert_eq!(stage.server.count("refresh_token"), 1);
}

#[tokio::test]
async fn a_login_works_over_http_with_sse() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    stage.login().await;
    let url = stage.server.url();
    let http = Http::new(url.trim_end_matches("/mcp")).expect("a URL");
    let http = http.transport(HttpTransport::Sse);
    assert_eq!(count(&http, &stage.oauth()).await, 1);
}

#[tokio::test]
async fn a_header_of_the_target_goes_before_the_login() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    stage.login().await;
    let http = stage.http().header("Authorization", "Bearer of-the-target");
    let options = Options::new().oauth(stage.oauth());
    let target = http.expect("a header").into();
    let error = Session::connect_with(&target, &options).await;
    assert_eq!(
        error.expect_err("a wrong token").kind(),
        ErrorKind::Authentication
    );
    assert_eq!(stage.server.count("refresh_token"), 0);
}

/// Starts itself in other processes, which connect.
#[tokio::test]
async fn processes_renew_a_login_once() {
    if let Some((http, oauth)) = parent() {
        assert_eq!(count(&http, &oauth).await, 1);
        return;
    }
    let stage = Stage::new(AuthorizationServer {
        first_lifetime: 0,
        token_wait: Duration::from_millis(300),
        ..Default::default()
    })
    .await;
    stage.login().await;
    let children = (0..3).map(|_| stage.child("processes_renew_a_login_once"));
    futures_util::future::join_all(children).await;
    assert_eq!(stage.server.count("refresh_token"), 1);
}

/// Starts itself in another process, which has the secret of the client in its environment.
#[tokio::test]
async fn a_program_logs_in_with_its_secret() {
    if let Some((http, oauth)) = parent() {
        let oauth = oauth.client_id(ROBOT).client_secret_env(CLIENT_SECRET);
        let login = oauth.login_with_secret(&http).await.expect("a login");
        assert_eq!(login.client_id(), ROBOT);
        assert_eq!(count(&http, &oauth).await, 1);
        return;
    }
    let stage = Stage::new(AuthorizationServer {
        first_lifetime: 0,
        ..Default::default()
    })
    .await;
    stage.child("a_program_logs_in_with_its_secret").await;
    assert_eq!(stage.server.count("client_credentials"), 2, "renewed once");
    let files = stage.files();
    assert!(files[0].contains(CLIENT_SECRET), "the name of the variable");
    assert!(!files[0].contains(ROBOT_SECRET));
}

#[tokio::test]
async fn a_login_without_a_browser_needs_a_secret() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    let oauth = stage.oauth().client_id(ROBOT);
    let error = oauth.login_with_secret(&stage.http()).await;
    let error = error.expect_err("no secret");
    assert_eq!(error.kind(), ErrorKind::Authentication);
    let oauth = oauth.client_secret_env("PUPPET_TEST_NOT_SET");
    let error = oauth.login_with_secret(&stage.http()).await;
    let error = error.expect_err("no secret");
    assert!(
        error.message().contains("`PUPPET_TEST_NOT_SET` is not set"),
        "{error}"
    );
}

#[tokio::test]
async fn a_logout_revokes_the_tokens_and_removes_the_file() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    stage.login().await;
    let logout = async || stage.oauth().logout(&stage.http()).await.expect("a logout");
    assert_eq!(stage.server.logins(), 1);
    assert_eq!(logout().await, LoggedOut::Revoked);
    assert_eq!(stage.server.logins(), 0);
    let left = std::fs::read_dir(stage.folder.path()).expect("a folder");
    assert_eq!(left.count(), 0, "neither a login nor a lock is left");
    let error = stage.connect().await.expect_err("no token");
    assert_eq!(error.kind(), ErrorKind::Authentication);
    assert_eq!(logout().await, LoggedOut::NotLoggedIn);
}

#[tokio::test]
async fn logins_belong_to_a_server_and_a_client() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    stage.login().await;
    let other = stage.oauth().client_id("other");
    let options = Options::new().oauth(other);
    let connected = Session::connect_with(&stage.http().into(), &options).await;
    let error = connected.expect_err("another client");
    assert_eq!(error.kind(), ErrorKind::Authentication);
}

/// Starts itself in another process, which logs everything.
#[tokio::test]
async fn no_secret_is_logged_or_shown() {
    let stage = Stage::new(AuthorizationServer {
        first_lifetime: 0,
        ..Default::default()
    })
    .await;
    if parent().is_some() {
        return log_everything(&stage).await;
    }
    let output = stage.child("no_secret_is_logged_or_shown").await;
    for expected in ["TRACE", "login renewed", "the login has ended", "OAuth {"] {
        assert!(output.contains(expected), "{expected}: {output}");
    }
}

async fn log_everything(stage: &Stage) {
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(std::io::stderr)
        .init();
    let login = stage.oauth().login(&stage.http(), browse).await;
    let options = Options::new().oauth(stage.oauth());
    let session = stage.session().await;
    count_tools(&session).await;
    stage.server.expire_tokens();
    count_tools(&session).await;
    assert_eq!(stage.server.count("refresh_token"), 2);
    stage.server.expire_tokens();
    stage.server.expire_logins();
    let error = session.ping().await.expect_err("no login");
    eprintln!("{login:?} {options:?} {session:?} {error} {error:?}");
    stage.oauth().logout(&stage.http()).await.expect("a logout");
}
