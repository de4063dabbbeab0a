//! The Extism ABI: bytes in and out of the host, and the functions it offers.
//!
//! Handles to host memory stay in this file; `host_memory.rs` only gets them to copy bytes. Exactly one wrapper
//! here names each host function, so that a servlet imports only what it uses.
#![allow(unsafe_code, reason = "host functions are foreign functions")]

use extism_pdk::extism as kernel;

use crate::host::host_memory::{self, HostMemory, read};
use crate::host::level::Level;

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn clock_time_get(clock: u32, precision: u64, nanoseconds: *mut u64) -> u32;
    fn random_get(buffer: *mut u8, length: usize) -> u32;
}

#[link(wasm_import_module = "extism:host/user")]
unsafe extern "C" {
    #[link_name = "notify_progress"]
    fn host_notify_progress(params: u64);
    #[link_name = "notify_logging_message"]
    fn host_notify_logging_message(params: u64);
    #[link_name = "notify_resource_list_changed"]
    safe fn host_notify_resource_list_changed();
}

#[cfg(not(mcp_servlet_no_tools))]
#[link(wasm_import_module = "extism:host/user")]
unsafe extern "C" {
    #[link_name = "call_tool"]
    fn host_call_tool(request: u64) -> u64;
}

#[cfg(mcp_servlet_abi = "hyper-mcp-v2")]
#[link(wasm_import_module = "extism:host/user")]
unsafe extern "C" {
    #[link_name = "create_elicitation"]
    fn host_create_elicitation(params: u64) -> u64;
    #[link_name = "create_message"]
    fn host_create_message(params: u64) -> u64;
    #[link_name = "list_roots"]
    fn host_list_roots() -> u64;
}

// The first is in the object file of the build script, the linker defines the other: the end of the stack's memory, from
// which it grows down.
unsafe extern "C" {
    fn mcp_servlet_set_stack_pointer(address: *const u8);
    static __stack_high: u8;
}

/// Makes the stack empty. A trap leaves it as it was, so an instance that a host keeps would run out of stack.
///
/// Only for the first statement of an export: variables that are on the stack are lost.
#[inline(always)]
#[allow(
    clippy::inline_always,
    reason = "a function of its own could have a frame on the stack"
)]
pub(crate) fn empty_stack() {
    // SAFETY: the stack ends there, and the caller has nothing on it.
    unsafe { mcp_servlet_set_stack_pointer(&raw const __stack_high) }
}

/// The input of the running export, if it is UTF-8.
pub(crate) fn input_text() -> Option<String> {
    let (bytes, ascii) = load_input();
    if ascii {
        // SAFETY: ASCII is UTF-8.
        return Some(unsafe { String::from_utf8_unchecked(bytes) });
    }
    String::from_utf8(bytes).ok()
}

/// The input of the running export.
#[cfg(feature = "xtp")]
pub(crate) fn input() -> Vec<u8> {
    load_input().0
}

/// The input, and whether all of it is ASCII.
fn load_input() -> (Vec<u8>, bool) {
    // SAFETY: takes nothing; the kernel answers the length of the input it holds.
    let length = unsafe { kernel::input_length() };
    read(
        length,
        // SAFETY: `read` asks for offsets below `length` only.
        |at| unsafe { kernel::input_load_u64(at) },
        // SAFETY: as above.
        |at| unsafe { kernel::input_load_u8(at) },
    )
}

/// Makes `bytes` the output of the running export.
pub(crate) fn set_output(bytes: &[u8]) {
    let handle = store(bytes);
    // SAFETY: the handle is of a block of exactly that length.
    unsafe { kernel::output_set(handle, bytes.len() as u64) }
}

/// Makes the running export fail with `text`.
pub(crate) fn set_error(text: &str) {
    let handle = store(text.as_bytes());
    // SAFETY: the handle is of a live block, which the kernel now owns.
    unsafe { kernel::error_set(handle) }
}

/// The configuration value of `key`, if the operator set one.
pub(crate) fn config(key: &str) -> Option<Vec<u8>> {
    let key = store(key.as_bytes());
    // SAFETY: the handle is of a live block; the host takes it over.
    load(unsafe { kernel::config_get(key) })
}

