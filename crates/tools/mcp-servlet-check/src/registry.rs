//! What the MCP registry refuses of a `server.json`: the limits of its schema of 2025-12-11, and of the checks that it makes
//! when a server is published, some of which are stricter.

mod form;
mod package;
mod remote;

use serde_json::Value;
use url::Url;

pub(crate) use package::bundle_differs;

use super::finding::Finding;

const MAX_NAME: usize = 200;
const MAX_VERSION: usize = 255;

/// The limit of URLs, in characters.
const MAX_URL: usize = 255;

/// The only member of `_meta` that a publisher may write.
const PUBLISHER_META: &str = "io.modelcontextprotocol.registry/publisher-provided";

/// The limit of that member, in bytes of compact JSON.
const MAX_META: usize = 4096;

/// The limit of titles and descriptions, in characters.
const MAX_TEXT: usize = 100;

/// Checks a `server.json` as the registry does. Whether the packages exist and belong to the publisher, only the registry can
/// find out. Members that are not there are not checked.
pub fn check_server_json(document: &Value) -> Vec<Finding> {
    let text = |key: &str| document[key].as_str();
    let mut found = Vec::new();
    found.extend(text("name").and_then(name));
    found.extend(text("title").and_then(title));
    found.extend(text("description").and_then(description));
    found.extend(text("version").and_then(version));
    found.extend(meta(&document["_meta"]));
    found.extend(list(document, "icons").filter_map(icon));
    found.extend(text("websiteUrl").and_then(website));
    found.extend(repository(&document["repository"]));
    found.extend(list(document, "packages").flat_map(package::check_package));
    found.extend(list(document, "remotes").flat_map(remote::check_remote));
    found
}

/// The members that the registry requires of every document.
const REQUIRED: [&str; 4] = ["$schema", "name", "description", "version"];

/// Checks a whole `server.json`: what [`check_server_json`] does, whether a member is missing, and the types of members.
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
    found.extend(form::check_form(document));
    found.extend(check_server_json(document));
    found
}

/// Checks the parts of a `server.json` that a server itself gives. If its name in the registry is missing, adds a note.
pub fn check_parts_of_server_json(parts: &Value) -> Vec<Finding> {
    let mut found = check_server_json(parts);
    if !parts["name"].is_string() {
        let problem = "no repository is known, so the namespace cannot be checked";
        let help = "check the `server.json`: `servlet check server.json`";
        let note = Finding::new("registry-name", problem).help(help);
        found.push(note.noted_for_registry());
    }
    found
}

/// The items of a member that is a list.
fn list<'v>(value: &'v Value, member: &str) -> impl Iterator<Item = &'v Value> {
    value[member].as_array().into_iter().flatten()
}

fn refused(rule: &'static str, problem: String, help: impl Into<String>) -> Finding {
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
        let example = if length > 0 {
            format!(", such as `{}`", shortened(description))
        } else {
            String::new()
        };
        refused(
            "registry-description",
            format!("the description has {length} characters; expected 1 to {MAX_TEXT}"),
            format!(
                "write a shorter one into Cargo.toml, or give one with `servlet export registry --description`{example}"
            ),
        )
    })
}

