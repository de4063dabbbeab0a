//! Sessions with a puppet.

use mcp_servlet_client::{Command, Era, ErrorKind, Options, Session, Target};
use puppet::{Puppet, eventually};
use serde_json::Value;

pub(crate) const ERAS: [Era; 2] = [Era::Handshake, Era::Stateless];

/// A session with a puppet at the other end of a pipe.
pub(crate) async fn attach(script: &str) -> (Session, Puppet) {
    attach_with(script, &Options::new()).await
}

pub(crate) async fn attach_with(script: &str, options: &Options) -> (Session, Puppet) {
    let puppet = Puppet::new(script);
    let (reader, writer) = puppet.pipe();
    let session = Session::attach(reader, writer, options).await;
    (session.expect("a session"), puppet)
}

/// A session with a puppet over streamable HTTP.
pub(crate) async fn connect_http(script: &str) -> (Session, Puppet) {
    let (target, puppet) = http_target(script).await;
    let session = Session::connect(&target).await;
    (session.expect("a session"), puppet)
}

/// The URL of a puppet.
pub(crate) async fn http_target(script: &str) -> (Target, Puppet) {
    let puppet = Puppet::new(script);
    let address = puppet.http().await;
    let target = format!("http://{address}").parse();
    (target.expect("a URL"), puppet)
}

/// The URL of a puppet with this script.
pub(crate) async fn url(script: Value) -> (String, Puppet) {
    let puppet = Puppet::with(serde_json::from_value(script).expect("a script"));
    let address = puppet.http().await;
    (format!("http://{address}/mcp"), puppet)
}

/// Checks that a call of a server that ends during it fails, and that it was sent once.
pub(crate) async fn ends_during_a_call(session: &Session, puppet: &Puppet) {
    let error = session.call("any", Value::Null).await;
    let error = error.expect_err("an error");
    assert_eq!(error.kind(), ErrorKind::Connectivity, "{error}");
    assert_eq!(puppet.received("tools/call"), 1);
    assert_eq!(session.waiting(), 0);
}

/// Waits until a message has arrived.
pub(crate) async fn arrived(puppet: &Puppet, method: &str) -> Value {
    eventually(method, async || {
        let log = puppet.log();
        log.into_iter().find(|one| one["method"] == method)
    })
    .await
}

/// Waits until no request counts as cancelled.
pub(crate) async fn forgotten(session: &Session) {
    eventually("no request counts as cancelled", async || {
        !session.has_cancelled()
    })
    .await;
}

/// A puppet as a process.
pub(crate) fn command(script: &str) -> Command {
    Command::new(puppet::program()).args([script])
}

/// All lists of a server, as JSON.
pub(crate) async fn lists_json(session: &Session) -> String {
    serde_json::to_string(&session.lists().await.expect("lists")).expect("JSON")
}

/// How many tools a server lists.
pub(crate) async fn count_tools(session: &Session) -> usize {
    let lists = session.lists().await.expect("lists");
    lists.tools.expect("a list of tools").len()
}