/// The variable `key` of this instance.
pub(crate) fn var(key: &str) -> Option<Vec<u8>> {
    let key = store(key.as_bytes());
    // SAFETY: the handle is of a live block; the host takes it over.
    load(unsafe { kernel::var_get(key) })
}

/// Sets the variable `key`, or removes it.
pub(crate) fn set_var(key: &str, value: Option<&[u8]>) {
    let key = store(key.as_bytes());
    let value = value.map_or(0, store);
    // SAFETY: both handles are of live blocks, or 0, which the host reads as removal.
    unsafe { kernel::var_set(key, value) }
}

/// Writes a line to the host's log. Inlined, so that only the levels in use are imported.
#[inline(always)]
#[allow(
    clippy::inline_always,
    reason = "a call would link all five host functions"
)]
pub(crate) fn log(level: Level, text: &str) {
    let text = store(text.as_bytes());
    // SAFETY: the handle is of a live block; the host takes it over.
    unsafe {
        match level {
            Level::Trace => kernel::log_trace(text),
            Level::Debug => kernel::log_debug(text),
            Level::Info => kernel::log_info(text),
            Level::Warn => kernel::log_warn(text),
            Level::Error => kernel::log_error(text),
        }
    }
}

/// Nanoseconds since the Unix epoch.
pub(crate) fn now() -> u64 {
    let mut nanoseconds = 0;
    // SAFETY: the pointer is to a live u64; clock 0 is the real-time clock.
    let errno = unsafe { clock_time_get(0, 1, &raw mut nanoseconds) };
    assert!(errno == 0, "the host's clock answered WASI error {errno}");
    nanoseconds
}

/// Fills `bytes` from the host's source of randomness.
pub(crate) fn random(bytes: &mut [u8]) {
    // SAFETY: pointer and length are of one live, writable slice.
    let errno = unsafe { random_get(bytes.as_mut_ptr(), bytes.len()) };
    assert!(
        errno == 0,
        "the host's randomness answered WASI error {errno}"
    );
}

/// The randomness of the crate `getrandom`, under the symbol that its versions 0.3 and 0.4 import.
#[cfg(all(feature = "getrandom", target_os = "unknown"))]
// SAFETY: the name is getrandom's, and the signature is the one that it declares.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(
    bytes: *mut u8,
    length: usize,
) -> Result<(), getrandom::Error> {
    // SAFETY: the caller owns that many bytes there.
    match unsafe { random_get(bytes, length) } {
        0 => Ok(()),
        _ => Err(getrandom::Error::UNEXPECTED),
    }
}

/// Sends `notifications/progress` with these parameters, as JSON.
pub(crate) fn notify_progress(params: &str) {
    let params = store(params.as_bytes());
    // SAFETY: the handle is of a live block; the host takes it over.
    unsafe { host_notify_progress(params) }
}

/// Sends `notifications/message` with these parameters, as JSON.
pub(crate) fn notify_logging_message(params: &str) {
    let params = store(params.as_bytes());
    // SAFETY: as above.
    unsafe { host_notify_logging_message(params) }
}

/// Makes the host read the lists of the servlet again.
pub(crate) fn notify_resource_list_changed() {
    host_notify_resource_list_changed();
}

/// Calls a tool or reads a resource of another server, and waits: a request and the answer, as JSON.
#[cfg(not(mcp_servlet_no_tools))]
#[inline]
pub(crate) fn call_tool(request: &str) -> String {
    let request = store(request.as_bytes());
    // SAFETY: as above.
    load_text(unsafe { host_call_tool(request) })
}

/// Shows a form to the user of the client, and waits: the parameters of the request and its result, as JSON.
#[cfg(mcp_servlet_abi = "hyper-mcp-v2")]
pub(crate) fn create_elicitation(params: &str) -> String {
    let params = store(params.as_bytes());
    // SAFETY: the handle is of a live block; the host takes it over.
    load_text(unsafe { host_create_elicitation(params) })
}

/// Lets the client's model answer, and waits: the parameters of the request and its result, as JSON.
#[cfg(mcp_servlet_abi = "hyper-mcp-v2")]
pub(crate) fn create_message(params: &str) -> String {
    let params = store(params.as_bytes());
    // SAFETY: as above.
    load_text(unsafe { host_create_message(params) })
}

