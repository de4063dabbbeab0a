//! Where logins are stored.

use std::env;
use std::path::PathBuf;

use super::failure;
use crate::error::Error;

/// The folder for the logins of this user.
pub(super) fn logins() -> Result<PathBuf, Error> {
    let state = state(
        &|name| env::var_os(name).map(PathBuf::from),
        env::home_dir(),
    )
    .ok_or_else(|| {
        let message = "there is no folder for logins, because this user has no home";
        failure::authentication(message).with_help("set `XDG_STATE_HOME`")
    })?;
    Ok(state.join("mcp-servlet").join("logins"))
}

/// The folder for data that belongs to one machine. Relative paths do not count.
fn state(environment: &dyn Fn(&str) -> Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let set = |name| environment(name).filter(|path| path.is_absolute());
    let otherwise = if cfg!(windows) {
        set("LOCALAPPDATA")
    } else {
        let folder = if cfg!(target_os = "macos") {
            "Library/Application Support"
        } else {
            ".local/state"
        };
        home.filter(|home| home.is_absolute())
            .map(|home| home.join(folder))
    };
    set("XDG_STATE_HOME").or(otherwise)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_state_directory_of_the_user_is_used() {
        for (xdg, home, expected) in [
            (Some("/state"), Some("/home/u"), Some("/state")),
            (Some("state"), Some("/home/u"), Some("/home/u/.local/state")),
            (None, Some("/home/u"), Some("/home/u/.local/state")),
            (None, Some(""), None),
            (None, None, None),
        ] {
            let environment =
                |name: &str| xdg.filter(|_| name == "XDG_STATE_HOME").map(PathBuf::from);
            let found = state(&environment, home.map(PathBuf::from));
            assert_eq!(found, expected.map(PathBuf::from), "{xdg:?} {home:?}");
        }
    }
}
