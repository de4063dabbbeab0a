//! The limits of the entries in `remotes`.

use mcp_servlet_common::{Reach, is_this_machine, literal};
use serde_json::Value;
use url::Url;

use super::refused;
use crate::finding::Finding;

/// The kinds of servers at URLs.
const TYPES: [&str; 2] = ["streamable-http", "sse"];

pub(super) fn check_remote(remote: &Value) -> Vec<Finding> {
    let url = remote["url"].as_str().unwrap_or_default();
    let (filled, used) = fill(url);
    let variables = remote["variables"].as_object();
    let mut found = Vec::new();
    found.extend(kind(&remote["type"]));
    if !is_public(&filled) {
        found.push(refused(
            "registry-remote",
            format!("`{url}` is not a URL that others can use"),
            "give the public URL of the server, with `https`",
        ));
    }
    let is_known = |name: &str| variables.is_some_and(|known| known.contains_key(name));
    found.extend(used.iter().filter(|name| !is_known(name)).map(|name| {
        refused(
            "registry-remote",
            format!("`{url}` has `{{{name}}}`, which `variables` does not have"),
            "describe it in `variables` of the remote",
        )
    }));
    let names = variables.into_iter().flat_map(|known| known.keys());
    let unused = names.filter(|name| !used.contains(&name.as_str()));
    found.extend(unused.map(|name| {
        let problem = format!("the variable `{name}` is not used: `{url}` has no `{{{name}}}`");
        let note = Finding::new("registry-remote", problem);
        note.help("write it into the URL, or remove it")
            .noted_for_registry()
    }));
    found
}

fn kind(kind: &Value) -> Option<Finding> {
    let is_known = kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    (!is_known).then(|| {
        refused(
            "registry-remote",
            format!("a remote has the type {kind}"),
            "write `streamable-http`, or `sse` for the older transport",
        )
    })
}

fn is_public(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else {
        return false;
    };
    let host = url.host_str().unwrap_or_default();
    let is_private = literal(host).is_some_and(|address| Reach::of(address) != Reach::Public);
    url.scheme() == "https" && !is_private && !is_this_machine(host)
}

/// A URL with values for its `{variables}`, and their names. The value of a port is a number.
fn fill(url: &str) -> (String, Vec<&str>) {
    let (mut filled, mut names, mut rest) = (String::new(), Vec::new(), url);
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, end)) = after.split_once('}') else {
            break;
        };
        filled += before;
        filled += if before.ends_with(':') {
            "8080"
        } else {
            "placeholder"
        };
        names.push(name);
        rest = end;
    }
    (filled + rest, names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::finding::Level;

    /// What is wrong with a server at this URL that has the variable `tenant`, with levels.
    fn found(url: &str) -> Vec<Option<Level>> {
        let variables = json!({ "tenant": {} });
        let remote = json!({ "type": "streamable-http", "url": url, "variables": variables });
        let found = check_remote(&remote);
        assert!(
            found
                .iter()
                .all(|finding| finding.rule == "registry-remote")
        );
        found.iter().map(|finding| finding.registry).collect()
    }

    #[test]
    fn a_remote_is_public() {
        for url in [
            "https://{tenant}.weather.example/mcp",
            "https://1.1.1.1:{tenant}/mcp",
        ] {
            assert_eq!(found(url), [], "{url}");
        }
        for url in [
            "http://weather.example/{tenant}",
            "https://localhost/{tenant}",
            "https://127.0.0.1:8080/{tenant}",
            "https://a.localhost/{tenant}",
            "https://[::1]/{tenant}",
            "https://10.1.2.3/{tenant}",
            "https://192.168.1.1/{tenant}",
            "https://[fd00::1]/{tenant}",
            "https://169.254.169.254/{tenant}",
            "{tenant}",
        ] {
            assert_eq!(found(url), [Some(Level::Error)], "{url}");
        }
    }

    #[test]
    fn the_variables_of_a_remote_are_those_of_its_url() {
        let (error, note) = (Some(Level::Error), Some(Level::Note));
        assert_eq!(found("https://weather.example/{tenant}/{region}"), [error]);
        assert_eq!(found("https://weather.example/mcp"), [note]);
        assert_eq!(found("https://weather.example/{"), [note]);
    }

    #[test]
    fn a_remote_has_a_type() {
        for (kind, count) in [
            ("streamable-http", 0),
            ("sse", 0),
            ("stdio", 1),
            ("http", 1),
        ] {
            let remote = json!({ "type": kind, "url": "https://weather.example/mcp" });
            assert_eq!(check_remote(&remote).len(), count, "{kind}");
        }
    }
}
