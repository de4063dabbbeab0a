//! The limits of the entries in `packages`.

use mcp_servlet_common::{hex, quoted, unhex};
use serde_json::Value;
use url::Url;

use super::{list, refused};
use crate::finding::Finding;

/// The types of packages, and whether an entry needs a version and the digest of a file. What it does not need, it must not have.
const TYPES: [(&str, bool, bool); 7] = [
    ("npm", true, false),
    ("pypi", true, false),
    ("nuget", true, false),
    ("cargo", true, false),
    ("maven", true, false),
    ("oci", false, false),
    ("mcpb", false, true),
];

/// Registries of packages, each with the only URL of it that the MCP registry asks.
const BASE_URLS: [(&str, &str); 4] = [
    ("npm", "https://registry.npmjs.org"),
    ("pypi", "https://pypi.org"),
    ("nuget", "https://api.nuget.org/v3/index.json"),
    ("cargo", "https://crates.io"),
];

/// The hosts of images; in addition, those of [`IMAGE_DOMAINS`].
const IMAGE_HOSTS: [&str; 6] = [
    "docker.io",
    "index.docker.io",
    "registry-1.docker.io",
    "ghcr.io",
    "quay.io",
    "mcr.microsoft.com",
];

/// What the hosts of images may end with.
const IMAGE_DOMAINS: [&str; 2] = [".pkg.dev", ".azurecr.io"];

pub(super) fn check_package(package: &Value) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(identifier(package));
    found.extend(members(package));
    found.extend(host(package));
    found.extend(package["version"].as_str().and_then(super::version));
    for member in ["runtimeArguments", "packageArguments"] {
        found.extend(list(package, member).filter_map(argument));
    }
    found
}

fn identifier(package: &Value) -> Option<Finding> {
    let identifier = package["identifier"].as_str().unwrap_or_default();
    if package["registryType"] != "mcpb" {
        return (identifier.is_empty() || identifier.contains(' ')).then(|| {
            refused(
                "registry-package",
                format!("`{identifier}` is not the name of a package"),
                "write the name as its registry shows it, such as `@ada/weather`",
            )
        });
    }
    if !is_release(identifier) {
        return Some(refused(
            "registry-package",
            format!("`{identifier}` is not a file of a release on GitHub or GitLab"),
            "upload the bundle to a release, and give its URL, such as \
             `https://github.com/ada/weather/releases/download/v1.2.0/weather.mcpb`",
        ));
    }
    None
}

/// The members that a type of package must have, or must not have.
fn members(package: &Value) -> Option<Finding> {
    let refused = |problem, help: &str| Some(refused("registry-package", problem, help));
    let kind = package["registryType"].as_str().unwrap_or_default();
    let Some((_, version, digest)) = TYPES.iter().find(|(name, ..)| *name == kind) else {
        let problem = format!("a package has the `registryType` `{kind}`");
        let names = quoted(TYPES.iter().map(|(name, ..)| name));
        return refused(problem, &format!("write one of {names}"));
    };
    for (member, is_needed) in [("version", version), ("fileSha256", digest)] {
        if package[member].is_string() != *is_needed {
            return refused(
                format!(
                    "a package of the type `{kind}` has {} `{member}`",
                    if *is_needed { "no" } else { "a" }
                ),
                match (member, is_needed) {
                    ("version", true) => "write the version of the package",
                    ("version", false) => "leave it out: `identifier` has it",
                    (_, true) => "write the SHA-256 digest of the bundle, in hexadecimal digits",
                    (_, false) => "leave it out: only bundles have one",
                },
            );
        }
    }
    let is_digest = |text: &str| {
        let bytes = unhex(text).filter(|bytes| bytes.len() == 32);
        bytes.is_some_and(|bytes| hex(&bytes) == text)
    };
    match package["fileSha256"].as_str() {
        Some(text) if !is_digest(text) => refused(
            format!("the `fileSha256` `{text}` is not a SHA-256 digest"),
            "write 64 hexadecimal digits in lower case; `servlet export registry` does",
        ),
        _ => None,
    }
}

