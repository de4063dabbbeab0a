//! Docker's registry on this machine, a package of Debian.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::json;
use tempfile::TempDir;
use test_authority::Authority;

/// How long it may take to start.
const START: Duration = Duration::from_secs(30);

/// A registry with TLS that takes and gives everything. It ends with this value.
pub(crate) struct Registry {
    process: Child,
    pub(crate) address: SocketAddr,
    folder: TempDir,
}

impl Registry {
    pub(crate) fn start() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = |name: &str| folder.path().join(name);
        let authority = Authority::new();
        let (certificate, key) = authority.sign(1);
        for (name, text) in [
            ("ca.pem", authority.root()),
            ("cert.pem", certificate),
            ("key.pem", key),
        ] {
            fs::write(file(name), text)?;
        }
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let config = json!({
            "version": "0.1",
            "storage": { "filesystem": { "rootdirectory": file("images") } },
            "http": { "addr": address.to_string(), "tls": { "certificate": file("cert.pem"), "key": file("key.pem") } },
        });
        fs::write(file("registry.yml"), config.to_string())?;
        let mut serve = Command::new("docker-registry");
        serve.arg("serve").arg(file("registry.yml"));
        serve.stdout(Stdio::null()).stderr(Stdio::null());
        let process = serve.spawn();
        let process = process.context("`docker-registry` is missing; Debian has it")?;
        let registry = Self {
            process,
            address,
            folder,
        };
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            ensure!(start.elapsed() < START, "the registry does not start");
            sleep(Duration::from_millis(20));
        }
        Ok(registry)
    }

    /// The certificate of the authority that clients must trust.
    pub(crate) fn ca(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
