//! The declared needs of a servlet, as text.

use mcp_servlet_runtime::{ConfigKey, Needs};

use crate::terminal::one_line;

/// One line per configuration key, host, directory, tool and resource.
pub(crate) fn lines(needs: &Needs) -> impl Iterator<Item = String> {
    let hosts = needs.hosts.iter().map(|host| format!("host      {host}"));
    let paths = needs.paths.iter().map(|path| format!("path      {path}"));
    let calls = needs.calls.iter().map(|one| format!("tool      {one}"));
    let reads = needs.reads.iter().map(|one| format!("resource  {one}"));
    let config = needs.config.iter().map(config);
    let lines = config.chain(hosts).chain(paths).chain(calls).chain(reads);
    lines.map(|line| one_line(&line).into_owned())
}

/// `config    api-key  string, required, secret: the key of the weather service`
fn config(key: &ConfigKey) -> String {
    let needed = if key.required { "required" } else { "optional" };
    let secret = if key.secret { ", secret" } else { "" };
    let line = format!(
        "config    {}  {}, {needed}{secret}",
        key.name,
        mcp_servlet_host::type_in_words(key)
    );
    let mut description = key.description().unwrap_or_default().lines();
    match description.next() {
        Some(first) => format!("{line}: {first}"),
        None => line,
    }
}
