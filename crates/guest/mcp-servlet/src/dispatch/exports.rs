//! The wasm exports of a [`Servlet`]. They return 0 for a result and -1 for an error.
//!
//! Some hosts keep an instance after a call that trapped, so an export must not depend on how the last one ended.

#[cfg(feature = "panic-hook")]
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "panic-hook")]
use mcp_servlet_json::{write_raw, write_u64};

use crate::answer::error::Fault;
use crate::dispatch::features::Features;
use crate::dispatch::servlet::Servlet;
use crate::host::abi;
use crate::host::context::Context;

/// The export `describe`, or `list_tools`: returns the description of the servlet and ignores the input.
pub fn describe(servlet: &Servlet) -> i32 {
    run(move || list(servlet.description_bytes()))
}

/// The export `call`, or `call_tool`: answers a `tools/call` request.
pub fn call(servlet: &Servlet) -> i32 {
    run(move || {
        let context = Context::for_request(abi::input_text());
        answer(servlet.answer(&context, context.request()))
    })
}

/// The `list_resources` export. Only functions that list resources use the input.
pub fn list_resources(features: &Features) -> i32 {
    run(move || {
        let context = Context::for_request(abi::input_text());
        list(features.list_resources(&context).as_bytes())
    })
}

/// The `list_resource_templates` export, which ignores the input.
pub fn list_resource_templates(features: &Features) -> i32 {
    run(move || list(features.lists().templates.as_bytes()))
}

/// The `read_resource` export: answers a `resources/read` request.
pub fn read_resource(features: &Features) -> i32 {
    run(move || {
        let context = Context::for_request(abi::input_text());
        answer(features.read_resource(&context, context.request()))
    })
}

/// The `list_prompts` export, which ignores the input.
pub fn list_prompts(features: &Features) -> i32 {
    run(move || list(features.lists().prompts.as_bytes()))
}

/// The `get_prompt` export: answers a `prompts/get` request.
pub fn get_prompt(features: &Features) -> i32 {
    run(move || {
        let context = Context::for_request(abi::input_text());
        answer(features.get_prompt(&context, context.request()))
    })
}

/// The `complete` export: answers a `completion/complete` request.
pub fn complete(features: &Features) -> i32 {
    run(move || {
        let context = Context::for_request(abi::input_text());
        answer(features.complete(&context, context.request()))
    })
}

#[inline(always)]
#[allow(
    clippy::inline_always,
    reason = "most servlets have one export that answers, and a call costs them 100 bytes"
)]
fn answer(outcome: Result<String, Fault>) -> i32 {
    match outcome {
        Ok(json) => {
            abi::set_output(json.as_bytes());
            0
        }
        Err(fault) => {
            abi::set_error(&fault.to_wire());
            -1
        }
    }
}

fn list(text: &[u8]) -> i32 {
    abi::set_output(text);
    0
}

/// Runs an export on an empty stack. The caller must have no variables on the stack and be called by the host.
#[inline(always)]
#[allow(
    clippy::inline_always,
    reason = "a function of its own could have a frame on the stack"
)]
pub(crate) fn run(export: impl FnOnce() -> i32) -> i32 {
    abi::empty_stack();
    on_empty_stack(export)
}

/// Never inlined: its variables would be on the stack before it is empty.
#[inline(never)]
fn on_empty_stack(export: impl FnOnce() -> i32) -> i32 {
    #[cfg(feature = "panic-hook")]
    report_panics();
    #[cfg(feature = "log")]
    crate::host::logger::install();
    export()
}

/// Sends a panic to the host as an error message, before the wasm traps.
#[cfg(feature = "panic-hook")]
fn report_panics() {
    // After a panic, std panics if the hook is set again.
    static IS_SET: AtomicBool = AtomicBool::new(false);
    if !IS_SET.swap(true, Ordering::Relaxed) {
        std::panic::set_hook(Box::new(|panic| abi::set_error(&panic_text(panic))));
    }
}

/// `panicked at src/lib.rs:7: why`, without the formatting code of std, which is larger than this function.
#[cfg(feature = "panic-hook")]
fn panic_text(panic: &std::panic::PanicHookInfo<'_>) -> String {
    let mut text = String::new();
    write_raw(&mut text, "panicked");
    if let Some(location) = panic.location() {
        write_raw(&mut text, " at ");
        write_raw(&mut text, location.file());
        write_raw(&mut text, ":");
        write_u64(&mut text, location.line().into());
    }
    let payload = panic.payload();
    let literal = payload.downcast_ref::<&str>().copied();
    if let Some(why) = literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str)) {
        write_raw(&mut text, ": ");
        write_raw(&mut text, why);
    }
    text
}
