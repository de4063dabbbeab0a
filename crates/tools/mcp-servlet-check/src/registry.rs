//! What the MCP registry refuses of a `server.json`: the limits of its schema of 2025-12-11, and of the checks that it makes
//! when a server is published, some of which are stricter.

use serde_json::Value;
use url::Url;

use super::finding::Finding;

const MAX_NAME: usize = 200;
const MAX_VERSION: usize = 255;

/// The limit of titles and descriptions, in characters.
const MAX_TEXT: usize = 100;

/// Checks a `server.json` as the registry does. Whether the packages exist and belong to the publisher, only the registry can
/// find out. Members that are not there are not checked.
pub fn check_server_json(document: &Value) -> Vec<Finding> {
    let text = |key: &str| document[key].as_str();
    let list = |key: &str| document[key].as_array().into_iter().flatten();
    let mut found = Vec::new();
    found.extend(text("name").and_then(name));
    found.extend(text("title").and_then(title));
    found.extend(text("description").and_then(description));
    found.extend(text("version").and_then(version));
    found.extend(list("packages").filter_map(package));
    found.extend(list("remotes").filter_map(remote));
    found
}

/// The members that the registry requires of every document.
const REQUIRED: [&str; 4] = ["$schema", "name", "description", "version"];

/// Checks a whole `server.json`: what [`check_server_json`] does, and whether a member is missing.
pub(crate) fn check_whole_server_json(document: &Value) -> Vec<Finding> {
    let missing = REQUIRED
        .into_iter()
        .filter(|key| !document[*key].is_string());
    let mut found: Vec<_> = missing
        .map(|key| {
            refused(
                "registry-missing",
                format!("missing string member `{key}`"),
                "`servlet export registry` writes a document with all members",
            )
        })
        .collect();
    found.extend(check_server_json(document));
    found
}

/// Checks the parts of a `server.json` that a server itself gives. If its name in the registry is missing, adds a note.
pub fn check_parts_of_server_json(parts: &Value) -> Vec<Finding> {
    let mut found = check_server_json(parts);
    if !parts["name"].is_string() {
        let problem = "no repository is known, so the name in the registry cannot be checked";
        let help = "check the `server.json`: `servlet check server.json`";
        let note = Finding::new("registry-name", problem).help(help);
        found.push(note.noted_for_registry());
    }
    found
}

fn refused(rule: &'static str, problem: String, help: &str) -> Finding {
    Finding::new(rule, problem).help(help).refused_by_registry()
}

fn name(name: &str) -> Option<Finding> {
    let is_part = |part: &str, more: &[char]| {
        let is_letter = |c: char| c.is_ascii_alphanumeric();
        part.len() >= 2
            && part.starts_with(is_letter)
            && part.ends_with(is_letter)
            && part.chars().all(|c| is_letter(c) || more.contains(&c))
    };
    let is_right = name.split_once('/').is_some_and(|(namespace, name)| {
        is_part(namespace, &['.', '-']) && is_part(name, &['.', '_', '-'])
    });
    (!is_right || name.len() > MAX_NAME).then(|| {
        refused(
            "registry-name",
            format!("`{name}` is not a name of the registry"),
            "a name is a domain in reverse, `/` and a name, both of letters, digits, `.` and `-`, such as `io.github.ada/weather`",
        )
    })
}

fn title(title: &str) -> Option<Finding> {
    let length = title.chars().count();
    (title.trim().is_empty() || length > MAX_TEXT).then(|| {
        refused(
            "registry-title",
            format!(
                "the title has {length} characters; expected 1 to {MAX_TEXT}, and not only spaces"
            ),
            "write a shorter title, and the rest in the description",
        )
    })
}

fn description(description: &str) -> Option<Finding> {
    let length = description.chars().count();
    (length == 0 || length > MAX_TEXT).then(|| {
        refused(
            "registry-description",
            format!("the description has {length} characters; expected 1 to {MAX_TEXT}"),
            "write a shorter one into Cargo.toml, or give one with `servlet export registry --description`",
        )
    })
}

/// A range, as `server.json` must not have: `^1.2`, `>=1`, `1.x`, `1 - 2`, `1 || 2`.
fn is_range(version: &str) -> bool {
    version.starts_with(['^', '~', '=', '<', '>'])
        || version.contains(" - ")
        || version.contains("||")
        || version
            .split('.')
            .any(|part| matches!(part, "x" | "X" | "*"))
}

fn version(version: &str) -> Option<Finding> {
    let is_wrong = version == "latest" || is_range(version.trim()) || version.len() > MAX_VERSION;
    is_wrong.then(|| {
        refused(
            "registry-version",
            format!("`{version}` is not one version"),
            "write a version such as `1.2.0`, not a range and not `latest`",
        )
    })
}

fn package(package: &Value) -> Option<Finding> {
    let identifier = package["identifier"].as_str().unwrap_or_default();
    match package["registryType"].as_str() {
        Some("mcpb") => (!is_release(identifier)).then(|| {
            refused(
                "registry-package",
                format!("`{identifier}` is not a file of a release on GitHub or GitLab"),
                "upload the bundle to a release, and give its URL, such as \
                 `https://github.com/ada/weather/releases/download/v1.2.0/weather.mcpb`",
            )
        }),
        _ => (identifier.is_empty() || identifier.contains(' ')).then(|| {
            refused(
                "registry-package",
                format!("`{identifier}` is not the name of a package"),
                "write the name as its registry shows it, such as `npm:@ada/weather`",
            )
        }),
    }
}

