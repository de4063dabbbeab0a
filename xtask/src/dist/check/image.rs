//! The image: what skopeo and umoci make of it, and the command in a root without anything else.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::{Check, Home, greets};
use crate::registry::Registry;
use crate::shell::quietly;

/// The user of the image, as `chroot` wants it.
const USER: &str = "--userspec=65532:65532";

impl Check<'_> {
    /// Copies the image to a registry and back, unpacks it, and calls a tool.
    pub(super) fn image(&self) -> anyhow::Result<()> {
        if self.program.platform.linux.is_none() {
            return Ok(());
        }
        let home = Home::new(self.folder)?;
        let registry = Registry::start()?;
        let archive = format!("oci-archive:{}", self.package("-image.tar")?.display());
        let there = format!("docker://{}/servlet:test", registry.address);
        let copy = |from: &str, to: &str, option: &str| {
            let mut skopeo = home.command("skopeo");
            skopeo.args(["--insecure-policy", "copy", "--all", "--preserve-digests"]);
            quietly(skopeo.args([option, from, to]))
        };
        copy(&archive, "oci:before:test", "--dest-tls-verify=false")?;
        copy(&archive, &there, "--dest-tls-verify=false")?;
        copy(&there, "oci:after:test", "--src-tls-verify=false")?;
        let before = index(&home.path("before"))?;
        ensure!(
            index(&home.path("after"))? == before,
            "a registry changes the image"
        );

        let mut umoci = home.command("umoci");
        umoci.args(["unpack", "--rootless", "--image", "after:test", "bundle"]);
        quietly(&mut umoci)?;
        let config = fs::read(home.path("bundle/config.json"))?;
        let config: Value = serde_json::from_slice(&config)?;
        let entry = config
            .pointer("/process/args/0")
            .and_then(Value::as_str)
            .context("the image has no entry point")?;
        self.call_in(&home, entry)?;
        println!("works: image");
        Ok(())
    }

    /// Calls a tool in the root of the image, where nothing else is. A program that needs a libc runs outside of it.
    fn call_in(&self, home: &Home, entry: &str) -> anyhow::Result<()> {
        let folder = home.path("bundle/rootfs");
        if self.program.is_dynamic() {
            println!("skipped: the root of the image, since this program is not static");
            return home.call(&folder.join(entry.trim_start_matches('/')));
        }
        fs::copy(&home.greet, folder.join("servlets/greet.wasm"))?;
        let mut chroot = home.command("chroot");
        let call = [entry, "call", "/servlets/greet.wasm", "greet", "name=x"];
        greets(chroot.arg(USER).arg(folder).args(call))
    }
}

fn index(layout: &Path) -> anyhow::Result<Value> {
    let index = fs::read(layout.join("index.json"))?;
    Ok(serde_json::from_slice(&index)?)
}
