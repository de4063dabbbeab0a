//! Where programs of the user keep what they can make again.

use std::path::PathBuf;

/// The cache directory of the user, if the environment names one.
pub fn user_cache() -> Option<PathBuf> {
    let variable = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    if cfg!(windows) {
        return variable("LOCALAPPDATA");
    }
    let home = if cfg!(target_os = "macos") {
        "Library/Caches"
    } else {
        ".cache"
    };
    variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(home)))
}
