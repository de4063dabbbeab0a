//! The commands that the help lists.

use std::process::Command;

/// All commands, such as `describe` and `config init`.
pub(crate) fn commands() -> Vec<String> {
    let leaves = |name: String| match listed(&[&name]) {
        inner if inner.is_empty() => vec![name],
        inner => inner.iter().map(|one| format!("{name} {one}")).collect(),
    };
    listed(&[]).into_iter().flat_map(leaves).collect()
}

/// The commands in the help of a command.
fn listed(of: &[&str]) -> Vec<String> {
    let mut help = Command::new(env!("CARGO_BIN_EXE_servlet"));
    let help = help.args(of).arg("--help").output();
    let help = String::from_utf8(help.expect("the command runs").stdout).expect("text");
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines.map_while(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !["", "help"].contains(name));
    names.map(str::to_owned).collect()
}
