//! The log of all servers in this process.

use std::{
    io,
    sync::{Mutex, Once},
};

/// The log of all servers in this process.
pub(crate) static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

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

pub(crate) fn start_log() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        tracing_subscriber::fmt()
            .with_env_filter(
                "mcp_servlet_server::service=info,mcp_servlet_server::http=warn,mcp_servlet_server::server=info",
            )
            .with_writer(|| Log)
            .with_ansi(false)
            .init();
    });
}
