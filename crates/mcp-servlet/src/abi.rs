//! The Extism ABI: bytes in and out of the host, and the functions it offers.
//!
//! Beside the allocator, this is the only file of the guest with `unsafe` code. Handles to host memory never leave it.
//! Every host function is named by exactly one wrapper here, so that a servlet imports what it uses.
#![allow(unsafe_code, reason = "host functions are foreign functions")]

use extism_pdk::extism as kernel;

use crate::context::Level;

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
}

/// What the host passed to the running export.
pub(crate) fn input() -> Vec<u8> {
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

/// Makes `bytes` the answer of the running export.
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

/// Lends `bytes` to a function of the host, and takes over the block that it answers with, if it does.
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

/// Copies `bytes` into a new block of host memory, eight at a time, as the ABI has no bulk copy.
#[inline(never)]
fn store(bytes: &[u8]) -> u64 {
    // SAFETY: allocates; the answer is the handle of a block of that length, 0 for length 0.
    let handle = unsafe { kernel::alloc(bytes.len() as u64) };
    let (mut at, mut rest) = (handle, bytes);
    // Eight words a turn: the counting would cost as much as the stores.
    while let Some((words, after)) = rest.split_first_chunk::<64>() {
        for word in words.chunks_exact(8) {
            store_word(&mut at, word);
        }
        rest = after;
    }
    let mut words = rest.chunks_exact(8);
    for word in &mut words {
        store_word(&mut at, word);
    }
    for byte in words.remainder() {
        // SAFETY: `at` stays inside the block, which is as long as `bytes`.
        unsafe { kernel::store_u8(at, *byte) }
        at += 1;
    }
    handle
}

/// Stores eight bytes and steps over them.
#[inline]
fn store_word(at: &mut u64, word: &[u8]) {
    if let Ok(word) = word.try_into() {
        // SAFETY: `store` stays inside the block, which is as long as its bytes.
        unsafe { kernel::store_u64(*at, u64::from_le_bytes(word)) }
    }
    *at += 8;
}

/// Copies a block of host memory and frees it; handle 0 is the host's "nothing".
fn load(handle: u64) -> Option<Vec<u8>> {
    if handle == 0 {
        return None;
    }
    // SAFETY: the handle comes from the host in answer to a call of ours.
    let length = unsafe { kernel::length(handle) };
    let bytes = read(
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

/// Reads `length` bytes, eight at a time.
fn read(length: u64, word: impl Fn(u64) -> u64, byte: impl Fn(u64) -> u8) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    let mut at = 0;
    let mut chunks = bytes.chunks_exact_mut(8);
    for chunk in &mut chunks {
        if let Ok(chunk) = <&mut [u8; 8]>::try_from(chunk) {
            *chunk = word(at).to_le_bytes();
        }
        at += 8;
    }
    for place in chunks.into_remainder() {
        *place = byte(at);
        at += 1;
    }
    bytes
}
