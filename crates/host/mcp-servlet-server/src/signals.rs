//! Signals of the operating system.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC, ctrl_c};

/// The signals that ask the process to end: Ctrl-C and, on Unix, SIGTERM.
///
/// A signal that arrives while nothing waits for it is kept, so a program listens once, before anyone knows that it runs.
#[derive(Debug)]
pub struct ShutdownSignals {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(windows)]
    interrupt: CtrlC,
}

impl ShutdownSignals {
    /// Handles the signals from now on: they do not end the process any more.
    ///
    /// # Errors
    /// If the signal handlers cannot be installed.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt())?,
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate())?,
            #[cfg(windows)]
            interrupt: ctrl_c()?,
        })
    }

    /// Returns when the process receives one of the signals.
    pub async fn received(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(windows)]
        self.interrupt.recv().await;
    }
}

/// Does something at each SIGHUP, which no longer ends the process. Never returns.
///
/// # Errors
/// If the signal handler cannot be installed.
///
/// # Panics
/// Outside of a tokio runtime.
#[cfg(unix)]
pub(crate) fn at_hangups(act: impl Fn() + Send) -> io::Result<impl Future<Output = ()> + Send> {
    let mut hangups = signal(SignalKind::hangup())?;
    Ok(async move {
        while hangups.recv().await.is_some() {
            act();
        }
    })
}
