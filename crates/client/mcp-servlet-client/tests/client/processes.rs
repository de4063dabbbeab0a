//! Servers that are processes: how they start, end and fail.

use std::time::{Duration, Instant};

use mcp_servlet_client::{Command, ErrorKind, Options, Session, Target};
use puppet::{PATIENCE, eventually};
use serde_json::Value;
use tokio::time::timeout;

use crate::support::command;

/// The methods in the log of a puppet.
fn logged(path: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a log");
    let messages = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    messages
        .filter_map(|message: Value| message["method"].as_str().map(str::to_owned))
        .collect()
}

/// Whether a process can get signals. `kill` is a part of every shell.
fn is_alive(process: &str) -> bool {
    let kill = format!("kill -0 {process} 2>/dev/null");
    let status = std::process::Command::new("sh")
        .args(["-c", &kill])
        .status();
    status.expect("a shell").success()
}

/// A command that writes its process id and plays a script.
fn shell(folder: &std::path::Path, script: &str) -> Command {
    let puppet = puppet::program();
    let pid = folder.join("pid");
    let text = format!("echo $$ > {}; {script}", pid.display()).replace("PUPPET", puppet);
    Command::new("sh").args(["-c", &text])
}

#[tokio::test]
async fn a_process_gets_arguments_variables_and_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "echo \"$GREETING $(pwd)\" >&2; exec {} dies-at-start",
        puppet::program()
    );
    let shell = Command::new("sh")
        .args(["-c", &text])
        .env("GREETING", "hello");
    let target = Target::from(shell.current_dir(folder.path()));
    let error = Session::connect(&target).await.expect_err("it ends");
    let expected = format!("hello {}", folder.path().display());
    assert!(error.stderr().contains(&expected), "{error}");
}

#[tokio::test]
async fn a_session_over_a_process_lists_calls_and_closes() {
    let folder = tempfile::tempdir().expect("a folder");
    let status = folder.path().join("status");
    let script = format!("PUPPET plain; echo $? > {}", status.display());
    let session = Session::connect(&shell(folder.path(), &script).into()).await;
    let session = session.expect("a session");
    let lists = session.lists().await.expect("lists");
    assert_eq!(lists.tools.map(|tools| tools.len()), Some(1));
    session.ping().await.expect("an answer");
    session.close().await;
    // A signal would have ended the shell as well, before it writes this.
    let status = std::fs::read_to_string(status).expect("the end of its input ended it");
    assert_eq!(status, "0\n");
}

/// Closes a session, and returns how long it took.
async fn close(session: Session) -> Duration {
    let start = Instant::now();
    let closed = timeout(PATIENCE, session.close()).await;
    closed.expect("the process is ended");
    start.elapsed()
}

#[tokio::test]
async fn a_process_that_stays_after_its_input_is_terminated() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = shell(folder.path(), "exec PUPPET plain --ignore-end");
    let session = Session::connect(&target.into()).await.expect("a session");
    let process = std::fs::read_to_string(folder.path().join("pid")).expect("a process id");
    assert!(is_alive(process.trim()));
    let passed = close(session).await;
    assert!(passed >= Duration::from_millis(500), "{passed:?}");
    assert!(!is_alive(process.trim()));
}

#[tokio::test]
async fn a_process_that_ignores_the_signal_is_killed_with_its_children() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "trap '' TERM; PUPPET plain --ignore-end; sleep 1000";
    let target = shell(folder.path(), script);
    let session = Session::connect(&target.into()).await.expect("a session");
    let process = std::fs::read_to_string(folder.path().join("pid")).expect("a process id");
    let passed = close(session).await;
    assert!(passed >= Duration::from_secs(1), "{passed:?}");
    assert!(!is_alive(process.trim()));
}

#[tokio::test]
async fn a_session_that_is_dropped_ends_its_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = shell(folder.path(), "exec PUPPET plain --ignore-end");
    let session = Session::connect(&target.into()).await.expect("a session");
    let process = std::fs::read_to_string(folder.path().join("pid")).expect("a process id");
    drop(session);
    gone(process.trim()).await;
}

#[tokio::test]
async fn connecting_that_is_cancelled_ends_the_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = shell(folder.path(), "exec PUPPET slow-handshake").into();
    let pid = folder.path().join("pid");
    let started = eventually("the process id", async || {
        let text = std::fs::read_to_string(&pid).ok()?;
        Some(text.strip_suffix('\n')?.to_owned())
    });
    let process = tokio::select! {
        _ = Session::connect(&target) => panic!("it never answers"),
        process = started => process,
    };
    gone(&process).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_process_starts_in_another_session_ends_with_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = folder.path().join("other");
    // The first one is a child of the command, and the second one of the system.
    let sleeper = format!(
        "setsid sh -c 'echo $$ >> {}; exec sleep 1000'",
        other.display()
    );
    let script = format!("{sleeper} & ({sleeper} &) ; exec PUPPET plain");
    let target = shell(folder.path(), &script);
    let session = Session::connect(&target.into()).await.expect("a session");
    let started = eventually("two processes", async || {
        let text = std::fs::read_to_string(&other).ok()?;
        (text.lines().count() == 2 && text.ends_with('\n')).then_some(text)
    })
    .await;
    assert!(started.lines().all(is_alive));
    session.close().await;
    for process in started.lines() {
        gone(process).await;
    }
}

