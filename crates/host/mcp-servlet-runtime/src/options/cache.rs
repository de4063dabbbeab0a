//! Where compiled modules are cached.

use std::path::PathBuf;

/// The cache of compiled modules.
///
/// Each instance of a servlet has its own engine and loads the compiled module from the cache,
/// which takes about a millisecond. Files in the cache run as machine code, so no other user may
/// have write access to the directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CompileCache {
    /// The cache directory of the user. `EXTISM_CACHE_CONFIG` can name a wasmtime configuration
    /// file instead; if it is set but empty, there is no cache.
    #[default]
    Default,
    /// This directory, which is created if it does not exist.
    Directory(PathBuf),
    /// No cache: each instance is compiled anew.
    Off,
}
