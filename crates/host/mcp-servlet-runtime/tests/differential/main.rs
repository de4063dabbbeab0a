//! Runs the same modules with the same inputs in the `extism` crate and in this one. Outputs and
//! errors have to be the same.
//!
//! Each module runs in two ways: several calls in one instance, and a new instance for each call. This runtime makes all
//! of them with each kind of code that it can have: of the baseline compiler, optimized, and with counted fuel.
//! `programs` makes up sequences of calls; `PROPTEST_CASES` and `PROPTEST_RNG_SEED` make it try others.
//!
//! Some things are not compared. Extism leaves them to chance, or this runtime differs on purpose:
//!
//! | subject | Extism | this runtime |
//! |---|---|---|
//! | addresses of blocks, bytes between blocks, contents of freed blocks after the next allocation | a free list with headers of 12 bytes | not promised |
//! | ranges that wrap around at 2⁶⁴ | accepted, because the end of the range is valid | not promised |
//! | allocations of 2⁶³ bytes and more | may succeed without memory: the kernel counts pages in 32 bits | not promised |
//! | functions of the kernel for hosts: `error_get`, `input_set`, `reset`, … | can be imported | unknown imports, so the module is refused |
//! | instance after a trap or `proc_exit` | goes on | replaced: its state may be half changed |
//! | variables after that, or in a new instance | belong to the instance | may belong to the servlet |
//! | host functions before the first call | undefined behaviour: its pointers to its own state are not set yet | work |
//! | number of runs of a start function | one more, when the module is linked | one in each instance |
//! | error before the first call | like any other; an error that the module sets is ignored | [`CallErrorKind::Start`] with the error that the module sets |
//! | invalid offset in `log_*` | ignored if the message is not logged | ends the call at every log level |
//! | errors of `http_request` | only host names are checked | names and addresses are checked; only the class of a denied request is compared |
//! | memory close to its limit | the initial memory does not count | not promised |
//! | `fd_write` with several pieces | writes the first piece | may write all of them |
//! | standard error of WASI | discarded | explains traps and exits |
//! | texts of traps | the message of wasmtime | may have a likely cause in parentheses |
//! | error messages of more than 64 KiB | whole | cut |
//! | last line `mcp-fault: …` of an error | part of its text | code and data of a [`RpcError`] |
//!
//! [`CallErrorKind::Start`]: mcp_servlet_call::CallErrorKind::Start
//! [`RpcError`]: mcp_servlet_call::RpcError

mod bodies;
mod endings;
mod host_functions;
mod kernel;
mod programs;
mod shapes;
mod sides;
mod starts;
mod wasi;