/// The first sentence of a text, or as many of its words as the limit allows.
fn shortened(text: &str) -> &str {
    let end = text
        .char_indices()
        .nth(MAX_TEXT)
        .map_or(text.len(), |(at, _)| at);
    let most = &text[..end];
    if let Some((sentence, _)) = most.split_once(". ") {
        return sentence;
    }
    let words = most.rsplit_once(char::is_whitespace);
    words.map_or(most, |(words, _)| words.trim_end())
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

fn meta(meta: &Value) -> Vec<Finding> {
    let keys = meta.as_object().into_iter().flat_map(|meta| meta.keys());
    let mut found: Vec<_> = keys
        .filter(|key| *key != PUBLISHER_META)
        .map(|key| {
            refused(
                "registry-meta",
                format!("`_meta` has the member `{key}`"),
                format!(
                    "move it into `{PUBLISHER_META}`, the only member that publishers may write"
                ),
            )
        })
        .collect();
    let size = meta
        .get(PUBLISHER_META)
        .map_or(0, |meta| meta.to_string().len());
    if size > MAX_META {
        found.push(refused(
            "registry-meta",
            format!("`{PUBLISHER_META}` has {size} bytes; expected at most {MAX_META}"),
            "leave out what clients do not read before they install the server",
        ));
    }
    found
}

/// Whether it is a URL with `https` that is short enough.
fn is_https(url: &str) -> bool {
    let parsed = Url::parse(url);
    parsed.is_ok_and(|parsed| parsed.scheme() == "https") && url.chars().count() <= MAX_URL
}

fn icon(icon: &Value) -> Option<Finding> {
    let source = icon["src"].as_str().unwrap_or_default();
    (!is_https(source)).then(|| {
        refused(
            "registry-icon",
            format!("`{source}` is not the URL of an icon"),
            format!("give a URL with `https` of at most {MAX_URL} characters, not `data:`"),
        )
    })
}

fn website(url: &str) -> Option<Finding> {
    (!is_https(url)).then(|| {
        refused(
            "registry-url",
            format!("`{url}` is not the URL of a website"),
            format!("give a URL with `https` of at most {MAX_URL} characters"),
        )
    })
}

fn repository(repository: &Value) -> Option<Finding> {
    let (url, source) = (repository["url"].as_str()?, repository["source"].as_str()?);
    let parsed = Url::parse(url).ok();
    let is_right = parsed.is_some_and(|parsed| {
        let path = parsed.path().trim_matches('/').split('/');
        let parts = path.filter(|part| !part.is_empty()).count();
        match parsed.host_str() {
            Some("github.com" | "www.github.com") => source == "github" && parts == 2,
            Some("gitlab.com" | "www.gitlab.com") => source == "gitlab" && parts >= 2,
            _ => false,
        }
    });
    (!is_right).then(|| {
        refused(
            "registry-url",
            format!("`{url}` is not a repository on GitHub or GitLab"),
            "write `url` as `https://github.com/OWNER/NAME`, and `source` as `github` or `gitlab`; or leave out `repository`",
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
    fn a_long_description_is_cut_at_a_sentence_or_a_word() {
        let sentence = format!("Finds incidents. {}", "w".repeat(100));
        assert_eq!(shortened(&sentence), "Finds incidents");
        let words = "é ".repeat(60);
        assert_eq!(shortened(&words), "é ".repeat(50).trim_end());
        let word = "é".repeat(101);
        assert_eq!(shortened(&word), "é".repeat(100));
    }

    #[test]
    fn meta_is_that_of_the_publisher_and_small() {
        let document = |size: usize| json!({ "_meta": { PUBLISHER_META: "m".repeat(size) } });
        // The quotes count.
        assert!(broken(&document(MAX_META - 2)).is_empty());
        assert_eq!(broken(&document(MAX_META - 1)), ["registry-meta"]);
        let other = json!({ "_meta": { "com.example/x": 1, PUBLISHER_META: {} } });
        assert_eq!(broken(&other), ["registry-meta"]);
    }

    #[test]
    fn icons_and_the_website_have_urls_with_https() {
        let right = "https://weather.example/icon.png";
        let document = |url: &str| json!({ "icons": [{ "src": url }], "websiteUrl": url });
        assert!(broken(&document(right)).is_empty());
        let long = format!("https://weather.example/{}", "w".repeat(MAX_URL));
        for url in [
            "http://weather.example/icon.png",
            "data:image/png;base64,",
            "icon.png",
            &long,
        ] {
            assert_eq!(
                broken(&document(url)),
                ["registry-icon", "registry-url"],
                "{url}"
            );
        }
    }

    #[test]
    fn a_repository_is_one_of_github_or_gitlab() {
        let document =
            |url: &str, source: &str| json!({ "repository": { "url": url, "source": source } });
        for (url, source) in [
            ("https://github.com/ada/weather", "github"),
            ("https://github.com/ada/weather/", "github"),
            ("https://gitlab.com/ada/group/weather", "gitlab"),
        ] {
            assert!(broken(&document(url, source)).is_empty(), "{url}");
        }
        for (url, source) in [
            ("https://github.com/ada", "github"),
            ("https://github.com/ada/weather/tree/main", "github"),
            ("https://github.com/ada/weather", "gitlab"),
            ("https://codeberg.org/ada/weather", "codeberg"),
            ("ada/weather", "github"),
        ] {
            assert_eq!(broken(&document(url, source)), ["registry-url"], "{url}");
        }
    }
}
