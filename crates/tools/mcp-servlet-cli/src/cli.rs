//! The command line as a whole.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{
    auth, build, cache, call, catalog, check, complete, completions, config,
    credentials::hidden,
    describe, dev, explain, export,
    failure::Failure,
    generate, inspect, install, lock,
    logging::{self, LogFormat, LogTimes},
    login, logout, man, new, pack, ping, prompt, pull, push, read, serve, servers, sign, stamp,
    terminal, test, watch,
};

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  the tool returned an error, or a test or a check failed
  2  wrong usage
  3  the servlet failed: it does not load, traps, runs out of time, or raises a fault
  4  the build failed
  5  a file or standard output cannot be written
  10 to 27
     another MCP server or a registry failed; `servlet explain` lists these codes

Logs go to standard error. RUST_LOG filters them, for example RUST_LOG=servlet=debug.";

/// The longest line of a help, in columns. Longer ones are hard to read on wide terminals.
const MAX_WIDTH: usize = 100;

/// Build, describe, call and serve MCP servlets, and use any other MCP server.
#[derive(Debug, Parser)]
#[command(name = "servlet", version, after_help = EXIT_CODES, subcommand_required = true, max_term_width = MAX_WIDTH)]
pub(crate) struct Cli {
    /// Show more logs: -v for information, -vv to debug, -vvv for everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Global options")]
    verbose: u8,

    #[command(subcommand)]
    command: Command,
}

// With `defer`, clap builds the options of a command only when it runs. `servlet --help` shows the descriptions, so they are
// here and not on the structs.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    /// Create a servlet project from the template of the SDK or another template
    New(new::New),
    /// Generate Rust from an XTP schema, or a typed client of an MCP server, or check that it is up to date
    #[command(name = "gen")]
    Generate(generate::Generate),
    /// Build the servlets at a path into `.wasm` files
    Build(build::Build),
    /// Add contracts to `.wasm` files: copies of what the servlets describe
    ///
    /// Other programs can read a contract without running the servlet, and a host refuses the servlet if it describes anything
    /// else. `servlet build` adds a contract to each file that it builds.
    Stamp(stamp::Stamp),
    /// Build the servlets at a path and serve them to MCP clients; rebuild them when their sources change
    ///
    /// Clients connect at once; their lists and calls wait for the first build. Standard error shows each build. If one fails,
    /// the servlets of the last successful build keep answering.
    Dev(dev::Dev),
    /// Run a project's tests with its wasm in a host, or a plugin with an XTP test module
    ///
    /// For a crate or a workspace: builds its servlets, runs `cargo test` so that every `#[mcp_servlet::test]` talks to the
    /// wasm, and then the test modules that `xtp.toml` names.
    Test(test::Test),
    /// Show the tools, resources and prompts of a servlet, and the configuration that it needs
    Describe(describe::Describe),
    /// Show exports, imports and sizes of servlets, and what a server would serve of them or skip
    Inspect(inspect::Inspect),
    /// Check in which hosts a servlet works, what each host drops, and which rules of clients it breaks
    Check(check::Check),
    /// List the servers in the configurations of MCP clients on this machine
    ///
    /// Starts no server, and shows no value of a variable or header. Other commands take these names as TARGET.
    Servers(servers::Servers),
    /// List everything that a servlet or any other MCP server offers, and what is wrong with it
    ///
    /// `--output` writes the catalog to a file as JSON, and `servlet catalog diff` compares it later.
    Catalog(catalog::CatalogCommand),
    /// Write what a servlet or any other MCP server offers as an OpenAPI document or a `server.json`
    Export(export::Export),
    /// Call a tool of a servlet or of any other MCP server, and show its result
    ///
    /// Progress and log messages go to standard error. Without TOOL, the command lists the tools.
    Call(call::Call),
    /// Read a resource of a servlet or of any other MCP server, and show its contents, or write them to a file
    Read(read::Read),
    /// Fill in a prompt of a servlet or of any other MCP server, and show its messages
    Prompt(prompt::Prompt),
    /// Show completions for an argument of a prompt or a variable of a resource template
    Complete(complete::Complete),
    /// Log in to a server that requires it
    ///
    /// Prints a URL for the browser, and opens it if standard error is a terminal. The login is stored in a file that only you
    /// can read. Its token is renewed before it expires.
    Login(login::Login),
    /// Remove the login to a server, and revoke its tokens
    Logout(logout::Logout),
    /// Connect to a server and check that it answers
    ///
    /// With `--retry`, it waits until the server runs, for example in a script that deploys it.
    Ping(ping::Ping),
    /// Show changes of lists and resources, and the log of a server, until Ctrl-C
    Watch(watch::Watch),
    /// Explain an error of a server or a registry, or a diagnostic of a catalog: its causes, and what to do
    Explain(explain::Explain),
    /// Serve one or more servlets to MCP clients, over standard input and output or HTTP
    Serve(serve::Serve),
    /// Add a servlet, or a server at a URL, to the configuration of an MCP client
    ///
    /// Starts the server first, and changes the file only if it answers. Everything else in the file stays unchanged, including
    /// comments. A copy of the old file is next to it, with the ending `.servlet-bak`.
    Install(install::Install),
    /// Remove a server from the configuration of an MCP client
    Uninstall(install::Uninstall),
    /// Make keys for the callers of a server
    Auth(auth::AuthCommand),
    /// Write or check the configuration of a server, or print its JSON Schema
    Config(config::ConfigCommand),
    /// Write `servlet.lock`: what servlets and remotes may offer, and what servlets may do
    ///
    /// `servlet serve` then hides what a remote changes or adds, and does not load a servlet that has changed. Adds servlets and
    /// remotes that the lock does not have, and removes those that the configuration no longer has. `servlet lock update`
    /// approves changes of the others.
    Lock(lock::LockCommand),
    /// Pack a servlet for npm, for pip, or with this command for Claude Desktop
    Pack(pack::Pack),
    /// Write a servlet to an OCI registry
    ///
    /// Credentials are those of `docker login`, `podman login` and `oras login`. Nothing is pushed if the file is not a servlet
    /// that loads.
    Push(push::Push),
    /// Make a key pair for signatures
    Key(sign::KeyCommand),
    /// Sign an image in an OCI registry or a file, as cosign does
    Sign(sign::Sign),
    /// Check that an image in an OCI registry or a file is signed by one of several keys
    Verify(sign::Verify),
    /// Write the module of an image in an OCI registry to a file
    Pull(pull::Pull),
    /// Remove what was pulled from registries
    Cache(cache::CacheCommand),
    /// Print a script that completes the options of this command in a shell
    Completions(completions::Completions),
    /// Write the manual pages of this command
    #[command(hide = true)]
    Man(man::Man),
}