/// The client's roots: the result of the request, as JSON.
#[cfg(mcp_servlet_abi = "hyper-mcp-v2")]
pub(crate) fn list_roots() -> String {
    // SAFETY: takes nothing; the answer is a handle or 0.
    load_text(unsafe { host_list_roots() })
}

/// Tells the host that the servlet uses this crate, so that calls need not share an instance.
#[used]
#[unsafe(link_section = "mcp-servlet.sdk")]
static SDK: [u8; 1] = [1];

/// Tells `servlet` that results have only forms of the first interfaces.
#[cfg(mcp_servlet_abi = "servlet-strict")]
#[used]
#[unsafe(link_section = "mcp-servlet.strict")]
static STRICT: [u8; 1] = [1];

/// Tells the host that [`http`] reads failures: this project's host returns them instead of ending the call.
#[cfg(feature = "http")]
#[used]
#[unsafe(link_section = "mcp-servlet.http-errors")]
static HTTP_ERRORS: [u8; 1] = [1];

/// Sends an HTTP request, described in the JSON that Extism reads: status, headers (JSON), body.
#[cfg(feature = "http")]
pub(crate) fn http(request: &str, body: Option<&[u8]>) -> (u16, Option<Vec<u8>>, Vec<u8>) {
    let request = store(request.as_bytes());
    let body = body.map_or(0, store);
    // SAFETY: both handles are of live blocks, or 0 for no body; the answer is a handle or 0.
    let (answer, status, headers) = unsafe {
        let answer = kernel::http_request(request, body);
        (answer, kernel::http_status_code(), kernel::http_headers())
    };
    (
        u16::try_from(status).unwrap_or(0),
        load(headers),
        load(answer).unwrap_or_default(),
    )
}

/// Lends `bytes` to a function of the host, and takes over the block that it returns, if any.
#[cfg(feature = "xtp")]
pub(crate) fn exchange(bytes: Option<&[u8]>, call: impl FnOnce(u64) -> u64) -> Vec<u8> {
    let lent = bytes.map_or(0, store);
    let answer = call(lent);
    let bytes = load(answer).unwrap_or_default();
    if lent != 0 && lent != answer {
        // SAFETY: the block is ours, the call that it was lent to is over, and `load` has not freed it.
        unsafe { kernel::free(lent) }
    }
    bytes
}

/// Memory of the kernel.
#[derive(Clone, Copy)]
struct KernelMemory;

impl HostMemory for KernelMemory {
    #[inline]
    unsafe fn store_word(self, at: u64, word: u64) {
        // SAFETY: the caller names a word in a block of the kernel.
        unsafe { kernel::store_u64(at, word) }
    }

    #[inline]
    unsafe fn store_byte(self, at: u64, byte: u8) {
        // SAFETY: the caller names a byte in a block of the kernel.
        unsafe { kernel::store_u8(at, byte) }
    }
}

/// Copies `bytes` into a new block of host memory.
#[inline(never)]
fn store(bytes: &[u8]) -> u64 {
    // SAFETY: allocates; the answer is the handle of a block of that length, 0 for length 0.
    let handle = unsafe { kernel::alloc(bytes.len() as u64) };
    // SAFETY: the block is as long as `bytes`.
    unsafe { host_memory::store(KernelMemory, handle, bytes) }
    handle
}

/// Copies a block of host memory and frees it; handle 0 is the host's "nothing".
fn load(handle: u64) -> Option<Vec<u8>> {
    if handle == 0 {
        return None;
    }
    // SAFETY: the handle comes from the host in answer to a call of ours.
    let length = unsafe { kernel::length(handle) };
    let (bytes, _) = read(
        length,
        // SAFETY: `read` asks for offsets below `length` only.
        |at| unsafe { kernel::load_u64(handle + at) },
        // SAFETY: as above.
        |at| unsafe { kernel::load_u8(handle + at) },
    );
    // SAFETY: nothing refers to the block any more.
    unsafe { kernel::free(handle) }
    Some(bytes)
}

/// Like [`load`], for text; empty if it is not UTF-8.
#[cfg(any(mcp_servlet_abi = "hyper-mcp-v2", not(mcp_servlet_no_tools)))]
#[inline]
fn load_text(handle: u64) -> String {
    let bytes = load(handle).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}
