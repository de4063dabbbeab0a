//! The end of a server behind a load balancer.
#![cfg(unix)]

mod folder;
#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    process::Command,
    time::{Duration, Instant},
};

use puppet::eventually_blocking;
use wire::{Http, Process};

use crate::folder::folder;

#[test]
fn a_process_that_leaves_answers_until_load_balancers_know() {
    let servlet = "[http]\nleave = \"6s\"\n[servlet.a]\nsource = \"a.wasm\"\n";
    let folder = folder(servlet);
    let mut serve = Command::new(env!("CARGO_BIN_EXE_servlet"));
    serve.args(["serve", "servlet.toml", "--http", "127.0.0.1:0"]);
    let mut serve = Process::connect(serve.current_dir(&folder));
    let http = Http::new(serve.said_after("listening on "));
    let status = |path: &str| http.at(path).get().status();
    assert_eq!(status("/ready"), 200);
    let start = Instant::now();
    serve.signal("TERM");
    eventually_blocking("load balancers learn it", || status("/ready") != 200);
    assert_eq!(status("/health"), 200);
    assert_eq!(http.initialize().status(), 200);
    let ended = serve.ended();
    assert!(ended.success(), "{ended:?}");
    assert!(start.elapsed() >= Duration::from_secs(6));
}
