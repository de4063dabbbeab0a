//! `servlet ping`: asks whether a server answers.

use std::io::Write as _;

use clap::Args;
use mcp_servlet_client::{Pong, Session};
use serde_json::json;

use crate::{
    failure::Failure,
    format::Format,
    session::ServerOptions,
    terminal::{self, one_line},
};

#[derive(Args, Debug)]
pub(crate) struct Ping {
    /// A `.wasm` file, a folder of them, a `servlet.toml`, a URL, or the name of a server in the configuration of an MCP client
    target: Option<String>,

    /// `json` prints an object
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    server: ServerOptions,
}

impl Ping {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let target = self.server.only_target(self.target.as_ref())?;
        self.server
            .with_session(&target, self.format, async |session| {
                let pong = session.ping().await?;
                self.show(session, pong)
            })
    }

    fn show(&self, session: &Session, pong: Pong) -> Result<(), Failure> {
        let server = session.server();
        let milliseconds = pong.latency.as_secs_f64() * 1000.0;
        let era = if server.is_stateless() {
            "stateless"
        } else {
            "handshake"
        };
        match self.format {
            Format::Human => writeln!(
                terminal::out(),
                "{}: protocol {} ({era}), {milliseconds:.1} ms",
                one_line(&server.name()),
                one_line(&server.protocol)
            )?,
            Format::Json => {
                let report = json!({
                    "server": server.text.info,
                    "protocol": server.protocol,
                    "era": era,
                    "milliseconds": milliseconds,
                });
                writeln!(terminal::json(), "{report}")?;
            }
        }
        Ok(())
    }
}
