//! The command line as a whole.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{
    build, call, catalog, check, complete, config,
    credentials::hidden,
    describe, dev, explain,
    failure::Failure,
    generate, inspect,
    logging::{self, Times},
    login, logout, new, ping, prompt, read, serve, servers, terminal, test, watch,
};

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  the tool returned an error, or a test or a check failed
  2  wrong usage
  3  the servlet failed: it does not load, traps, runs out of time, or raises a fault
  4  the build failed
  10 to 27
     a server that is not a servlet failed; `servlet explain` lists these codes

Logs go to standard error. RUST_LOG filters them, for example RUST_LOG=servlet=debug.";

/// Build, describe, call and serve MCP servlets, and use any other MCP server.
#[derive(Debug, Parser)]
#[command(name = "servlet", version, after_help = EXIT_CODES, subcommand_required = true)]
pub(crate) struct Cli {
    /// Show more logs: -v for information, -vv to debug, -vvv for everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    New(new::New),
    /// Generate Rust from an XTP schema, or check that it is up to date
    #[command(name = "gen")]
    Generate(generate::Generate),
    Build(build::Build),
    Dev(dev::Dev),
    Test(test::Test),
    Describe(describe::Describe),
    Inspect(inspect::Inspect),
    Check(check::Check),
    Servers(servers::Servers),
    Catalog(catalog::CatalogCommand),
    Call(call::Call),
    Read(read::Read),
    Prompt(prompt::Prompt),
    Complete(complete::Complete),
    Login(login::Login),
    Logout(logout::Logout),
    Ping(ping::Ping),
    Watch(watch::Watch),
    Explain(explain::Explain),
    Serve(serve::Serve),
    Config(config::ConfigCommand),
}

impl Cli {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let times = match self.command {
            Command::Serve(_) | Command::Dev(_) => Times::Shown,
            _ => Times::Hidden,
        };
        logging::start(self.verbose, times);
        match self.command {
            Command::New(new) => new.run(),
            Command::Generate(generate) => generate.run(),
            Command::Build(build) => build.run(),
            Command::Dev(dev) => dev.run(),
            Command::Test(test) => test.run(),
            Command::Describe(describe) => describe.run(),
            Command::Inspect(inspect) => inspect.run(),
            Command::Check(check) => check.run(),
            Command::Servers(servers) => servers.run(),
            Command::Catalog(catalog) => catalog.run(),
            Command::Call(call) => call.run(),
            Command::Read(read) => read.run(),
            Command::Prompt(prompt) => prompt.run(),
            Command::Complete(complete) => complete.run(),
            Command::Login(login) => login.run(),
            Command::Logout(logout) => logout.run(),
            Command::Ping(ping) => ping.run(),
            Command::Watch(watch) => watch.run(),
            Command::Explain(explain) => explain.run(),
            Command::Serve(serve) => serve.run(),
            Command::Config(config) => config.run(),
        }
    }
}

/// Prints an error in the command line, or the help that was requested.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    let code = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    if !error.use_stderr() {
        // Help and version contain no text from arguments, so they need no escaping.
        let _ = error.print();
        return code;
    }
    let rendered = error.render();
    terminal::picture(|colors| {
        let text = if colors {
            rendered.ansi().to_string()
        } else {
            rendered.to_string()
        };
        hidden(&text).into_owned()
    });
    code
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