/// The finding for a bundle whose file has another digest than its entry.
pub(crate) fn bundle_differs(
    package: &Value,
    digest_of: impl Fn(&str) -> Option<String>,
) -> Option<Finding> {
    let (url, written) = (
        package["identifier"].as_str()?,
        package["fileSha256"].as_str()?,
    );
    let (_, file) = url.rsplit_once('/')?;
    let actual = digest_of(file).filter(|actual| actual != written)?;
    Some(refused(
        "registry-package",
        format!("`fileSha256` of `{url}` is {written}, but `{file}` has {actual}"),
        "write the digest of the file that you upload; `servlet export registry` does",
    ))
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

/// Packages are on public hosts, which only images may choose.
fn host(package: &Value) -> Option<Finding> {
    let kind = package["registryType"].as_str()?;
    let base = package["registryBaseUrl"].as_str();
    let (problem, help) = if let Some((_, only)) = BASE_URLS.iter().find(|(name, _)| *name == kind)
    {
        let other = base.filter(|base| base != only)?;
        let help = format!("publish the package at `{only}`, and leave out `registryBaseUrl`");
        (
            format!("`{other}` is not the public registry of {kind}"),
            help,
        )
    } else if let Some(base) = base {
        let help = "leave out `registryBaseUrl`: `identifier` has the host".to_owned();
        (
            format!("a package of the type `{kind}` has the `registryBaseUrl` `{base}`"),
            help,
        )
    } else if kind == "oci" {
        let host = host_of_image(package["identifier"].as_str().unwrap_or_default());
        let is_allowed =
            IMAGE_HOSTS.contains(&host) || IMAGE_DOMAINS.iter().any(|end| host.ends_with(end));
        if is_allowed {
            return None;
        }
        let help = format!(
            "push the image to {}, or a host that ends with {}",
            IMAGE_HOSTS.join(", "),
            IMAGE_DOMAINS.join(" or ")
        );
        (format!("images at `{host}` are not accepted"), help)
    } else {
        return None;
    };
    Some(refused("registry-host", problem, help))
}

/// The host in the name of an image; Docker Hub without one.
fn host_of_image(identifier: &str) -> &str {
    match identifier.split_once('/') {
        Some((host, _)) if host.contains(['.', ':']) || host == "localhost" => host,
        _ => IMAGE_HOSTS[0],
    }
}

fn argument(argument: &Value) -> Option<Finding> {
    if argument["type"] != "named" {
        return None;
    }
    let text = |key: &str| argument[key].as_str().unwrap_or_default();
    let name = text("name");
    let (problem, help) = if name.is_empty() || name.contains(['<', '>', ' ', '$']) {
        let problem = format!("`{name}` is not the name of an argument");
        (
            problem,
            "write the option alone as `name`, such as `--port`, and its value as `value`",
        )
    } else {
        let values = [text("value"), text("default")];
        let value = values.into_iter().find(|value| value.starts_with(name))?;
        let problem = format!("the value `{value}` begins with the name `{name}` of its argument");
        (
            problem,
            "write the value without the name: clients write both",
        )
    };
    Some(refused("registry-argument", problem, help))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The rules that a package breaks.
    fn broken(package: &Value) -> Vec<&'static str> {
        let found = check_package(package);
        found.iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn a_bundle_is_a_file_of_a_release() {
        let mcpb = |url: &str| json!({ "registryType": "mcpb", "identifier": url, "fileSha256": "0a".repeat(32) });
        for url in [
            "https://github.com/ada/weather/releases/download/v1/weather.mcpb",
            "https://gitlab.com/ada/group/weather/-/releases/v1/downloads/weather.mcpb",
            "https://gitlab.com/ada/weather-mcp/-/package_files/12/download",
        ] {
            assert!(broken(&mcpb(url)).is_empty(), "{url}");
            let without_digest = json!({ "registryType": "mcpb", "identifier": url });
            assert_eq!(broken(&without_digest), ["registry-package"], "{url}");
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
    }

    #[test]
    fn a_package_has_a_name_and_one_version() {
        for (name, version, rules) in [
            ("@ada/weather", "1.2.0", &[][..]),
            ("a b", "1.2.0", &["registry-package"]),
            ("", "1.2.0", &["registry-package"]),
            ("weather", "^1", &["registry-version"]),
        ] {
            let npm = json!({ "registryType": "npm", "identifier": name, "version": version });
            assert_eq!(broken(&npm), rules, "{name} {version}");
        }
    }

    #[test]
    fn each_type_has_its_members() {
        let digest = "0a".repeat(32);
        let bundle = "https://github.com/ada/weather/releases/download/v1/weather.mcpb";
        for package in [
            json!({ "identifier": "weather" }),
            json!({ "registryType": "docker", "identifier": "weather" }),
            json!({ "registryType": "npm", "identifier": "weather" }),
            json!({ "registryType": "npm", "identifier": "weather", "version": "1.2.0", "fileSha256": digest }),
            json!({ "registryType": "oci", "identifier": "ghcr.io/ada/weather:1", "version": "1.2.0" }),
            json!({ "registryType": "oci", "identifier": "ghcr.io/ada/weather:1", "fileSha256": digest }),
            json!({ "registryType": "mcpb", "identifier": bundle, "fileSha256": digest, "version": "1.2.0" }),
            json!({ "registryType": "mcpb", "identifier": bundle, "fileSha256": "0A" }),
        ] {
            assert_eq!(broken(&package), ["registry-package"], "{package}");
        }
    }

    #[test]
    fn a_package_is_on_a_public_host() {
        let package = |kind: &str, name: &str, base: Option<&str>| {
            let version = (kind != "oci").then_some("1.2.0");
            json!({ "registryType": kind, "identifier": name, "registryBaseUrl": base, "version": version })
        };
        for (kind, name, base) in [
            ("npm", "weather", Some("https://registry.npmjs.org")),
            ("pypi", "weather", Some("https://pypi.org")),
            ("cargo", "weather", None),
            ("maven", "com.example:weather", None),
            ("oci", "ada/weather:1.2.0", None),
            ("oci", "ghcr.io/ada/weather:1.2.0", None),
            ("oci", "europe-docker.pkg.dev/ada/weather:1.2.0", None),
        ] {
            assert!(broken(&package(kind, name, base)).is_empty(), "{name}");
        }
        for (kind, name, base) in [
            ("npm", "weather", Some("https://npm.example")),
            ("oci", "weather", Some("https://docker.io")),
            ("oci", "registry.example/ada/weather:1.2.0", None),
            ("oci", "localhost:5000/weather", None),
            ("oci", "pkg.dev.example/ada/weather", None),
        ] {
            assert_eq!(
                broken(&package(kind, name, base)),
                ["registry-host"],
                "{name}"
            );
        }
    }

    #[test]
    fn an_argument_is_a_name_and_a_value() {
        let package = |name: &str, value: &str| {
            let argument = json!({ "type": "named", "name": name, "value": value });
            let positional = json!({ "type": "positional", "value": "--port 8080" });
            json!({
                "registryType": "npm", "identifier": "weather", "version": "1.2.0",
                "packageArguments": [positional, argument],
            })
        };
        assert!(broken(&package("--port", "8080")).is_empty());
        for (name, value) in [
            ("--port 8080", ""),
            ("--port=<port>", ""),
            ("--home=$HOME", ""),
            ("", "8080"),
            ("--port", "--port=8080"),
        ] {
            assert_eq!(
                broken(&package(name, value)),
                ["registry-argument"],
                "{name}"
            );
        }
        let default = json!({
            "registryType": "npm", "identifier": "weather", "version": "1.2.0",
            "runtimeArguments": [{ "type": "named", "name": "-y", "default": "-y" }],
        });
        assert_eq!(broken(&default), ["registry-argument"]);
    }

    #[test]
    fn a_bundle_has_the_digest_of_its_file() {
        let package = json!({ "identifier": "https://github.com/a/b.mcpb", "fileSha256": "ba78" });
        let differs = |actual: &str| {
            bundle_differs(&package, |file| {
                (file == "b.mcpb").then(|| actual.to_owned())
            })
        };
        assert_eq!(differs("ba78"), None);
        assert_eq!(bundle_differs(&package, |_| None), None);
        let found = differs("cd01").expect("a finding");
        assert_eq!(found.rule, "registry-package");
        assert!(
            found.problem.ends_with("is ba78, but `b.mcpb` has cd01"),
            "{}",
            found.problem
        );
    }
}
