//! A report about several peers.

use anyhow::ensure;
use bench_table::{Row, table};

/// How the figures are reported.
#[derive(clap::Args)]
pub(crate) struct Report {
    /// Fail if a target is missed
    #[arg(long)]
    check: bool,
}

/// Rows with the same peer.
pub(crate) struct Section {
    pub(crate) peer: &'static str,
    pub(crate) rows: Vec<Row>,
}

impl Report {
    /// Prints the figures. Fails if a target is missed and that should be checked.
    pub(crate) fn finish(&self, sections: &[Section]) -> anyhow::Result<()> {
        let tables = sections
            .iter()
            .map(|section| table(section.peer, &section.rows));
        print!("{}", tables.collect::<Vec<_>>().join("\n"));
        let mut rows = sections.iter().flat_map(|section| &section.rows);
        let is_met = rows.all(|row| row.met() != Some(false));
        ensure!(is_met || !self.check, "a target is missed");
        Ok(())
    }
}
