//! Where compiled modules are cached.

use std::path::PathBuf;

/// The cache of compiled modules.
///
/// Files in the cache run as machine code, so no other user may have write access to the directory.
/// Files that were not used for 30 days are removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CompileCache {
    /// `mcp-servlet` in the cache directory of the user.
    #[default]
    Default,
    /// This directory, which is created if it does not exist.
    Directory(PathBuf),
    /// No cache: each process compiles the modules that it loads.
    Off,
}
