//! Builds the servlets of both sides with the same settings.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

const TARGET: &str = "wasm32-unknown-unknown";

#[derive(Clone, Copy)]
pub(crate) enum Side {
    Ours,
    Official,
}

impl Side {
    /// The folder under `bench`, and the name in figures.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Official => "official",
        }
    }

    fn wasm(self) -> &'static str {
        match self {
            Self::Ours => "bench_servlet.wasm",
            Self::Official => "plugin.wasm",
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Profile {
    /// `cargo build --release`, as most servlets are built.
    Plain,
    /// The workspace's profile `servlet`, as `servlet build` uses it.
    Tuned,
}

impl Profile {
    pub(crate) const BOTH: [Self; 2] = [Self::Plain, Self::Tuned];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Tuned => "tuned",
        }
    }

    fn cargo_name(self) -> &'static str {
        match self {
            Self::Plain => "release",
            Self::Tuned => "servlet",
        }
    }
}

pub(crate) struct Builder {
    root: PathBuf,
    /// The settings of the workspace's profile `servlet`, for `--config`.
    tuned: Vec<String>,
    /// Panic messages contain paths of source files, so the size would depend on the location of the checkout.
    remap: String,
}

impl Builder {
    pub(crate) fn new(root: PathBuf) -> anyhow::Result<Self> {
        let manifest = root.join("Cargo.toml");
        let manifest =
            std::fs::read_to_string(&manifest).with_context(|| manifest.display().to_string())?;
        let tuned = profile_settings(&manifest);
        if tuned.is_empty() {
            bail!("the workspace's Cargo.toml has no `[profile.servlet]`");
        }
        let home = std::env::var_os("CARGO_HOME")
            .map(PathBuf::from)
            .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
            .context("neither `CARGO_HOME` nor a home directory is set")?;
        let remap = format!(
            "--remap-path-prefix={}=/cargo\x1f--remap-path-prefix={}=/source",
            home.display(),
            root.display(),
        );
        Ok(Self { root, tuned, remap })
    }

    /// Builds the servlet that these features select, without flags from the environment, and reads the wasm.
    pub(crate) fn build(
        &self,
        side: Side,
        profile: Profile,
        features: &str,
        flags: &[&str],
    ) -> anyhow::Result<Vec<u8>> {
        let target = self.root.join("target/bench").join(side.name());
        let profile_name = profile.cargo_name();
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .current_dir(self.root.join("bench").join(side.name()))
            .args(["build", "--locked", "--quiet", "--target", TARGET])
            .args(["--profile", profile_name, "--features", features])
            .args(flags)
            .arg("--target-dir")
            .arg(&target);
        if profile == Profile::Tuned {
            for setting in &self.tuned {
                command.args(["--config", setting]);
            }
        }
        for variable in ["RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_TARGET_DIR"] {
            command.env_remove(variable);
        }
        command.env("CARGO_ENCODED_RUSTFLAGS", &self.remap);
        let status = command.status().context("cannot run cargo")?;
        if !status.success() {
            bail!(
                "cargo cannot build bench/{} with the features `{features}`",
                side.name()
            );
        }
        let wasm = target.join(TARGET).join(profile_name).join(side.wasm());
        std::fs::read(&wasm).with_context(|| wasm.display().to_string())
    }
}

/// Each line of the profile's section, as a dotted key with its value.
fn profile_settings(manifest: &str) -> Vec<String> {
    manifest
        .lines()
        .skip_while(|line| line.trim() != "[profile.servlet]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| line.contains('=') && !line.starts_with('#'))
        .map(|line| format!("profile.servlet.{line}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::profile_settings;

    #[test]
    fn takes_the_settings_of_the_profile_and_no_others() {
        let manifest = "[profile.servlet]\ninherits = \"release\"\nlto = \"fat\"\n\n# Slow.\n[profile.dev]\ndebug = 1\n";
        assert_eq!(
            profile_settings(manifest),
            [
                "profile.servlet.inherits = \"release\"",
                "profile.servlet.lto = \"fat\""
            ]
        );
        assert!(profile_settings("[profile.dev]\ndebug = 1\n").is_empty());
    }
}
