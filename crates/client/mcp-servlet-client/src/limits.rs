//! Limits of what a server may send, and of how long it may take.

use std::time::Duration;

/// Limits of what a server may send.
///
/// ```
/// use mcp_servlet_client::Limits;
///
/// let mut limits = Limits::default();
/// limits.entries = 500;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Pages of one list: 100.
    pub pages: usize,
    /// Entries of one list: 10,000.
    pub entries: usize,
    /// Bytes of a cursor: 64 KiB.
    pub cursor: usize,
    /// Bytes of a message: 16 MiB.
    pub message: usize,
    /// Bytes of all lists together: 64 MiB.
    pub lists: usize,
    /// How often a server may ask for input during one request: 10 times.
    pub input_rounds: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pages: 100,
            entries: 10_000,
            cursor: 64 << 10,
            message: 16 << 20,
            lists: 64 << 20,
            input_rounds: 10,
        }
    }
}

/// How long a server may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// One attempt to connect: 30 seconds. A command that must be started twice has that time for each start.
    pub connect: Duration,
    /// A request: 30 seconds, without the time in which the server waits for [`Answers`](crate::Answers).
    pub request: Duration,
    /// All lists together: 60 seconds.
    pub lists: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            request: Duration::from_secs(30),
            lists: Duration::from_mins(1),
        }
    }
}
