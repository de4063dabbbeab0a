//! A long, mixed load over HTTP, with the server's memory minute by minute.

mod clients;
mod expected;
mod gateway;
mod lasting;
mod outage;
mod servlet;

use std::path::PathBuf;

use anyhow::ensure;

use crate::Subject;

#[derive(clap::Args)]
pub(crate) struct Soak {
    #[command(flatten)]
    subject: Subject,
    /// How long
    #[arg(long, default_value_t = 30)]
    minutes: u64,
    /// Serve a bundle and remotes as well: the native server at this path. The remotes are killed, and the configuration changes
    #[arg(long)]
    gateway: Option<PathBuf>,
}

impl Soak {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        ensure!(
            self.minutes > lasting::SETTLED,
            "memory settles within {} minutes; give more",
            lasting::SETTLED
        );
        match &self.gateway {
            None => servlet::run(&self.subject, self.minutes),
            Some(native) => gateway::run(&self.subject, native, self.minutes),
        }
    }
}
