//! `servlet login` and `servlet logout`, with a server that requires a login.

mod folder;
mod processes;
#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use processes::Server;
use puppet::{AuthorizationServer, ProtectedServer, ROBOT, ROBOT_SECRET, SECRET, browse};
use tempfile::TempDir;

/// A server, and the home of a user.
struct Stage {
    server: ProtectedServer,
    home: TempDir,
}

impl Stage {
    async fn new(rules: AuthorizationServer) -> Self {
        Self {
            server: rules.start().await,
            home: tempfile::tempdir().expect("a folder"),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
        command
            .args(arguments)
            .current_dir(self.home.path())
            .env("HOME", self.home.path())
            .env("XDG_STATE_HOME", self.home.path().join("state"))
            .env("ROBOT_SECRET", ROBOT_SECRET)
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command that opens no browser.
    async fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(arguments);
        let ended = tokio::task::spawn_blocking(move || command.output()).await;
        ended.expect("a task").expect("output")
    }

    /// Runs a login, and opens the URL that it prints.
    async fn log_in(&self, arguments: &[&str]) -> (String, i32) {
        let mut child = self.command(arguments).spawn().expect("a process");
        let ended = tokio::task::spawn_blocking(move || {
            let mut log = String::new();
            let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
            while stderr.read_line(&mut log).expect("text") > 0 {
                let last = log.lines().last().unwrap_or_default();
                if let Some(url) = last.strip_prefix("  http") {
                    browse(&format!("http{url}"));
                }
            }
            let mut stdout = child.stdout.take().expect("a pipe");
            stdout.read_to_string(&mut log).expect("text");
            let status = child.wait().expect("an end");
            (log, status.code().unwrap_or_default())
        });
        ended.await.expect("a task")
    }

    /// How many logins are stored.
    fn stored(&self) -> usize {
        let folder = self.home.path().join("state/mcp-servlet/logins");
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        let is_login = |path: &Path| path.extension().is_some_and(|end| end == "json");
        entries
            .filter(|entry| entry.as_ref().is_ok_and(|entry| is_login(&entry.path())))
            .count()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn a_user_logs_in_and_out() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    let url = stage.server.url();
    let (log, code) = stage.log_in(&["login", &url, "--no-browser", "-vvv"]).await;
    assert_eq!(code, 0, "{log}");
    let report = format!("logged in to `{url}`, with the scopes: read offline_access\n");
    assert!(log.ends_with(&report), "{log}");
    assert!(!log.contains(SECRET), "{log}");
    assert_eq!(stage.stored(), 1);
    let output = stage.run(&["logout", &url, "-vvv"]).await;
    assert_eq!(text(&output.stdout), format!("logged out of `{url}`\n"));
    assert!(!text(&output.stderr).contains(SECRET));
    assert_eq!((stage.stored(), stage.server.logins()), (0, 0));
    let output = stage.run(&["logout", &url]).await;
    assert_eq!(
        text(&output.stdout),
        format!("there is no login to `{url}`\n")
    );
}

#[tokio::test]
async fn no_secret_is_logged_when_a_login_is_renewed_or_has_ended() {
    let stage = Stage::new(AuthorizationServer {
        first_lifetime: 0,
        ..Default::default()
    })
    .await;
    let url = stage.server.url();
    let (log, code) = stage.log_in(&["login", &url, "--no-browser", "-vvv"]).await;
    assert_eq!(code, 0, "{log}");
    let mut logs = vec![log];
    for (code, renewals) in [(0, 1), (13, 2)] {
        let output = stage.run(&["catalog", &url, "-vvv"]).await;
        let log = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{log}");
        assert_eq!(stage.server.count("refresh_token"), renewals, "{log}");
        logs.push(log);
        stage.server.expire_tokens();
        stage.server.expire_logins();
    }
    for secret in [&[SECRET.to_owned()][..], &stage.server.verifiers()].concat() {
        assert!(logs.iter().all(|log| !log.contains(&secret)), "{logs:?}");
    }
}

#[tokio::test]
async fn a_refused_registration_ends_at_once() {
    let stage = Stage::new(AuthorizationServer {
        refuses_clients: true,
        ..Default::default()
    })
    .await;
    let output = stage.run(&["login", &stage.server.url()]).await;
    assert_eq!(output.status.code(), Some(13));
    let error = text(&output.stderr);
    assert!(error.contains("refuses to register this client"), "{error}");
    assert!(!error.contains("open this URL"), "{error}");
}

#[tokio::test]
async fn a_program_logs_in_without_a_browser() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    let url = stage.server.url();
    let client = ["--client-id", ROBOT, "--client-secret-env", "ROBOT_SECRET"];
    let login = [
        &["login", &url, "--client-credentials", "-vvv"][..],
        &client,
    ]
    .concat();
    let output = stage.run(&login).await;
    let log = text(&output.stderr);
    assert!(output.status.success(), "{log}");
    assert!(!log.contains(SECRET), "{log}");
    assert_eq!(stage.stored(), 1);
    // The only login to the server needs no `--client-id`.
    let output = stage.run(&["logout", &url]).await;
    assert_eq!(text(&output.stdout), format!("logged out of `{url}`\n"));
}

#[tokio::test]
async fn a_server_has_the_name_that_a_client_configures() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    let servers = format!(
        r#"{{ "mcpServers": {{ "notes": {{ "type": "http", "url": "{}" }}, "tool": {{ "command": "x" }} }} }}"#,
        stage.server.url()
    );
    std::fs::write(stage.home.path().join(".mcp.json"), servers).expect("a file");
    let (log, code) = stage
        .log_in(&["login", "notes", "--no-browser", "--scope", "read write"])
        .await;
    assert_eq!(code, 0, "{log}");
    let report = "logged in to `notes`, with the scopes: read write offline_access\n";
    assert!(log.ends_with(report), "{log}");
    for (name, error) in [
        ("tool", "`tool` is not at a URL"),
        ("other", "has a server `other`"),
        ("localhost:8080", "`http://localhost:8080/mcp`"),
    ] {
        let output = stage.run(&["login", name]).await;
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(text(&output.stderr).contains(error), "{name}");
    }
}

