//! Figures that were measured in pairs, as a report.

use anyhow::ensure;
use bench_table::{Row, Target, Unit, table};
use serde_json::{Value, json};

use crate::figures::median;

/// How the figures are reported.
#[derive(clap::Args)]
pub(crate) struct Report {
    /// How to print the result
    #[arg(long, default_value = "table", value_parser = ["table", "json"])]
    format: String,
    /// Fail if a target is missed
    #[arg(long)]
    check: bool,
}

/// Rows with the same peer.
pub(crate) struct Section {
    pub(crate) peer: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// The figures of one round, ours first.
pub(crate) type Pair<T> = [T; 2];

impl Report {
    /// Prints the figures. Fails if a target is missed and that should be checked.
    pub(crate) fn finish(&self, sections: &[Section]) -> anyhow::Result<()> {
        if self.format == "json" {
            let sections: Vec<Value> = sections
                .iter()
                .map(|section| json!({ "peer": section.peer, "rows": section.rows }))
                .collect();
            println!("{}", serde_json::to_string_pretty(&sections)?);
        } else {
            let tables = sections
                .iter()
                .map(|section| table(section.peer, &section.rows));
            print!("{}", tables.collect::<Vec<_>>().join("\n"));
        }
        let mut rows = sections.iter().flat_map(|section| &section.rows);
        let is_met = rows.all(|row| row.met() != Some(false));
        ensure!(is_met || !self.check, "a target is missed");
        Ok(())
    }
}

/// The medians of both sides, and of the ratios of the rounds.
pub(crate) fn row(
    label: &'static str,
    unit: Unit,
    pairs: &[Pair<f64>],
    target: Option<Target>,
) -> Row {
    let middle = |figure: fn(&Pair<f64>) -> f64| {
        let mut values: Vec<f64> = pairs.iter().map(figure).collect();
        median(&mut values)
    };
    Row {
        label,
        unit,
        ours: middle(|pair| pair[0]),
        peer: middle(|pair| pair[1]),
        paired: Some(middle(|pair| pair[0] / pair[1])),
        target,
    }
}
