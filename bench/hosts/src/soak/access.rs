//! Callers whose tokens expire, at three processes behind a load balancer that come and go, while the rules change. A second evaluator
//! checks each decision.

mod caller;
mod policy;
mod site;

use std::collections::VecDeque;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::caller::caller;
use self::policy::Random;
use self::site::Site;
use super::CHANGE_EVERY;
use super::clients::CLIENTS;
use super::lasting::{self, Worker};
use crate::artifacts::Artifacts;
use crate::issuer::Issuer;

pub(super) fn run(artifacts: &Artifacts, minutes: u64) -> anyhow::Result<()> {
    let temporary = tempfile::tempdir()?;
    let folder = temporary.path().canonicalize()?;
    let site = &Site::new(artifacts, &folder)?;
    let [issuer, stranger] = [Issuer::new()?, Issuer::new()?];
    fs::write(folder.join("keys.json"), issuer.keys().to_string())?;
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    site.write(&mut random)?;
    let watched = site.start(0)?;
    let others = VecDeque::from([site.start(1)?, site.start(2)?]);
    let balancer = site.balance()?;
    let issuers = [&issuer, &stranger];
    let mut workers: Vec<Worker<'_>> = (0..CLIENTS)
        .map(|number| caller(site, issuers, balancer.url.clone(), number))
        .collect();
    let ended = &AtomicUsize::new(0);
    workers.push(Box::new(move |progress| {
        ended.store(site.end_in_turns(others, progress)?, Ordering::Relaxed);
        Ok(())
    }));
    workers.push(Box::new(move |progress| {
        while progress.goes_on_after(CHANGE_EVERY) {
            site.write(&mut random)?;
        }
        Ok(())
    }));
    let outcome = lasting::run(&watched, minutes, workers);
    println!(
        "{} sets of rules, {} ends of processes",
        site.policies(),
        ended.load(Ordering::Relaxed)
    );
    outcome
}