/// Logs in without a browser as [`ROBOT`].
async fn log_in_as_program(stage: &Stage, options: &[&str]) -> Output {
    let client = ["--client-id", ROBOT, "--client-secret-env", "ROBOT_SECRET"];
    let login = [&["login", "--client-credentials"][..], &client, options].concat();
    stage.run(&login).await
}

#[tokio::test]
async fn one_of_several_clients_is_chosen_by_its_id() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    let url = stage.server.url();
    let output = log_in_as_program(&stage, &[&url]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    // The same login under the id of another client, as if that had logged in.
    let folder = stage.home.path().join("state/mcp-servlet/logins");
    let entries = std::fs::read_dir(&folder).expect("a folder");
    let first = entries
        .map(|entry| entry.expect("an entry").path())
        .find(|path| path.extension().is_some_and(|end| end == "json"))
        .expect("a login");
    let login = std::fs::read_to_string(&first).expect("a login");
    let name = first
        .file_stem()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let (server, _) = name.rsplit_once('-').expect("a server and a client");
    let other = folder.join(format!("{server}-0000000000000001.json"));
    std::fs::copy(&first, &other).expect("a copy");
    std::fs::write(&other, login.replace("\"robot\"", "\"other\"")).expect("a login");

    for command in ["catalog", "logout"] {
        let output = stage.run(&[command, &url]).await;
        assert_eq!(output.status.code(), Some(13));
        let error = text(&output.stderr);
        let help = "choose one with `--client-id ID`: `other`, `robot`";
        assert!(error.contains(help), "{error}");
        let output = stage.run(&[command, &url, "--client-id", ROBOT]).await;
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    assert_eq!(stage.stored(), 1);
}

#[tokio::test]
async fn a_login_has_the_options_of_connections() {
    let stage = Stage::new(AuthorizationServer::default()).await;
    let url = stage.server.url();
    let base = url.trim_end_matches("/mcp");
    let servers = format!(
        r#"{{ "mcpServers": {{ "notes": {{ "url": "{base}/secret-path", "disabled": true, "headers": {{ "Accept": "x" }} }} }} }}"#,
    );
    std::fs::write(stage.home.path().join("other.json"), servers).expect("a file");
    let server = ["--server", "notes", "--client-config", "other.json"];
    let options = [&server[..], &["--path", "/mcp", "--header", "X-A: b"]].concat();
    let output = log_in_as_program(&stage, &options).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("logged in to `notes`"));
    let output = stage.run(&[&["logout"], &options[..]].concat()).await;
    assert_eq!(text(&output.stdout), "logged out of `notes`\n");

    let catalog = [&["catalog"], &options[..]].concat();
    let output = stage.run(&catalog).await;
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(13));
    assert!(error.contains("`servlet login notes`"), "{error}");
    assert!(
        !error.contains("/mcp") && !error.contains("secret-path"),
        "{error}"
    );

    for (options, expected) in [
        (
            &["--header", "Accept: x"][..],
            "the header `Accept` cannot be set",
        ),
        (&["--tls-ca", "none.pem"], "cannot read `none.pem`"),
        (&["--server", "notes"], "is one server too many"),
    ] {
        let login = [&["login", &*url][..], options].concat();
        let output = stage.run(&login).await;
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(text(&output.stderr).contains(expected), "{options:?}");
    }
    let output = stage
        .run(&["login", "http://mcp.example", "--path", "/x"])
        .await;
    assert!(text(&output.stderr).contains("`http` is not encrypted"));
}

