//! Endpoints that list bundles and remotes.

use puppet::eventually;
use serde_json::json;

use crate::{
    site::{OLD, PIPE, Site, WAYS, WEB, Way, tools},
    wasm::servlet,
};

const SERVLET: &str = "[servlet.a]\nsource = \"a.wasm\"\n";
const BUNDLE: &str = "[bundle.ops.tool.run]\nhandler = \"a:x\"\n";
const ALIKE: &str = "[bundle.data.tool.run]\nhandler = \"a:y\"\n";

async fn site(config: &str) -> Site {
    Site::start(config, &[("a.wasm", &servlet(&["x", "y"], "a"))]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn virtual_tools_call_servlets_that_the_endpoint_does_not_list() {
    let ops = "bundles = [\"ops\"]\n";
    let site = site(&format!("{WEB}{ops}{OLD}{ops}{PIPE}{ops}{SERVLET}{BUNDLE}")).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await, ["run"], "{way:?}");
        let called = session.call("run", json!({})).await.expect("a result");
        assert_eq!(called.text(), "a", "{way:?}");
        let hidden = session.call("x", json!({})).await;
        let error = hidden.expect_err("an unknown tool").to_string();
        assert!(error.contains("unknown tool `x`"), "{way:?}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_without_a_bundle_does_not_know_its_tools() {
    let site = site(&format!(
        "{WEB}bundles = [\"a\"]\n{PIPE}bundles = [\"data\", \"a\"]\n{SERVLET}{BUNDLE}{ALIKE}"
    ))
    .await;
    let web = site.connect(Way::HttpModern, "web").await;
    assert_eq!(tools(&web).await, ["x", "y"]);
    let pipe = site.connect(Way::PipeModern, "pipe").await;
    assert_eq!(tools(&pipe).await, ["run", "x", "y"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_listed_in_the_order_of_the_endpoint() {
    let more = "[servlet.b]\nsource = \"a.wasm\"\ntools.only = [\"x\"]\n[bundle.data.tool.last]\nhandler = \"b:y\"\n";
    let members = "bundles = [\"b\", \"data\", \"a\", \"ops\"]\n";
    let site = site(&format!(
        "{WEB}{members}{OLD}{members}{PIPE}{members}{SERVLET}{BUNDLE}{more}"
    ))
    .await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let expected = ["b_x", "last", "a_x", "y", "run"];
        assert_eq!(tools(&session).await, expected, "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_is_a_member_and_a_handler() {
    let other = site(&format!("{WEB}{SERVLET}")).await;
    let url = other.url("web");
    let config = format!(
        "{WEB}bundles = [\"far\"]\n{PIPE}bundles = [\"ops\"]\n\
        [remote.far]\nurl = \"{url}\"\nrequired = true\n\
        [bundle.ops.tool.run]\nhandler = \"far:x\"\n"
    );
    let site = Site::start(&config, &[]).await;
    for way in [Way::HttpLegacy, Way::HttpModern] {
        let session = site.connect(way, "web").await;
        assert_eq!(tools(&session).await, ["x", "y"], "{way:?}");
    }
    for way in [Way::PipeLegacy, Way::PipeModern] {
        let session = site.connect(way, "pipe").await;
        eventually("the virtual tool", async || {
            tools(&session).await == ["run"]
        })
        .await;
        let called = session.call("run", json!({})).await.expect("a result");
        assert_eq!(called.text(), "a", "{way:?}");
    }
}
