//! Minor page faults of calls. Linux counts them per process, so this file has one test. It needs Linux 6.7 (`PAGEMAP_SCAN`).
#![cfg(target_os = "linux")]

mod support;

use std::fs;

use mcp_servlet_host::Servlet;
use mcp_servlet_runtime::{Isolation, LoadOptions, Quality, block_on};
use serde_json::json;
use support::tools;

const CALLS: u64 = 500;

/// The minor page faults of this process so far.
fn given() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("statistics");
    let (_, fields) = stat.rsplit_once(')').expect("a name");
    let minflt = fields.split_whitespace().nth(7).expect("a field");
    minflt.parse().expect("a number")
}

fn call(servlet: &Servlet) {
    let arguments = serde_json::from_value(json!({ "do": 1 })).expect("an object");
    block_on(servlet.call("t", Some(&arguments))).expect("a result");
}

#[test]
fn a_new_instance_uses_the_pages_of_an_earlier_one() {
    let mut options = LoadOptions::default();
    options.isolation = Some(Isolation::Call);
    // Only optimised code runs in the pool.
    options.quality = Some(Quality::Optimized);
    // Near the end of the first MiB, which is more than an instance leaves in its place.
    let write = "(call $store_u64 (i64.const 1000000) (i64.const 1))";
    let store = r#"(import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))"#;
    let wat = tools(&[(1, write)]).import(store);
    let servlet = wat.load_with(&options).expect("a servlet");
    for _ in 0..CALLS {
        call(&servlet);
    }
    let before = given();
    for _ in 0..CALLS {
        call(&servlet);
    }
    let given = given() - before;
    assert!(given < CALLS, "{given} pages for {CALLS} calls");
}