/// Waits until a process has ended.
async fn gone(process: &str) {
    let end = format!("the end of process {process}");
    eventually(end, async || !is_alive(process)).await;
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_not_called_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let target = command("dies-in-call").args(["--log".as_ref(), log.as_os_str()]);
    let session = Session::connect(&target.into()).await.expect("a session");
    let error = session.call("any", Value::Null).await.expect_err("it died");
    assert_eq!(error.kind(), ErrorKind::Connectivity);
    assert_eq!(error.operation(), Some("tools/call"));
    assert!(error.message().contains("exit status: 3"), "{error}");
    assert!(
        error.stderr().contains(&"about to crash".to_owned()),
        "{error}"
    );
    session.close().await;
    let calls = logged(&log)
        .into_iter()
        .filter(|method| method == "tools/call");
    assert_eq!(calls.count(), 1);
}

/// Writes a line of 17 MiB, and does not end.
const LONG_LINE: &str = "read line; head -c 17825792 /dev/zero | tr '\\0' x; echo; sleep 1000";

#[tokio::test]
async fn a_line_above_the_limit_fails_before_its_process_ends() {
    let target = Target::from(Command::new("sh").args(["-c", LONG_LINE]));
    let error = Session::connect(&target).await.expect_err("a limit");
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[tokio::test]
async fn ten_thousand_calls_leave_neither_a_request_nor_a_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = shell(folder.path(), "exec PUPPET plain");
    let session = Session::connect(&target.into()).await.expect("a session");
    let process = std::fs::read_to_string(folder.path().join("pid")).expect("a process id");
    for number in 0..10_000 {
        let call = session.call("weather", serde_json::json!({ "city": "Oslo" }));
        if number % 3 == 0 {
            let mut call = std::pin::pin!(call);
            assert!(futures_util::poll!(&mut call).is_pending());
        } else {
            call.await.expect("a result");
        }
    }
    session.ping().await.expect("an answer");
    assert_eq!(session.waiting(), 0);
    session.close().await;
    assert!(!is_alive(process.trim()));
}

#[tokio::test]
async fn a_server_that_ends_at_the_probe_is_started_once_more_without_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let target = command("exits-at-probe").args(["--log".as_ref(), log.as_os_str()]);
    let session = Session::connect(&target.into()).await.expect("a session");
    let lists = session.lists().await.expect("lists");
    assert_eq!(lists.protocol, "2025-11-25");
    session.close().await;
    let methods = logged(&log);
    let expected = [
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/list",
    ];
    assert_eq!(methods, expected);
}

/// It takes the three seconds that the client waits for an answer.
#[tokio::test]
async fn a_server_that_ignores_the_probe_or_answers_late_gets_the_handshake() {
    let open = async |script| {
        let (reader, writer) = puppet::Puppet::new(script).pipe();
        let session = Session::attach(reader, writer, &Options::new()).await;
        let session = session.expect("a session");
        assert!(session.lists().await.is_ok());
        session.server().protocol.clone()
    };
    let protocols = tokio::join!(open("deaf"), open("late-probe"));
    assert_eq!(
        protocols,
        ("2025-06-18".to_owned(), "2025-11-25".to_owned())
    );
}

/// It takes those three seconds, and the time that the server then needs once more.
#[tokio::test]
async fn a_server_that_answers_the_probe_late_and_refuses_the_handshake_is_started_once_more() {
    let target = command("late-then-strict").into();
    // Each start takes 3.5 s.
    let options = Options::new().connect_timeout(Duration::from_secs(6));
    let session = Session::connect_with(&target, &options).await;
    let session = session.expect("a session");
    assert_eq!(session.server().protocol, "2026-07-28");
    assert!(session.lists().await.is_ok());
}

/// A server that writes something and then opens no session, and the error for it.
async fn silent_after(output: &str) -> mcp_servlet_client::Error {
    let target = Command::new("sh").args(["-c", &format!("{output}; exec sleep 60")]);
    let mut timeouts = mcp_servlet_client::Timeouts::default();
    timeouts.connect = Duration::from_millis(500);
    let options = Options::new().timeouts(timeouts);
    let opened = Session::connect_with(&target.into(), &options).await;
    opened.expect_err("it is silent")
}

#[tokio::test]
async fn a_server_over_http_instead_of_standard_input_is_named() {
    for stream in ["", " >&2"] {
        let output = format!(
            "echo starting{stream}; echo 'MCP server listening on http://localhost:3001/mcp'{stream}"
        );
        let error = silent_after(&output).await;
        assert_eq!(error.kind(), ErrorKind::RequestTimeout);
        let help = error.help().expect("help");
        let expected = "it listens on `http://localhost:3001/mcp` instead of standard input";
        assert!(help.starts_with(expected), "{help}");
    }
}

#[tokio::test]
async fn a_silent_server_is_quoted() {
    let output = r"printf '\033[31mno key\033[0m\n' >&2; echo one; echo two; echo three; echo four; echo five";
    let error = silent_after(output).await;
    assert_eq!(error.stderr(), ["no key"]);
    let expected = "its output begins with `one`, `two`, `three`, and ends with `five`, instead of MCP messages";
    assert_eq!(error.help(), Some(expected));
}