#[tokio::test]
async fn a_user_logs_in_to_an_endpoint_of_ours_and_asks_for_another_scope() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("an address");
    drop(free);
    let url = format!("http://{address}/mcp");
    let stage = Stage::new(AuthorizationServer {
        protects: Some(url.clone()),
        ..Default::default()
    })
    .await;
    let issuer = stage.server.issuer();
    let config = format!(
        "[listener.local]\naddress = \"{address}\"\n\
         [endpoint.main]\nkind = \"http\"\nlistener = \"local\"\nauth = \"corp\"\nurl = \"{url}\"\n\
         [auth.corp]\nscopes = [\"mcp\"]\n\
         [auth.corp.introspection]\nurl = \"{issuer}/introspect\"\nissuer = \"{issuer}\"\n\
         client = \"{ROBOT}\"\nsecret = \"{ROBOT_SECRET}\"\n\
         [servlet.a]\nsource = \"a.wasm\"\ntool.t = {{ scopes = [\"pay\"] }}\n"
    );
    let _server = Server::start(folder::folder(&config));
    let output = stage.run(&["call", &url, "t"]).await;
    assert_eq!(output.status.code(), Some(13), "{output:?}");
    let (log, code) = stage.log_in(&["login", &url, "--no-browser"]).await;
    assert_eq!(code, 0, "{log}");
    let output = stage.run(&["catalog", &url]).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    // The tool needs more than the endpoint.
    let output = stage.run(&["call", &url, "t"]).await;
    let error = text(&output.stderr);
    assert!(
        !output.status.success() && error.contains("`mcp pay`"),
        "{error}"
    );
    let more = ["login", &url, "--no-browser", "--scope", "mcp pay"];
    let (log, code) = stage.log_in(&more).await;
    assert_eq!(code, 0, "{log}");
    let output = stage.run(&["call", &url, "t"]).await;
    assert_eq!(text(&output.stdout), "answer\n", "{output:?}");
}
