//! Callers whose tokens expire, at three processes behind a load balancer. The processes and their remotes end and are killed, while the
//! rules change. A second evaluator checks each decision, and the memory of one process is printed minute by minute.

mod caller;
mod lasting;
mod policy;
mod site;

use std::collections::VecDeque;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::ensure;

use self::caller::caller;
use self::lasting::{SETTLED_MINUTE, Worker};
use self::policy::Random;
use self::site::Site;
use crate::artifacts::Artifacts;
use crate::issuer::Issuer;

/// How many callers there are at once.
const CALLERS: usize = 8;
/// The interval between two changes of the rules.
const CHANGE_EVERY: Duration = Duration::from_secs(30);

#[derive(clap::Args)]
pub(crate) struct Soak {
    /// How long
    #[arg(long, default_value_t = 30)]
    minutes: u64,
}

impl Soak {
    pub(crate) fn run(self, artifacts: &Artifacts) -> anyhow::Result<()> {
        ensure!(
            self.minutes > SETTLED_MINUTE,
            "memory settles within {SETTLED_MINUTE} minutes; give more"
        );
        let temporary = tempfile::tempdir()?;
        let folder = temporary.path().canonicalize()?;
        let site = &Site::new(artifacts, &folder)?;
        let [issuer, stranger] = [Issuer::new()?, Issuer::new()?];
        fs::write(folder.join("keys.json"), issuer.keys().to_string())?;
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        site.write(&mut random)?;
        let watched = site.start(0)?;
        let others = VecDeque::from([(1, site.start(1)?), (2, site.start(2)?)]);
        let balancer = site.balance()?;
        let issuers = [&issuer, &stranger];
        let mut workers: Vec<Worker<'_>> = (0..CALLERS)
            .map(|number| caller(site, issuers, balancer.url.clone(), number))
            .collect();
        let turns = &AtomicUsize::new(0);
        workers.push(Box::new(move |progress| {
            turns.store(site.end_in_turns(others, progress)?, Ordering::Relaxed);
            Ok(())
        }));
        workers.push(Box::new(move |progress| {
            while progress.goes_on_after(CHANGE_EVERY) {
                site.write(&mut random)?;
            }
            Ok(())
        }));
        let outcome = lasting::run(&watched, self.minutes, workers);
        println!(
            "{} sets of rules, {} ends of processes and remotes",
            site.policies(),
            turns.load(Ordering::Relaxed)
        );
        outcome?;
        drop(balancer);
        site.end(watched)
    }
}
