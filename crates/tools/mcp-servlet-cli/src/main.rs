//! The `servlet` command: build, describe, call and serve MCP servlets.
//!
//! Results go to standard output, logs and errors to standard error. A reader that closes standard output early does not change the
//! exit code:
//!
//! | code | meaning |
//! |---|---|
//! | 0 | success |
//! | 1 | the tool answered, and its answer is an error; a test failed, or a check did |
//! | 2 | wrong usage: an unknown option, an argument that the tool does not take |
//! | 3 | the servlet failed: it does not load, traps, runs out of time, or raises a fault |
//! | 4 | the build failed |
//! | 5 | a file or standard output cannot be written |
//! | 10 to 27 | another MCP server or a registry failed; `servlet explain` lists the codes |

#![deny(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "`terminal` shows text that this command did not write"
)]

mod arguments;
mod auth;
mod build;
mod cache;
mod call;
mod can;
mod catalog;
mod check;
mod cli;
mod clients;
mod complete;
mod completions;
mod config;
mod content;
mod credentials;
mod describe;
mod dev;
mod explain;
mod export;
mod failure;
mod format;
mod generate;
mod inspect;
mod install;
mod limits;
mod lock;
mod logging;
mod login;
mod logins;
mod logout;
mod man;
mod memory;
mod needs;
mod new;
mod pack;
mod ping;
mod policy;
mod prompt;
mod pull;
mod push;
mod read;
mod replace;
mod serve;
mod servers;
mod session;
mod sign;
mod stamp;
mod steps;
mod terminal;
mod test;
mod text_file;
mod variable;
mod warnings;
mod watch;
mod xtp;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return cli::report(&error),
    };
    match cli.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
