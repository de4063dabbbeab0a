//! Limits of individual tools.

use std::time::Duration;

use mcp_servlet_call::{CallError, CallErrorKind, Limit, Limits};
use mcp_servlet_host::{CallToolResult, LoadError, Servlet};
use mcp_servlet_runtime::{Instances, Isolation, LoadOptions, block_on};

use crate::{
    COUNT, SPIN, arguments,
    support::{Wat, tools_named},
};

/// Allocates another 4 MiB.
const GROW: &str = "(drop (memory.grow (i32.const 64)))";

fn with<const N: usize>(tools: [(&str, Limits); N]) -> LoadOptions {
    let mut options = LoadOptions::default();
    options.tools = tools.map(|(name, tool)| (name.to_owned(), tool)).into();
    options
}

fn memory(bytes: u64) -> Limits {
    let mut limits = Limits::default();
    limits.memory = Limit::At(bytes);
    limits
}

fn wat() -> Wat {
    tools_named(&["t", "u", "v"], &[(1, COUNT), (2, SPIN), (3, GROW)])
}

fn load(options: &LoadOptions) -> Servlet {
    wat().load_with(options).expect("a servlet")
}

fn call(servlet: &Servlet, tool: &str, what: i32) -> Result<CallToolResult, CallError> {
    block_on(servlet.call(tool, Some(&arguments(what))))
}

/// How many calls the instance that runs this call has had.
fn count(servlet: &Servlet, tool: &str) -> u32 {
    let error = call(servlet, tool, 1).expect_err("a count").to_string();
    let count = error.rsplit(' ').next().and_then(|text| text.parse().ok());
    count.expect("a number")
}

#[test]
fn a_tool_can_have_less_time() {
    let limit = Duration::from_millis(50);
    let mut limits = Limits::default();
    limits.timeout = Limit::At(limit);
    let servlet = load(&with([("u", limits)]));
    let error = call(&servlet, "u", 2).expect_err("it loops");
    assert!(
        matches!(error.kind, CallErrorKind::Timeout { limit: stopped, .. } if stopped == limit),
        "{error:?}"
    );
}

#[test]
fn tool_can_have_a_lower_output_limit() {
    let mut small = Limits::default();
    small.output = Limit::At(3);
    let servlet = load(&with([("u", small)]));
    call(&servlet, "t", 0).expect("the limit is for the other one");
    let error = call(&servlet, "u", 0).expect_err("it is too large");
    assert!(
        matches!(error.kind, CallErrorKind::OutputTooLarge { limit: 3, .. }),
        "{error:?}"
    );
}

#[test]
fn a_tool_can_have_less_memory_or_more() {
    let mut options = with([("u", memory(2 << 20)), ("v", memory(64 << 20))]);
    options.limits.memory = Limit::At(3 << 20);
    let servlet = load(&options);
    for (tool, limit) in [("t", 3 << 20), ("u", 2 << 20)] {
        let error = call(&servlet, tool, 3).expect_err("too much");
        assert!(
            matches!(error.kind, CallErrorKind::OutOfMemory { limit: stopped, .. } if stopped == limit),
            "{tool}: {error:?}"
        );
        call(&servlet, tool, 0).expect("a fresh instance");
    }
    call(&servlet, "v", 3).expect("memory enough");
}

#[test]
fn tools_with_memory_of_their_own_have_instances_of_their_own_and_not_more_in_all() {
    let mut options = with([("u", memory(8 << 20)), ("v", memory(9 << 20))]);
    options.instances = Instances {
        min: 1,
        max: 2,
        idle: None,
    }
    .into();
    let servlet = load(&options);
    assert_eq!([count(&servlet, "t"), count(&servlet, "t")], [1, 2]);
    assert_eq!([count(&servlet, "u"), count(&servlet, "u")], [1, 2]);
    assert_eq!(count(&servlet, "t"), 3, "it is still there");
    assert_eq!(count(&servlet, "v"), 1);
    assert_eq!(count(&servlet, "t"), 4, "used after the other one");
    assert_eq!(count(&servlet, "u"), 1, "it made room");
}

#[test]
fn where_calls_share_one_instance_tools_share_its_memory() {
    let mut one = with([("u", memory(8 << 20))]);
    one.instances = Instances::ONE.into();
    let error = wat().load_with(&one).expect_err("one instance");
    assert_eq!(
        error.to_string(),
        "tool `u` of `test` cannot have a memory limit of its own: all calls share one instance"
    );
    assert!(error.help().is_some_and(|help| help.contains("`memory`")));
    let keeps = r#"(import "extism:host/env" "var_set" (func (param i64 i64)))"#;
    let shared = with([("u", memory(8 << 20))]);
    let error = wat().import(keeps).load_with(&shared);
    let error = error.expect_err("it keeps variables, so it has one instance");
    assert!(matches!(error, LoadError::ToolMemory { .. }), "{error:?}");
    let mut fresh = with([("u", memory(8 << 20))]);
    fresh.isolation = Some(Isolation::Call);
    let servlet = wat().import(keeps).load_with(&fresh);
    assert_eq!(
        count(&servlet.expect("variables are not in an instance"), "u"),
        1
    );
    let mut apart = one.clone();
    apart.isolation = Some(Isolation::Call);
    assert_eq!(
        [count(&load(&apart), "u"), count(&load(&apart), "t")],
        [1, 1]
    );
    let mut same = one;
    same.limits.memory = Limit::At(8 << 20);
    assert_eq!(count(&load(&same), "u"), 1, "the limit is the same");
}

#[test]
fn limits_of_a_tool_that_is_not_there_are_an_error() {
    let options = with([("w", Limits::default())]);
    let error = wat().load_with(&options).expect_err("no such tool");
    assert_eq!(error.to_string(), "`test` has no tool `w`");
}
