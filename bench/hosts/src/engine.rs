//! Compares the runtime of this checkout with the runtime of a base commit.
//!
//! `bench/engine` is built in both trees. The two programs run in turns.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio as Pipe};

use anyhow::{Context, ensure};
use bench_table::{Row, Target, Unit, table};
use serde_json::{Value, json};

use crate::figures::median;
use crate::process::Process;

const ROUNDS: usize = 7;
/// How often one of eight endless calls is stopped.
const STOPS: usize = 200;
/// The target duration of a slow call, in seconds.
const SLOW: f64 = 0.05;

#[derive(clap::Args)]
pub(crate) struct Engine {
    /// `bench-engine` of this checkout
    #[arg(long)]
    ours: PathBuf,
    /// `bench-engine` of the base commit
    #[arg(long)]
    base: PathBuf,
    /// A folder with servlets, `json_query.wasm` among them
    #[arg(long)]
    servlets: PathBuf,
    /// The servlet with the tools `greet` and `spin`
    #[arg(long)]
    wasm: PathBuf,
    /// Fail if a target is missed
    #[arg(long)]
    check: bool,
}

/// The same for both sides, ours first.
type Both<T> = [T; 2];

/// The figures of one measurement: for each side those of all rounds.
type Figures = Both<Vec<Vec<f64>>>;

impl Engine {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let sides = Sides {
            programs: [self.ours.clone(), self.base.clone()],
            folder: folder.path().to_owned(),
        };
        let mut rows = self.starts(&sides)?;
        rows.extend(self.instances(&sides)?);
        rows.extend(self.calls(&sides)?);
        print!("{}", table("base", &rows));
        let [ours, base] = self.wrong_stops(&sides)?;
        println!("\nwrong stops of {STOPS}: {ours}; base: {base}");
        let is_met = rows.iter().all(|row| row.met() != Some(false)) && ours == 0.0;
        ensure!(is_met || !self.check, "a target is missed");
        Ok(())
    }

    fn tool(&self, name: &str, arguments: &Value) -> Value {
        json!({ "wasm": self.wasm, "name": name, "arguments": arguments })
    }

    fn greet(&self) -> Value {
        self.tool("greet", &json!({ "name": "Ada Lovelace" }))
    }

    fn spin(&self, rounds: u64) -> Value {
        self.tool("spin", &json!({ "rounds": rounds }))
    }

    /// Starts of all servlets, and their memory.
    fn starts(&self, sides: &Sides) -> anyhow::Result<Vec<Row>> {
        let load = json!({ "load": self.servlets });
        // The first run compiles the modules.
        let cold = Sides::each(3, |side, round| {
            let cache = sides.folder.join(format!("cold-{side}-{round}"));
            Runner::start(&sides.programs[side], &cache)?.ask(&load)
        })?;
        Sides::each(1, |side, _| sides.runner(side)?.ask(&load))?;
        let warm = Sides::each(ROUNDS, |side, _| sides.runner(side)?.ask(&load))?;
        let unit = Unit::Milliseconds;
        Ok(vec![
            row(
                "start of all examples, compiled before",
                unit,
                1e3,
                0.25,
                &warm,
                0,
            ),
            row("its processor time", unit, 1e3, 0.25, &warm, 1),
            row(
                "an answer of each, never compiled",
                unit,
                1e3,
                0.35,
                &cold,
                0,
            ),
            row(
                "memory, all examples",
                Unit::Mebibytes,
                MEBI,
                0.65,
                &warm,
                2,
            ),
        ])
    }

    /// The memory of instances next to the first one.
    fn instances(&self, sides: &Sides) -> anyhow::Result<Vec<Row>> {
        let filter = "reduce range(300000) as $number (0; . + $number)";
        let arguments = json!({ "filter": filter, "json": "0" });
        let wasm = self.servlets.join("json_query.wasm");
        let query = json!({ "wasm": wasm, "name": "query", "arguments": arguments });
        let spin = self.spin(sides.rounds(self)? * 4);
        let measure = |label, tool: Value| {
            let command = json!({ "instances": { "tool": tool, "count": 17 } });
            let memory = Sides::each(ROUNDS, |side, _| sides.runner(side)?.ask(&command))?;
            Ok(row(label, Unit::Kibibytes, KIBI, 0.2, &memory, 0))
        };
        let rows = [
            measure("memory of a further instance, small", spin),
            measure("memory of a further instance, large", query),
        ];
        rows.into_iter().collect()
    }

    fn calls(&self, sides: &Sides) -> anyhow::Result<Vec<Row>> {
        let calls = |new: bool| json!({ "calls": { "tool": self.greet(), "count": 16_000, "in_new_instances": new } });
        let mut runners = [sides.runner(0)?, sides.runner(1)?];
        let kept = Sides::each(ROUNDS, |side, _| runners[side].ask(&calls(false)))?;
        // The base always reuses an instance here.
        let new = Sides::each(ROUNDS, |side, _| runners[side].ask(&calls(side == 0)))?;
        let slow = self.spin(sides.rounds(self)?);
        let under_load =
            json!({ "under_load": { "fast": self.greet(), "slow": slow, "count": 400 } });
        let under_load = Sides::each(3, |side, _| runners[side].ask(&under_load))?;
        let (short, long) = (Unit::Microseconds, Unit::Milliseconds);
        Ok(vec![
            row(
                "processor time of a call, 16 at once",
                short,
                1e6,
                0.4,
                &kept,
                1,
            ),
            row("the same, ours in new instances", short, 1e6, 2.5, &new, 1),
            row(
                "short call next to 16 of 50 ms, 99 %",
                long,
                1e3,
                0.05,
                &under_load,
                1,
            ),
        ])
    }

    fn wrong_stops(&self, sides: &Sides) -> anyhow::Result<Both<f64>> {
        let command = json!({ "stops": { "endless": self.spin(u64::MAX), "times": STOPS } });
        let wrong = Sides::each(1, |side, _| sides.runner(side)?.ask(&command))?;
        Ok(wrong.map(|rounds| rounds[0][0]))
    }
}

