//! Comparisons of the same work on two sides.
//!
//! In each round every pair runs, and both sides of a pair take turns within the round. A ratio is the median of the ratios of the
//! rounds.

use bench_table::{Pair, Row, Target, Unit};
use serde_json::Value;

use crate::http::{Clients, Listening};
use crate::report::Section;

const ROUNDS: usize = 7;
/// How often each side has its turn in a round.
const TURNS: usize = 4;

/// The same work on two sides.
pub(crate) struct Comparison<'a> {
    peer: &'static str,
    label: &'static str,
    target: Option<Target>,
    sides: Pair<Side<'a>>,
    rates: Vec<Pair<f64>>,
}

/// Makes calls, and returns how many there were per second.
type Side<'a> = Box<dyn FnMut() -> anyhow::Result<f64> + 'a>;

impl<'a> Comparison<'a> {
    pub(crate) fn new(
        peer: &'static str,
        label: &'static str,
        target: impl Into<Option<Target>>,
        ours: impl FnMut() -> anyhow::Result<f64> + 'a,
        other: impl FnMut() -> anyhow::Result<f64> + 'a,
    ) -> Self {
        Self {
            peer,
            label,
            target: target.into(),
            sides: [Box::new(ours), Box::new(other)],
            rates: Vec::new(),
        }
    }

    /// Measures both sides of a round. Each side begins in half of the turns.
    fn round(&mut self) -> anyhow::Result<Pair<f64>> {
        let mut sums = [0.0; 2];
        for turn in 0..TURNS {
            for side in [turn % 2, 1 - turn % 2] {
                sums[side] += self.sides[side]()?;
            }
        }
        Ok(sums.map(|sum| sum / TURNS as f64))
    }

    fn row(&self) -> Row {
        Row::of_rounds(self.label, Unit::PerSecond, &self.rates, self.target)
    }
}

/// Runs all rounds of all comparisons. Returns the rows of each peer, in their order.
pub(crate) fn measure(comparisons: &mut [Comparison<'_>]) -> anyhow::Result<Vec<Section>> {
    for round in 0..=ROUNDS {
        for comparison in &mut *comparisons {
            let rates = comparison.round()?;
            // The first round only warms up.
            if round > 0 {
                comparison.rates.push(rates);
            }
        }
    }
    let of_peer = |chunk: &[Comparison<'_>]| Section {
        peer: chunk[0].peer,
        rows: chunk.iter().map(Comparison::row).collect(),
    };
    let chunks = comparisons.chunk_by(|one, next| one.peer == next.peer);
    Ok(chunks.map(of_peer).collect())
}

/// A side that calls `tool` with this many HTTP clients at once. Each client makes `calls` calls.
pub(crate) fn calls<'a>(
    clients: usize,
    server: &'a Listening,
    tool: &'a str,
    arguments: Value,
    calls: usize,
) -> impl FnMut() -> anyhow::Result<f64> + 'a {
    let clients = Clients {
        tool,
        arguments,
        clients,
        calls,
        tokens: Vec::new(),
    };
    move || clients.run(&server.url)
}
