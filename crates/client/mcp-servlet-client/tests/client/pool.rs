//! Pools, and when they open and close sessions.

use std::time::Duration;

use mcp_servlet_client::{Era, Options, Pool};
use puppet::{Puppet, eventually};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use crate::support::{arrived, command, http_target};

/// A pool for a puppet over HTTP that closes its session after 50 ms.
async fn pool(script: &str) -> (Pool, Puppet) {
    let (target, puppet) = http_target(script).await;
    let options = Options::new().era(Era::Handshake);
    (
        Pool::new(target, options, Duration::from_millis(50)),
        puppet,
    )
}

/// Waits until this many sessions were deleted.
async fn deleted(puppet: &Puppet, sessions: usize) {
    let is_deletion = |one: &&Value| one["http"] == "DELETE";
    eventually(format!("{sessions} deletions"), async || {
        puppet.log().iter().filter(is_deletion).count() >= sessions
    })
    .await;
}

#[tokio::test]
async fn an_idle_session_is_deleted_and_opened_again() {
    let (pool, puppet) = pool("plain").await;
    for opened in 1..=2 {
        let session = pool.session().await.expect("a session");
        session.ping().await.expect("an answer");
        drop(session);
        assert_eq!(puppet.received("initialize"), opened);
        deleted(&puppet, opened).await;
    }
}

#[tokio::test]
async fn an_idle_process_gets_the_end_of_its_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let command = command("plain").args(["--log".as_ref(), log.as_os_str()]);
    let pool = Pool::new(command.into(), Options::new(), Duration::from_millis(50));
    pool.session().await.expect("a session");
    // The puppet writes its log when its input ends.
    eventually("the log", async || log.exists()).await;
}

#[tokio::test]
async fn a_session_in_use_is_shared_and_stays_open() {
    let (pool, puppet) = pool("plain").await;
    let (first, second) = tokio::join!(pool.session(), pool.session());
    let (first, second) = (first.expect("a session"), second.expect("a session"));
    assert_eq!(puppet.received("initialize"), 1);
    drop(first);
    // Sessions that begin later and are not used end meanwhile.
    let (other, others) = self::pool("plain").await;
    for ended in 1..=2 {
        other.session().await.expect("a session");
        deleted(&others, ended).await;
    }
    second.ping().await.expect("an answer");
    assert!(!puppet.log().iter().any(|one| one["http"] == "DELETE"));
    drop(second);
    pool.close().await;
    let last = puppet.log().pop().expect("an entry");
    assert_eq!(last, json!({ "http": "DELETE", "session": "session-1" }));
}

#[tokio::test]
async fn a_session_that_has_ended_is_replaced() {
    let pool = Pool::new(
        command("dies-in-call").into(),
        Options::new(),
        Duration::from_mins(1),
    );
    for _ in 0..2 {
        let session = pool.session().await.expect("a session");
        session
            .call("any", Value::Null)
            .await
            .expect_err("it ended");
        assert!(session.has_ended());
    }
}

#[tokio::test]
async fn a_session_that_was_replaced_leaves_no_task() {
    let pool = Pool::new(
        command("dies-in-call").into(),
        Options::new(),
        Duration::from_millis(50),
    );
    for _ in 0..2 {
        let session = pool.session().await.expect("a session");
        let result = session.call("any", Value::Null).await;
        result.expect_err("it ended");
    }
    // The pool is still there, and the second session is closed when it is idle.
    let tasks = Handle::current().metrics();
    eventually("no task is left", async || tasks.num_alive_tasks() == 0).await;
    drop(pool);
}

#[tokio::test]
async fn a_dropped_pool_closes_its_session() {
    let (pool, puppet) = pool("plain").await;
    pool.session().await.expect("a session");
    drop(pool);
    arrived(&puppet, "initialize").await;
    deleted(&puppet, 1).await;
}
