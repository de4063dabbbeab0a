//! Measurements that repeat exactly: bytes, and the wasm instructions of calls.

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use crate::build::{Builder, Profile, Side};
use crate::host::{GREET, Metered, greet_of};

/// Figures by name, such as `ours/greet/plain`.
pub(crate) type Figures = BTreeMap<String, u64>;

/// The figures of a project that the official generator itself created, with the same tool: bytes
/// of a release build, and instructions of a call of 85 bytes.
const REFERENCE: [(&str, u64); 2] = [
    ("official/greet/plain", 244_663),
    ("official/greet/call", 13_275),
];

/// How much our copy of that project may differ from it, in percent.
const TOLERANCE: f64 = 3.0;

/// Variants that only our side has: name, features, and flags of cargo.
const ONLY_OURS: [(&str, &str, &[&str]); 12] = [
    ("empty", "empty", &[]),
    ("three", "three", &[]),
    ("many", "many", &[]),
    ("structured", "structured", &[]),
    ("float", "float", &[]),
    ("config", "config", &[]),
    ("vars", "vars", &[]),
    ("http", "http", &[]),
    ("calls", "calls", &[]),
    ("client", "client", &[]),
    (
        "no-panic-hook",
        "greet,global-allocator",
        &["--no-default-features"],
    ),
    (
        "no-global-allocator",
        "greet,panic-hook",
        &["--no-default-features"],
    ),
];

pub(crate) fn measure(builder: &Builder) -> anyhow::Result<Figures> {
    let mut figures = Figures::new();
    let ours = greeting(builder, Side::Ours, &mut figures)?;
    let official = greeting(builder, Side::Official, &mut figures)?;
    ensure!(
        ours == official,
        "the comparison is not valid: the tools differ\nours:     {ours}\nofficial: {official}",
    );
    for (servlet, features, flags) in ONLY_OURS {
        for profile in Profile::BOTH {
            let wasm = builder.build(Side::Ours, profile, features, flags)?;
            figures.insert(
                format!("ours/{servlet}/{}", profile.name()),
                wasm.len() as u64,
            );
        }
    }
    Ok(figures)
}

/// Measures the greeting of one side. Returns its tools.
fn greeting(builder: &Builder, side: Side, figures: &mut Figures) -> anyhow::Result<Value> {
    let key = |what: &str| format!("{}/greet/{what}", side.name());
    let features = match side {
        Side::Ours => "greet",
        Side::Official => "",
    };
    let tuned = builder.build(side, Profile::Tuned, features, &[])?;
    let plain = builder.build(side, Profile::Plain, features, &[])?;
    figures.insert(key("tuned"), tuned.len() as u64);
    figures.insert(key("plain"), plain.len() as u64);

    let mut metered = Metered::new(&plain)?;
    let mut run = |what: &str, export: &str, input: &str| {
        let (fuel, answer) = metered.run(export, input).with_context(|| key(export))?;
        figures.insert(key(what), fuel);
        anyhow::Ok(answer)
    };
    // Hosts describe a fresh instance, and call a warm one.
    let mut description = run("describe", "describe", "")?;
    run("call", "call", GREET)?;
    let answer = run("call", "call", GREET)?;
    let text = &answer["content"][0]["text"];
    ensure!(text == "Hello, Ada Lovelace!", "the greeting is {answer}");
    let long = greet_of(1 << 20);
    run("call-1mib", "call", &long)?;
    run("call-1mib", "call", &long)?;
    Ok(description["tools"].take())
}

/// Fails unless our copy of the official project has the figures of the original.
pub(crate) fn validity(figures: &Figures) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for (name, reference) in REFERENCE {
        let figure = figure(figures, name)?;
        let percent = (figure / reference as f64 - 1.0) * 100.0;
        let line = format!("{name} is {figure}, the reference is {reference} ({percent:+.1} %)");
        if percent.abs() > TOLERANCE {
            bail!("the comparison is not valid: {line}, and {TOLERANCE} % is the most");
        }
        lines.push(line);
    }
    Ok(lines)
}

pub(crate) fn figure(figures: &Figures, name: &str) -> anyhow::Result<f64> {
    let figure = figures
        .get(name)
        .with_context(|| format!("`{name}` was not measured"))?;
    Ok(*figure as f64)
}

#[cfg(test)]
mod tests {
    use super::{Figures, validity};

    fn figures(bytes: u64, fuel: u64) -> Figures {
        let pairs = [
            ("official/greet/plain", bytes),
            ("official/greet/call", fuel),
        ];
        pairs.map(|(name, figure)| (name.to_owned(), figure)).into()
    }

    #[test]
    fn a_comparison_is_valid_within_three_percent() {
        assert!(validity(&figures(240_000, 13_500)).is_ok());
        assert!(validity(&figures(237_000, 13_500)).is_err());
        assert!(validity(&figures(240_000, 13_700)).is_err());
        assert!(validity(&Figures::new()).is_err());
    }
}