/// Whether a URL is one that the registry accepts for bundles.
fn is_release(url: &str) -> bool {
    let Ok(parsed) = Url::parse(url) else {
        return false;
    };
    let path: Vec<_> = parsed.path().split('/').skip(1).collect();
    let is_file = match (parsed.host_str(), &*path) {
        (
            Some("github.com" | "www.github.com"),
            [owner, repository, "releases", "download", tag, file],
        ) => [owner, repository, tag, file]
            .iter()
            .all(|part| !part.is_empty()),
        (
            Some("gitlab.com" | "www.gitlab.com"),
            [project @ .., "-", "releases", tag, "downloads", file],
        ) => project.len() >= 2 && !tag.is_empty() && !file.is_empty(),
        (
            Some("gitlab.com" | "www.gitlab.com"),
            [project @ .., "-", "package_files", id, "download"],
        ) => project.len() >= 2 && !id.is_empty() && id.bytes().all(|c| c.is_ascii_digit()),
        _ => false,
    };
    is_file && parsed.scheme() == "https" && url.to_ascii_lowercase().contains("mcp")
}

fn remote(remote: &Value) -> Option<Finding> {
    let url = remote["url"].as_str().unwrap_or_default();
    let parsed = Url::parse(url).ok();
    let is_public = parsed.is_some_and(|url| {
        let host = url.host_str().unwrap_or_default();
        let is_local = host == "localhost" || host == "127.0.0.1" || host.ends_with(".localhost");
        url.scheme() == "https" && !is_local
    });
    (!is_public).then(|| {
        refused(
            "registry-remote",
            format!("`{url}` is not a URL that others can use"),
            "give the public URL of the server, with `https`",
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The rules that a document breaks.
    fn broken(document: &Value) -> Vec<&'static str> {
        let found = check_server_json(document);
        found.iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn a_name_is_a_domain_in_reverse_and_a_name() {
        for name in ["io.github.ada/weather", "a-b/c_d.e", "ab/cd"] {
            assert!(broken(&json!({ "name": name })).is_empty(), "{name}");
        }
        let long = format!("io.github.ada/{}", "w".repeat(200));
        for name in [
            "weather",
            "a/weather",
            "io.github.ada/",
            "io.github.ada/w",
            "io_github/weather",
            "io.github./weather",
            "io.github.ada/weather-",
            "io.github.ada/a/b",
            "io.github.ada/wétter",
            "",
            &long,
        ] {
            assert_eq!(
                broken(&json!({ "name": name })),
                ["registry-name"],
                "{name}"
            );
        }
    }

    #[test]
    fn texts_have_at_most_a_hundred_characters() {
        let most = "é".repeat(100);
        let right = json!({ "title": most, "description": most });
        assert!(broken(&right).is_empty());
        let more = "é".repeat(101);
        let long = json!({ "title": more, "description": more });
        let rules = ["registry-title", "registry-description"];
        assert_eq!(broken(&long), rules);
        assert_eq!(broken(&json!({ "title": " ", "description": "" })), rules);
    }

    #[test]
    fn a_version_is_no_range() {
        for version in ["1.2.0", "1.2.0-x.1", "v1", "2026-11-27", "1.0.0-alpha"] {
            assert!(!is_range(version), "{version}");
        }
        for version in [
            "latest",
            "^1.2",
            "~1",
            ">=1.0",
            "<2",
            "=1.0.0",
            "1.x",
            "1.2.*",
            "1.0 - 2.0",
            "1.2 || 1.3",
        ] {
            assert_eq!(
                broken(&json!({ "version": version })),
                ["registry-version"],
                "{version}"
            );
        }
    }

    #[test]
    fn a_bundle_is_a_file_of_a_release() {
        let mcpb =
            |url: &str| json!({ "packages": [{ "registryType": "mcpb", "identifier": url }] });
        for url in [
            "https://github.com/ada/weather/releases/download/v1/weather.mcpb",
            "https://gitlab.com/ada/group/weather/-/releases/v1/downloads/weather.mcpb",
            "https://gitlab.com/ada/weather-mcp/-/package_files/12/download",
        ] {
            assert!(broken(&mcpb(url)).is_empty(), "{url}");
        }
        for url in [
            "http://github.com/ada/weather/releases/download/v1/weather.mcpb",
            "https://github.com/ada/weather/raw/main/weather.mcpb",
            "https://github.com/ada/weather/releases/download/v1/weather.zip",
            "https://gitlab.com/weather/-/releases/v1/downloads/weather.mcpb",
            "https://example.com/ada/weather/releases/download/v1/weather.mcpb",
            "weather.mcpb",
        ] {
            assert_eq!(broken(&mcpb(url)), ["registry-package"], "{url}");
        }
        for (name, rules) in [
            ("@ada/weather", &[][..]),
            ("a b", &["registry-package"]),
            ("", &["registry-package"]),
        ] {
            let npm = json!({ "packages": [{ "registryType": "npm", "identifier": name }] });
            assert_eq!(broken(&npm), rules, "{name}");
        }
    }

    #[test]
    fn a_remote_is_public() {
        let remote = |url: &str| json!({ "remotes": [{ "type": "streamable-http", "url": url }] });
        assert!(broken(&remote("https://weather.example/mcp")).is_empty());
        for url in [
            "http://weather.example/mcp",
            "https://localhost/mcp",
            "https://127.0.0.1:8080/mcp",
            "https://a.localhost/mcp",
            "x",
        ] {
            assert_eq!(broken(&remote(url)), ["registry-remote"], "{url}");
        }
    }
}
