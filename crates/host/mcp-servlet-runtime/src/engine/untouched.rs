//! Makes the reset of a pooled instance skip the pages that its call never touched.
//!
//! After a call, wasmtime asks Linux which pages the instance has written, and clears those. Since wasmtime 50, the answer of
//! some versions of Linux, such as 6.18, includes all pages that do not exist yet. These are most pages of a small servlet, and
//! clearing them costs more than the call. A page that was read exists, and counts as not written.
//! `docs/decisions/0029-one-engine-on-wasmtime.md` has the measurements.

use std::{fs::File, hint::black_box, io::Result, os::unix::fs::FileExt as _, sync::LazyLock};

use rustix::param::page_size;
use wasmtime::PoolingAllocationConfig;

/// Larger memories stay as they are: reading them would take longer than it saves.
const LARGEST: usize = 2 << 20;

/// A number of 64 bits for each page of this process. `None` if wasmtime does not ask which pages were written.
static PAGES: LazyLock<Option<File>> = LazyLock::new(|| {
    let is_asked = PoolingAllocationConfig::is_pagemap_scan_available();
    let file = is_asked.then(|| File::open("/proc/self/pagemap"));
    file?.ok()
});

/// The bit of a page that exists.
const PRESENT: u64 = 1 << 63;

/// Reads a memory if some of its pages do not exist: the first time, and after a call that has written so many pages that wasmtime
/// has returned the others to the system.
pub(super) fn read(memory: &[u8]) {
    let Some(last) = memory.last().filter(|_| memory.len() <= LARGEST) else {
        return;
    };
    // What wasmtime returns to the system always includes the last page.
    if exists(last).unwrap_or(true) {
        return;
    }
    for page in memory.chunks(page_size()) {
        black_box(page[0]);
    }
}

/// Whether the page of a byte exists.
fn exists(byte: *const u8) -> Result<bool> {
    let Some(pages) = &*PAGES else {
        return Ok(true);
    };
    let number = byte.addr() / page_size();
    let mut page = [0; size_of::<u64>()];
    pages.read_exact_at(&mut page, (number * size_of::<u64>()) as u64)?;
    Ok(u64::from_ne_bytes(page) & PRESENT != 0)
}
