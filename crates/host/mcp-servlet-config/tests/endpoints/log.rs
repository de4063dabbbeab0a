//! The log of all servers in this process.

use std::{
    io,
    sync::{Mutex, Once},
};

use puppet::eventually;

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().expect("no panic").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let log = tracing_subscriber::fmt().with_env_filter(
            "mcp_servlet_server=warn,mcp_servlet_server::server::metrics::call=info,mcp_servlet_access=warn,mcp_servlet_client=warn,mcp_servlet_runtime=warn,remote=info",
        );
        log.with_writer(|| Log).with_ansi(false).init();
    });
}

/// Waits until a line of the log contains this text.
pub(crate) async fn says(text: &str) {
    line(text).await;
}

/// Whether a line of the log contains this text already.
pub(crate) fn has(text: &str) -> bool {
    let log = LOG.lock().expect("no panic");
    String::from_utf8_lossy(&log).contains(text)
}

/// The first line of the log that contains this text.
pub(crate) async fn line(text: &str) -> String {
    let mut found = None;
    eventually(text, async || {
        let log = LOG.lock().expect("no panic");
        let log = String::from_utf8_lossy(&log);
        found = log
            .lines()
            .find(|line| line.contains(text))
            .map(str::to_owned);
        found.is_some()
    })
    .await;
    found.expect("a line")
}
