//! The compared figures, and their target ratios.

use bench_table::{Row, Target, Unit};

use crate::build::{Builder, Profile, Side};
use crate::exact::{Figures, figure};
use crate::{cold, timed};

/// Figures that both sides have: label, unit, figure, target ratio.
const EXACT: [(&str, Unit, &str, f64); 7] = [
    ("one tool, plain", Unit::Bytes, "greet/plain", 0.18),
    ("one tool, tuned", Unit::Bytes, "greet/tuned", 0.25),
    ("call, 85 bytes", Unit::Instructions, "greet/call", 0.62),
    (
        "call, one of 21 tools",
        Unit::Instructions,
        "many/call",
        0.72,
    ),
    (
        "describe, 1 tool",
        Unit::Instructions,
        "greet/describe",
        0.12,
    ),
    (
        "describe, 21 tools",
        Unit::Instructions,
        "many/describe",
        0.05,
    ),
    (
        "call, 1 MiB in and out",
        Unit::Instructions,
        "greet/call-1mib",
        0.90,
    ),
];

pub(crate) fn exact(figures: &Figures) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (label, unit, name, target) in EXACT {
        let [ours, official] = both(figures, name)?;
        rows.push(Row {
            label,
            unit,
            ours,
            peer: official,
            paired: None,
            target: Some(Target::AtMost(target)),
        });
    }
    let slopes = [
        ("each further tool, plain", "plain", 0.20),
        ("each further tool, tuned", "tuned", 0.35),
    ];
    for (label, profile, target) in slopes.into_iter().rev() {
        let [ours, official] = slope(figures, profile)?;
        rows.insert(
            2,
            Row {
                label,
                unit: Unit::Bytes,
                ours,
                peer: official,
                paired: None,
                target: Some(Target::AtMost(target)),
            },
        );
    }
    let others = [
        ("one struct argument, plain", "structured/plain", Some(0.30)),
        ("one struct argument, tuned", "structured/tuned", None),
        ("one tool of floats, plain", "float/plain", None),
        ("one tool of floats, tuned", "float/tuned", None),
    ];
    for (label, name, target) in others.into_iter().rev() {
        let [ours, official] = both(figures, name)?;
        rows.insert(
            4,
            Row {
                label,
                unit: Unit::Bytes,
                ours,
                peer: official,
                paired: None,
                target: target.map(Target::AtMost),
            },
        );
    }
    Ok(rows)
}

fn both(figures: &Figures, name: &str) -> anyhow::Result<[f64; 2]> {
    Ok([
        figure(figures, &format!("ours/{name}"))?,
        figure(figures, &format!("official/{name}"))?,
    ])
}

/// Bytes per tool, from 1 to 21 tools.
fn slope(figures: &Figures, profile: &str) -> anyhow::Result<[f64; 2]> {
    let many = both(figures, &format!("many/{profile}"))?;
    let one = both(figures, &format!("three/{profile}"))?;
    Ok([(many[0] - one[0]) / 20.0, (many[1] - one[1]) / 20.0])
}

/// Measures the figures that depend on the machine.
pub(crate) fn timed(builder: &Builder) -> anyhow::Result<Vec<Row>> {
    let mut greet = Vec::new();
    for side in Side::BOTH {
        greet.push(builder.build(side, Profile::Plain, "greet", &[])?);
    }
    let calls = timed::calls(&greet)?;
    let compile = timed::compile(&greet)?;
    let memory = timed::memory(builder, &greet)?;
    let cold = cold::builds(builder)?;
    let row = |label, unit, [ours, official]: [f64; 2], target: Option<f64>| Row {
        label,
        unit,
        ours,
        peer: official,
        paired: None,
        target: target.map(Target::AtMost),
    };
    Ok(vec![
        row(
            "call through Extism, median",
            Unit::Microseconds,
            calls,
            Some(0.92),
        ),
        row(
            "cold compile in the host, CPU",
            Unit::Milliseconds,
            compile,
            Some(0.25),
        ),
        row("memory per instance", Unit::Kibibytes, memory, Some(0.35)),
        row(
            "cold build of a servlet, CPU",
            Unit::Seconds,
            cold.cpu,
            Some(0.70),
        ),
        row(
            "crates built for a servlet",
            Unit::Crates,
            cold.crates,
            None,
        ),
    ])
}
