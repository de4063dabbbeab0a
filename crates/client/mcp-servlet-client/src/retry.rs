//! How often to try again.

use std::time::Duration;

/// How often to try to connect, or to get an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Attempts after the first one. None tries until it succeeds.
    times: Option<u32>,
    every: Duration,
}

impl Retry {
    /// Tries once.
    pub fn never() -> Self {
        Self {
            times: Some(0),
            every: Duration::ZERO,
        }
    }

    /// Tries again this many times, with this pause and up to a quarter more.
    pub fn times(times: u32, every: Duration) -> Self {
        Self {
            times: Some(times),
            every,
        }
    }

    /// Tries until it succeeds, with this pause and up to a quarter more.
    pub fn forever(every: Duration) -> Self {
        Self { times: None, every }
    }

    /// Whether there is another attempt after this many.
    pub(crate) fn goes_on(self, attempts: u32) -> bool {
        self.times.is_none_or(|times| attempts <= times)
    }

    /// Whether there is only one attempt.
    pub(crate) fn is_never(self) -> bool {
        self.times == Some(0)
    }

    /// The pause before the next attempt. Clients that lost the same server come back at different times.
    pub(crate) fn pause(self) -> Duration {
        let jitter = f64::from(getrandom::u32().unwrap_or_default()) / f64::from(u32::MAX);
        self.every.saturating_add(self.every.mul_f64(0.25 * jitter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_has_up_to_a_quarter_more() {
        let pause = Retry::forever(Duration::from_secs(8)).pause();
        assert!(
            pause >= Duration::from_secs(8) && pause <= Duration::from_secs(10),
            "{pause:?}"
        );
        assert_eq!(Retry::forever(Duration::MAX).pause(), Duration::MAX);
    }

    #[test]
    fn no_further_attempt_is_never_whatever_the_pause() {
        assert!(Retry::never().is_never());
        assert!(Retry::times(0, Duration::from_secs(1)).is_never());
        assert!(!Retry::times(1, Duration::ZERO).is_never());
        assert!(!Retry::forever(Duration::ZERO).is_never());
    }
}
