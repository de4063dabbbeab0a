//! What a virtual tool should do, event by event. It knows nothing of the code that it is compared with.

use std::collections::{BTreeMap, BTreeSet};

use mcp_servlet_bundle::Call;

use super::{
    Graph, name_of,
    remote::{Line, What},
};

/// How many calls run at once.
const RUNNING: usize = 16;

/// The steps and calls of a tool, from request to request.
pub(super) struct Model<'g> {
    graph: &'g Graph,
    states: BTreeMap<usize, &'static str>,
    ended: BTreeSet<Call>,
    answered: BTreeSet<Call>,
    left: Option<u64>,
    now: u64,
    /// The calls that run, and when they end.
    running: BTreeMap<Call, u64>,
    log: Vec<Line>,
}

/// One request.
pub(super) struct Round {
    pub(super) end: End,
    pub(super) milliseconds: u64,
    pub(super) states: BTreeMap<usize, &'static str>,
    pub(super) log: Vec<Line>,
}

/// How a request ends.
#[derive(Debug)]
pub(super) enum End {
    Over,
    Asks(BTreeSet<Call>),
    Failed(Call),
    /// The steps that have begun and are not over.
    TimedOut(Vec<usize>),
}

const RUNS: &str = "runs";

impl<'g> Model<'g> {
    pub(super) fn new(graph: &'g Graph) -> Self {
        Self {
            graph,
            states: (0..graph.nodes.len())
                .map(|step| (step, "not started"))
                .collect(),
            ended: BTreeSet::new(),
            answered: BTreeSet::new(),
            left: graph.timeout,
            now: 0,
            running: BTreeMap::new(),
            log: Vec::new(),
        }
    }

    /// The next request. `None` if two things happen at once whose order matters.
    pub(super) fn run(&mut self) -> Option<Round> {
        (self.now, self.log) = (0, Vec::new());
        // What has not ended begins again.
        self.states
            .values_mut()
            .filter(|state| **state == RUNS)
            .for_each(|state| *state = "not started");
        let mut asks = BTreeSet::new();
        let end = loop {
            if asks.is_empty() {
                self.begin();
            }
            if self.running.is_empty() {
                break if asks.is_empty() {
                    End::Over
                } else {
                    End::Asks(asks)
                };
            }
            let Some(call) = self.next()? else {
                break self.time_is_up();
            };
            if self.asks(call) {
                asks.insert(call);
            } else if !self.end(call) {
                break self.wind_down(call)?;
            }
        };
        if let End::Asks(asks) = &end {
            self.answered.extend(asks);
            self.left = self.left.map(|left| left - self.now);
        }
        Some(Round {
            end,
            milliseconds: self.now,
            states: self.states.clone(),
            log: self.log.clone(),
        })
    }

    fn note(&mut self, what: What, call: Call) {
        self.log.push(Line {
            milliseconds: self.now,
            what,
            call: name_of(call),
        });
    }

    fn is_over(&self, step: usize) -> bool {
        ["done", "failed", "skipped"].contains(&self.states[&step])
    }

    /// Begins what may begin.
    fn begin(&mut self) {
        let graph = self.graph;
        let is_ready = |model: &Self, step: &usize| {
            let node = &graph.nodes[*step];
            let mut before = node.reads.iter().chain(&node.after);
            model.states[step] == "not started" && before.all(|other| model.is_over(*other))
        };
        while let Some(step) = (0..graph.nodes.len()).find(|step| is_ready(self, step)) {
            let is_skipped = graph.nodes[step].when == Some(false);
            self.states
                .insert(step, if is_skipped { "skipped" } else { RUNS });
            self.finish(step);
        }
        while self.running.len() < RUNNING
            && let Some(call) = self.waiting()
        {
            self.note(What::Began, call);
            self.running
                .insert(call, self.now + graph.milliseconds(call));
        }
    }

