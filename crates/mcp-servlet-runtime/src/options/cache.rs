//! Where compiled modules are kept.

use std::path::PathBuf;

/// Where compiled modules are kept.
///
/// Each instance of a servlet has an engine of its own and takes the compiled module from here, in about a millisecond.
/// What is in the directory is run as machine code: nobody else must be able to write there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CompileCache {
    /// The user's directory for caches; `EXTISM_CACHE_CONFIG` names a configuration of wasmtime's instead, or nothing
    /// for no cache.
    #[default]
    Default,
    /// A directory of one's own, made if it does not exist.
    Directory(PathBuf),
    /// Nowhere: each instance is compiled anew.
    Off,
}
