//! Commands of remotes that install a package and run it, such as `npx` and `uvx`.

use std::path::Path;

use mcp_servlet_client::Target;
use mcp_servlet_server::RemoteEntry;

use crate::terminal::{note, one_line};

/// Warns if the command of a remote can run another version of its program at the next start.
pub(super) fn warn_about_program(entry: &RemoteEntry) {
    let Target::Command(command) = &entry.target else {
        return;
    };
    let program = Path::new(command.program()).file_stem();
    let mut runners = ["npx", "bunx", "pnpx", "uvx"].into_iter();
    let runner = runners.find(|one| program.is_some_and(|program| program == *one));
    // No exact version is empty.
    let words: Vec<_> = command
        .arguments()
        .iter()
        .map(|word| word.to_str().unwrap_or_default())
        .collect();
    if let Some(runner) = runner
        && !package(&words).is_some_and(|package| is_exact(runner, package))
    {
        note(format_args!(
            "warning: {}: the program is not locked; give `{runner}` a package with an exact version",
            one_line(&entry.name)
        ));
    }
}

/// The package that a runner such as `npx` installs. None if an option may add or replace packages.
fn package<'w>(words: &[&'w str]) -> Option<&'w str> {
    const FLAGS: [&str; 6] = ["-y", "--yes", "-q", "--quiet", "--silent", "--bun"];
    let flags = words.iter().take_while(|word| FLAGS.contains(word)).count();
    match words[flags..] {
        ["--from" | "--package", package, program, ..] if !program.starts_with('-') => {
            Some(package)
        }
        [package, ..] if !package.starts_with('-') => Some(package),
        _ => None,
    }
}

/// Whether a package has an exact version, such as `files@1.2.0` for `npx` and `files==1.2.0` for `uvx`.
fn is_exact(runner: &str, package: &str) -> bool {
    // Ranges such as `>=1.2.0` have other characters, and so have URLs of repositories, whose tags may move.
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "@/-_.+=[],".contains(one);
    let is_python = runner == "uvx";
    let versioned = match package.split_once("==") {
        Some(versioned) if is_python => Some(versioned),
        _ => package.rsplit_once('@'),
    };
    let version = versioned.map_or("", |(_, version)| version);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|one| one.is_ascii_digit());
    let is_complete = if is_python {
        version.starts_with(|one: char| one.is_ascii_digit())
    } else {
        // npm reads `1.2` as a range.
        let core = version.split(['-', '+']).next().unwrap_or_default();
        core.split('.').count() == 3 && core.split('.').all(is_number)
    };
    package.chars().all(is_plain) && is_complete
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_exact_version_locks_the_program_of_a_runner() {
        let is_locked = |command: &str| {
            let words: Vec<_> = command.split(' ').collect();
            package(&words[1..]).is_some_and(|package| is_exact(words[0], package))
        };
        for command in [
            "npx files@1.2.0",
            "npx -y @acme/files@1.2.0 --root /data",
            "npx files@1.2.0-rc.1",
            "bunx --bun files@1.2.0+build.5",
            "npx --package files@1.2.0 files-server",
            "uvx files==1.2.0",
            "uvx files@1.2.0",
            "uvx files[http]==2026.1",
            "uvx files==1.2.0rc1",
            "uvx --from files==1.2.0 files-server",
        ] {
            assert!(is_locked(command), "{command}");
        }
        for command in [
            "npx",
            "npx files",
            "npx @acme/files",
            "npx files@latest",
            "npx files@1.2",
            "npx files@1.2.x",
            "npx files@^1.2.0",
            "npx files@>=1.2.0",
            "npx --package files@1.2.0 --package other files-server",
            "uvx files>=1.2.0",
            "uvx files~=1.2.0",
            "uvx files!=1.2.0",
            "uvx files>=1.0.0,==1.2.0",
            "uvx files==1.2.*",
            "uvx files@latest",
            "uvx git+https://example.com/files@1.2.0",
            "uvx --with helper==1.0.0 files",
            "uvx --with helper files==1.2.0",
            "uvx --from files==1.2.0 --with helper files-server",
        ] {
            assert!(!is_locked(command), "{command}");
        }
        assert!(!is_exact("npx", "files@1.2.0 - 2.0.0"));
    }
}
