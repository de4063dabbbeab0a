//! The log of all servers in this process.

use std::{
    io,
    sync::{Mutex, Once},
};

use crate::site::eventually;

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
            "mcp_servlet_server=warn,mcp_servlet_access=warn,mcp_servlet_client=warn,remote=info",
        );
        log.with_writer(|| Log).with_ansi(false).init();
    });
}

/// Waits until a line of the log contains this text.
pub(crate) async fn says(text: &str) {
    eventually(text, async || {
        let log = LOG.lock().expect("no panic");
        String::from_utf8_lossy(&log).contains(text)
    })
    .await;
}