    /// The first call that may begin.
    fn waiting(&self) -> Option<Call> {
        let nodes = self.graph.nodes.iter().enumerate();
        let nodes = nodes.filter(|(step, _)| self.states[step] == RUNS);
        let mut calls = nodes.filter_map(|(step, node)| {
            let running = self.running.keys().filter(|call| call.step == step).count();
            let may_begin = running < node.parallel.unwrap_or(1);
            node.calls(step).find(|call| {
                may_begin && !self.ended.contains(call) && !self.running.contains_key(call)
            })
        });
        calls.next()
    }

    /// Ends a step whose calls have all ended.
    fn finish(&mut self, step: usize) {
        let node = &self.graph.nodes[step];
        if self.states[&step] != RUNS || !node.calls(step).all(|call| self.ended.contains(&call)) {
            return;
        }
        let has_failed =
            node.parallel.is_none() && node.calls(step).any(|call| self.graph.fails(call));
        self.states
            .insert(step, if has_failed { "failed" } else { "done" });
    }

    /// Takes the next call that ends. `Some(None)` if the time is up before.
    #[expect(
        clippy::option_option,
        reason = "there may be no call, or no time for it"
    )]
    fn next(&mut self) -> Option<Option<Call>> {
        let (call, at) = self
            .running
            .iter()
            .min_by_key(|(_, at)| **at)
            .map(|(call, at)| (*call, *at))?;
        let matters = |call: &Call| self.graph.fails(*call) || self.graph.plan(*call).asks;
        let same: Vec<_> = self
            .running
            .iter()
            .filter(|(_, other)| **other == at)
            .collect();
        let has_tie = same.len() > 1 && same.iter().any(|(call, _)| matters(call));
        if has_tie || self.left == Some(at) {
            return None;
        }
        if let Some(left) = self.left.filter(|left| *left < at) {
            self.now = left;
            return Some(None);
        }
        self.now = at;
        self.running.remove(&call);
        Some(Some(call))
    }

    fn asks(&mut self, call: Call) -> bool {
        let asks = self.graph.plan(call).asks && !self.graph.is_late(call);
        let asks = asks && !self.answered.contains(&call);
        if asks {
            self.note(What::Asked, call);
        }
        asks
    }

    /// Ends a call. Returns whether the tool goes on.
    fn end(&mut self, call: Call) -> bool {
        let is_late = self.graph.is_late(call);
        self.note(if is_late { What::Stopped } else { What::Ended }, call);
        if self.graph.fails(call) && !self.graph.nodes[call.step].may_fail {
            self.states.insert(call.step, "failed");
            return false;
        }
        self.ended.insert(call);
        self.finish(call.step);
        true
    }

    /// Stops what only reads, and waits for the rest.
    fn wind_down(&mut self, mut failed: Call) -> Option<End> {
        let graph = self.graph;
        self.stop(|call| graph.nodes[call.step].is_read_only);
        while !self.running.is_empty() {
            let Some(call) = self.next()? else {
                break;
            };
            let goes_on = self.asks(call) || self.end(call);
            if !goes_on && call.step == failed.step && call.index < failed.index {
                failed = call;
            }
        }
        self.cut_off();
        Some(End::Failed(failed))
    }

    fn time_is_up(&mut self) -> End {
        let states = self.states.iter();
        let running = states.filter(|(_, state)| **state == RUNS);
        let end = End::TimedOut(running.map(|(step, _)| *step).collect());
        self.cut_off();
        end
    }

    fn stop(&mut self, is_stopped: impl Fn(Call) -> bool) {
        let running: Vec<_> = self.running.keys().copied().collect();
        for call in running.into_iter().filter(|call| is_stopped(*call)) {
            self.running.remove(&call);
            self.note(What::Stopped, call);
        }
    }

    /// Stops everything. A write may have happened.
    fn cut_off(&mut self) {
        for (step, state) in &mut self.states {
            let is_running = self.running.keys().any(|call| call.step == *step);
            if *state == RUNS {
                let is_read_only = self.graph.nodes[*step].is_read_only;
                *state = if is_running && !is_read_only {
                    "unknown"
                } else {
                    "stopped"
                };
            }
        }
        self.stop(|_| true);
    }
}