impl Cli {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let times = match self.command {
            Command::Serve(_) | Command::Dev(_) => LogTimes::Shown,
            Command::Config(_) => LogTimes::Reported,
            _ => LogTimes::Hidden,
        };
        let format = match &self.command {
            Command::Serve(serve) => serve.log_format(),
            _ => LogFormat::Text,
        };
        logging::start(self.verbose, times, format);
        match self.command {
            Command::New(new) => new.run(),
            Command::Generate(generate) => generate.run(),
            Command::Build(build) => build.run(),
            Command::Stamp(stamp) => stamp.run(),
            Command::Dev(dev) => dev.run(),
            Command::Test(test) => test.run(),
            Command::Describe(describe) => describe.run(),
            Command::Inspect(inspect) => inspect.run(),
            Command::Check(check) => check.run(),
            Command::Servers(servers) => servers.run(),
            Command::Catalog(catalog) => catalog.run(),
            Command::Export(export) => export.run(),
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
            Command::Install(install) => install.run(),
            Command::Uninstall(uninstall) => uninstall.run(),
            Command::Auth(auth) => auth.run(),
            Command::Config(config) => config.run(self.verbose),
            Command::Lock(lock) => lock.run(),
            Command::Pack(pack) => pack.run(),
            Command::Push(push) => push.run(),
            Command::Key(key) => key.run(),
            Command::Sign(sign) => sign.run(),
            Command::Verify(verify) => verify.run(),
            Command::Pull(pull) => pull.run(),
            Command::Cache(cache) => cache.run(),
            Command::Completions(completions) => completions.run(),
            Command::Man(man) => man.run(),
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
