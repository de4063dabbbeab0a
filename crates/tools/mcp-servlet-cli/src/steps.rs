//! Prints the current step of a command to standard error, and how long it took.

use std::{
    fmt::{self, Display},
    time::{Duration, Instant},
};

use crate::terminal::note;

/// Runs a build. Prints `building X…` before it and, if it succeeds, `built X in 3.2 s` after it.
pub(crate) fn build<T, E>(what: impl Display, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let start = Instant::now();
    note(format_args!("building {what}…"));
    let result = work()?;
    note(format_args!("built {what} in {}", Elapsed::since(start)));
    Ok(result)
}

/// A duration as `3.2 s` or `2 min 5 s`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elapsed(Duration);

impl Elapsed {
    pub(crate) fn since(start: Instant) -> Self {
        Self(start.elapsed())
    }
}

impl Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs() {
            0..60 => write!(f, "{:.1} s", self.0.as_secs_f64()),
            seconds => write!(f, "{} min {} s", seconds / 60, seconds % 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_unit_that_fits() {
        let shown = |milliseconds| Elapsed(Duration::from_millis(milliseconds)).to_string();
        assert_eq!(shown(40), "0.0 s");
        assert_eq!(shown(3_210), "3.2 s");
        assert_eq!(shown(60_000), "1 min 0 s");
        assert_eq!(shown(125_900), "2 min 5 s");
    }
}
