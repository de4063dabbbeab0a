//! The report of a run, with the target ratios.

use bench_table::{Row, Target, Unit, table};

use crate::exact::{Figures, figure, validity};

/// Figures that both sides have: label, unit, figure, target ratio.
const COMPARED: [(&str, Unit, &str, f64); 5] = [
    ("one tool, plain", Unit::Bytes, "greet/plain", 0.18),
    ("one tool, tuned", Unit::Bytes, "greet/tuned", 0.25),
    ("call, 85 bytes", Unit::Instructions, "greet/call", 0.62),
    (
        "describe, 1 tool",
        Unit::Instructions,
        "greet/describe",
        0.12,
    ),
    (
        "call, 1 MiB in and out",
        Unit::Instructions,
        "greet/call-1mib",
        0.90,
    ),
];

pub(crate) fn report(figures: &Figures) -> anyhow::Result<String> {
    let rows: Vec<Row> = COMPARED
        .into_iter()
        .map(|(label, unit, name, target)| {
            let of = |side: &str| figure(figures, &format!("{side}/{name}"));
            let pair = [of("ours")?, of("official")?];
            Ok(Row::new(label, unit, pair, Target::AtMost(target)))
        })
        .collect::<anyhow::Result<_>>()?;
    let table = table("official", &rows);
    let validity = validity(figures)?.join("; ");
    Ok(format!("{table}\nThe comparison is valid: {validity}.\n"))
}
