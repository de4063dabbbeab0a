//! Signals that end the process.

use std::future::Future;

/// Returns when the process receives Ctrl-C or, on Unix, SIGTERM.
///
/// # Errors
/// If the signal handlers cannot be installed.
pub async fn shutdown_signal() -> std::io::Result<()> {
    #[cfg(unix)]
    let terminated = {
        let mut signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        async move { signal.recv().await }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<Option<()>>();
    either(tokio::signal::ctrl_c(), terminated).await
}

async fn either(
    first: impl Future<Output = std::io::Result<()>>,
    second: impl Future<Output = Option<()>>,
) -> std::io::Result<()> {
    tokio::select! {
        result = first => result,
        _ = second => Ok(()),
    }
}