const KIBI: f64 = 1.0 / 1024.0;
const MEBI: f64 = KIBI / 1024.0;

/// The medians of one figure in another unit.
fn row(
    label: &'static str,
    unit: Unit,
    factor: f64,
    target: f64,
    figures: &Figures,
    figure: usize,
) -> Row {
    let [ours, peer] = figures.each_ref().map(|rounds| {
        let mut values: Vec<f64> = rounds.iter().map(|round| round[figure]).collect();
        median(&mut values) * factor
    });
    Row {
        label,
        unit,
        ours,
        peer,
        paired: None,
        target: Some(Target::AtMost(target)),
    }
}

struct Sides {
    programs: Both<PathBuf>,
    folder: PathBuf,
}

impl Sides {
    /// Measures both sides in turns.
    fn each(
        rounds: usize,
        mut measure: impl FnMut(usize, usize) -> anyhow::Result<Vec<f64>>,
    ) -> anyhow::Result<Figures> {
        let mut figures = [Vec::new(), Vec::new()];
        for round in 0..rounds {
            for (side, figures) in figures.iter_mut().enumerate() {
                figures.push(measure(side, round)?);
            }
        }
        Ok(figures)
    }

    /// A new process of a side, with the compiled modules of earlier ones.
    fn runner(&self, side: usize) -> anyhow::Result<Runner> {
        Runner::start(
            &self.programs[side],
            &self.folder.join(format!("cache-{side}")),
        )
    }

    /// How many rounds the tool `spin` needs to take as long as a slow call.
    fn rounds(&self, engine: &Engine) -> anyhow::Result<u64> {
        let rounds = 1_000_000;
        let mut runner = self.runner(1)?;
        let calls = json!({ "calls": { "tool": engine.spin(rounds), "count": 160 } });
        let time = runner.ask(&calls)?[1];
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive and small"
        )]
        Ok((rounds as f64 * SLOW / time) as u64)
    }
}

/// A process of `bench-engine`.
struct Runner {
    _process: Process,
    commands: ChildStdin,
    figures: BufReader<ChildStdout>,
}

impl Runner {
    fn start(program: &Path, cache: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(cache)?;
        let mut command = Command::new(program);
        command.arg(cache).env("RUST_BACKTRACE", "0");
        let pipes = command.stdin(Pipe::piped()).stdout(Pipe::piped());
        let mut child = pipes
            .spawn()
            .with_context(|| format!("cannot start `{}`", program.display()))?;
        let streams = child.stdin.take().zip(child.stdout.take());
        let (commands, figures) = streams.context("both are piped")?;
        Ok(Self {
            _process: Process(child),
            commands,
            figures: BufReader::new(figures),
        })
    }

    fn ask(&mut self, command: &Value) -> anyhow::Result<Vec<f64>> {
        writeln!(self.commands, "{command}")?;
        let mut line = String::new();
        self.figures.read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("no figures of {command}"))
    }
}
