//! What the help of the command says.

use std::process::Command;

/// The commands in the help of a command.
pub(crate) fn commands(of: &[&str]) -> Vec<String> {
    let mut help = Command::new(env!("CARGO_BIN_EXE_servlet"));
    let help = help.args(of).arg("--help").output();
    let help = String::from_utf8(help.expect("the command runs").stdout).expect("text");
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines.map_while(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !["", "help"].contains(name));
    names.map(str::to_owned).collect()
}
