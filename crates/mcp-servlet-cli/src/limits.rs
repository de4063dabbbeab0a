//! The options that say what a servlet may do.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use mcp_servlet_host::{
    AllowedPath, LoadOptions,
    config::{parse_duration, parse_size},
};

use crate::{clients, failure::Failure};

/// What the servlet is given and how far it may go. Nothing is open unless said here.
#[derive(Args, Debug)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Limits {
    /// Set a value that the servlet reads; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    config: Vec<(String, String)>,

    /// Let the servlet send HTTP requests to a host, `*` matching any part of its name; may be repeated
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,

    /// Let a servlet that was built for WASI open a directory, under another name if one is given; may be repeated
    #[arg(long, value_name = "DIR[:NAME[:ro]]", value_parser = path)]
    allow_path: Vec<AllowedPath>,

    /// How long one call may run, such as 500ms, 30s, 2m; `none` for no end
    ///
    /// [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Limit<Duration>>,

    /// How much memory an instance may take, messages included, such as 64MiB; `none` for no end
    ///
    /// [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<Limit<u64>>,
}

/// A bound, or none. Not an `Option`, which means something else to clap.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Limit<T>(Option<T>);

impl Limits {
    pub(crate) fn options(&self) -> LoadOptions {
        let defaults = LoadOptions::default();
        LoadOptions {
            config: self.config.iter().cloned().collect(),
            allowed_hosts: self.allow_host.clone(),
            allowed_paths: self.allow_path.clone(),
            memory: self.memory.map_or(defaults.memory, |limit| limit.0),
            timeout: self.timeout.map_or(defaults.timeout, |limit| limit.0),
            ..defaults
        }
    }

    /// The options that say the same, in any folder.
    pub(crate) fn arguments(&self) -> Result<Vec<String>, Failure> {
        let mut arguments = Vec::new();
        let mut add = |name: &str, value| arguments.extend([name.to_owned(), value]);
        for (key, value) in &self.config {
            add("--config", format!("{key}={value}"));
        }
        for host in &self.allow_host {
            add("--allow-host", host.clone());
        }
        for path in &self.allow_path {
            let host = clients::absolute(&path.host)?;
            let end = if path.read_only { ":ro" } else { "" };
            add(
                "--allow-path",
                format!("{host}:{}{end}", path.guest.display()),
            );
        }
        if let Some(Limit(limit)) = self.timeout {
            let time = limit.map(|limit| format!("{}ms", limit.as_millis()));
            add("--timeout", time.unwrap_or_else(none));
        }
        if let Some(Limit(limit)) = self.memory {
            let size = limit.map(|limit| format!("{limit}B"));
            add("--memory", size.unwrap_or_else(none));
        }
        Ok(arguments)
    }

    /// Whether one of them was given.
    pub(crate) fn are_given(&self) -> bool {
        let lists_are_empty =
            self.config.is_empty() && self.allow_host.is_empty() && self.allow_path.is_empty();
        !lists_are_empty || self.timeout.is_some() || self.memory.is_some()
    }
}

fn none() -> String {
    "none".to_owned()
}

/// Reads `KEY=VALUE`.
pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn path(text: &str) -> Result<AllowedPath, String> {
    let (text, read_only) = text
        .strip_suffix(":ro")
        .map_or((text, false), |text| (text, true));
    let (host, guest) = text.split_once(':').unwrap_or((text, text));
    if host.is_empty() || guest.is_empty() {
        return Err("expected DIR or DIR:NAME".into());
    }
    Ok(AllowedPath {
        host: PathBuf::from(host),
        guest: PathBuf::from(guest),
        read_only,
    })
}

fn duration(text: &str) -> Result<Limit<Duration>, String> {
    parse_duration(text).map(Limit)
}

fn size(text: &str) -> Result<Limit<u64>, String> {
    parse_size(text).map(Limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_paths_with_and_without_a_name() {
        let path = |text| path(text).map(|path| (path.host, path.guest, path.read_only));
        assert_eq!(path("data"), Ok(("data".into(), "data".into(), false)));
        assert_eq!(
            path("/srv:/data:ro"),
            Ok(("/srv".into(), "/data".into(), true))
        );
        assert!(path(":x").is_err());
    }
}
