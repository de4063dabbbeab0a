//! Docker's registry on this machine, a package of Debian.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Context;
use serde_json::json;
use tempfile::TempDir;

use crate::serve::write_certificate;
use crate::shell::{KillOnDrop, free_address, wait_until_listening};

/// A registry with TLS that takes and gives everything. It ends with this value.
pub(crate) struct Registry {
    _process: KillOnDrop,
    pub(crate) address: SocketAddr,
    /// The certificate of the authority that clients must trust.
    pub(crate) ca: PathBuf,
    _folder: TempDir,
}

impl Registry {
    pub(crate) fn start() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = |name: &str| folder.path().join(name);
        let ca = write_certificate(folder.path())?;
        let address = free_address()?;
        let config = json!({
            "version": "0.1",
            "storage": { "filesystem": { "rootdirectory": file("images") } },
            "http": { "addr": address.to_string(), "tls": { "certificate": file("cert.pem"), "key": file("key.pem") } },
        });
        fs::write(file("registry.yml"), config.to_string())?;
        let mut serve = Command::new("docker-registry");
        serve.arg("serve").arg(file("registry.yml"));
        serve.stdout(Stdio::null()).stderr(Stdio::null());
        let process =
            KillOnDrop::spawn(&mut serve).context("Debian's package is `docker-registry`")?;
        wait_until_listening(address)?;
        Ok(Self {
            _process: process,
            address,
            ca,
            _folder: folder,
        })
    }
}
