//! Limits how much a servlet or another program writes into a log.
//!
//! A program that logs in a loop would fill the disk. Each one may log 64 KiB per second; a note says how much was left out.

use std::time::{Duration, Instant};

/// How many bytes a program may log in each [`PERIOD`].
const MAX_BYTES: usize = 64 << 10;
/// How long one count lasts.
const PERIOD: Duration = Duration::from_secs(1);

/// A line counts as at least so many bytes, because the log adds the time and the name of the program.
const MIN_LINE: usize = 64;

/// Counts the bytes that a program logs in each second.
#[derive(Debug, Default)]
pub struct LogRate {
    /// When the current second began; `None` before the first line.
    since: Option<Instant>,
    /// How many bytes were logged in it.
    logged: usize,
    /// How many bytes were left out since the last note.
    left_out: u64,
    /// When the last note was made.
    noted: Option<Instant>,
}

impl LogRate {
    /// Whether a line of this length in bytes may be logged now. If not, it counts as left out. A line that is longer than a
    /// second allows takes the whole second.
    pub fn admits(&mut self, length: usize, now: Instant) -> bool {
        if is_over(self.since, now) {
            (self.since, self.logged) = (Some(now), 0);
        }
        let cost = length.clamp(MIN_LINE, MAX_BYTES);
        if self.logged + cost > MAX_BYTES {
            self.left_out += length as u64;
            return false;
        }
        self.logged += cost;
        true
    }

    /// A line that says how much was left out. `None` if nothing was, or if there was such a line in the last second.
    pub fn note(&mut self, now: Instant) -> Option<String> {
        if !is_over(self.noted, now) {
            return None;
        }
        let note = self.last_note()?;
        self.noted = Some(now);
        Some(note)
    }

    /// The same at the end of the program.
    pub fn last_note(&mut self) -> Option<String> {
        match std::mem::take(&mut self.left_out) {
            0 => None,
            left_out => Some(format!(
                "{left_out} bytes left out: the limit is {MAX_BYTES} bytes per second"
            )),
        }
    }
}

/// Whether the period that began at `since` is over.
fn is_over(since: Option<Instant>, now: Instant) -> bool {
    since.is_none_or(|since| now.duration_since(since) >= PERIOD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_second_is_counted() {
        let mut rate = LogRate::default();
        let now = Instant::now();
        let admitted = (0..100).filter(|_| rate.admits(1024, now)).count();
        assert_eq!(admitted, 64);
        let note = "36864 bytes left out: the limit is 65536 bytes per second";
        assert_eq!(rate.note(now).as_deref(), Some(note));
        assert_eq!(rate.note(now), None);
        // The next note is for the next second.
        assert!(!rate.admits(7, now));
        assert_eq!(rate.note(now), None);
        assert!(rate.admits(7, now + PERIOD));
        let note = "7 bytes left out: the limit is 65536 bytes per second";
        assert_eq!(rate.note(now + PERIOD).as_deref(), Some(note));
        assert_eq!(rate.last_note(), None);
    }

    #[test]
    fn a_line_may_be_longer_than_the_limit() {
        let mut rate = LogRate::default();
        let now = Instant::now();
        assert!(rate.admits(2 * MAX_BYTES, now) && !rate.admits(0, now));
        assert!(rate.admits(1, now + PERIOD) && !rate.admits(MAX_BYTES, now + PERIOD));
    }

    #[test]
    fn empty_lines_count() {
        let mut rate = LogRate::default();
        let now = Instant::now();
        let admitted = (0..2000).filter(|_| rate.admits(0, now)).count();
        assert_eq!(admitted, MAX_BYTES / MIN_LINE);
    }
}
