//! Why an instance gets no memory although the system has some.

use wasmtime::{Error, Module};

/// How much address space a memory of an instance reserves in bytes, whatever it uses. Its code needs no checks of bounds then.
const RESERVED: u64 = 4 << 30;

/// The reason, if the address space of this process is limited and an instance of this module does not fit.
#[cfg(unix)]
pub(super) fn limited(error: &Error, module: &Module) -> Option<String> {
    use rustix::{
        io::Errno,
        process::{Resource, getrlimit},
    };
    let is_out_of_memory = error.root_cause().to_string() == Errno::NOMEM.to_string();
    let limit = getrlimit(Resource::As)
        .current
        .filter(|_| is_out_of_memory)?;
    let needed = u64::from(module.resources_required().num_memories) * RESERVED;
    Some(format!(
        "an instance reserves {} GiB of address space, and this process may have {} MiB; raise the limit (`ulimit -v unlimited`)",
        needed >> 30,
        limit >> 20
    ))
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(super) fn limited(_: &Error, _: &Module) -> Option<String> {
    None
}
