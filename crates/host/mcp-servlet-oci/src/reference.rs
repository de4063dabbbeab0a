//! References to images: `oci://HOST[:PORT]/PATH[:TAG][@sha256:HEX]`.

use std::fmt;

use mcp_servlet_common::{is_this_machine, public_url};

use crate::{digest::Digest, error::Error};

/// The host that people write for Docker Hub, and the one that has its API.
const DOCKER: (&str, &str) = ("docker.io", "registry-1.docker.io");

/// Other names of Docker Hub.
const DOCKER_ALIASES: [&str; 3] = [
    "index.docker.io",
    "registry-1.docker.io",
    "registry.hub.docker.com",
];

/// The scheme of references. With `oci+http://`, the connection to this machine is not encrypted.
const SCHEMES: [(&str, bool); 2] = [("oci://", false), ("oci+http://", true)];

/// A repository in a registry, and which of its images: a tag, a digest, both or neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    is_plain: bool,
    host: String,
    path: String,
    tag: Option<String>,
    digest: Option<Digest>,
}

impl Reference {
    /// Whether a text has the scheme of a reference.
    pub fn is_one(text: &str) -> bool {
        SCHEMES.iter().any(|(scheme, _)| text.starts_with(scheme))
    }

    /// Reads a reference, which may be without a tag and a digest.
    ///
    /// # Errors
    /// [`Error::InvalidReference`], or [`Error::Insecure`] for `oci+http://` and another machine.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |problem: String| Error::InvalidReference {
            reference: public_url(text),
            problem,
        };
        let found = SCHEMES.iter().find_map(|(scheme, is_plain)| {
            let rest = text.strip_prefix(scheme)?;
            Some((rest, *is_plain))
        });
        let (rest, is_plain) =
            found.ok_or_else(|| wrong("it does not begin with `oci://`".into()))?;
        let (host, rest) = rest
            .split_once('/')
            .ok_or_else(|| wrong("the repository is missing".into()))?;
        if host.contains('@') {
            let problem = "it has a user, and credentials do not belong there";
            return Err(wrong(problem.to_owned()));
        }
        let host = registry(host, is_plain).ok_or_else(|| {
            wrong(format!(
                "`{host}` is not a host; there is no default registry"
            ))
        })?;
        let (rest, digest) = match rest.split_once('@') {
            None => (rest, None),
            Some((rest, digest)) => {
                let digest = Digest::parse(digest).ok_or_else(|| {
                    wrong("expected `@sha256:` and 64 digits, which are lower case".into())
                })?;
                (rest, Some(digest))
            }
        };
        let (path, tag) = match rest.split_once(':') {
            None => (rest, None),
            Some((path, tag)) if is_tag(tag) => (path, Some(tag.to_owned())),
            Some((_, tag)) => return Err(wrong(format!("`{tag}` is not a tag"))),
        };
        if !path.split('/').all(is_component) {
            let problem = "expected names of lower case letters, digits, `.`, `_` and `-`";
            return Err(wrong(format!("`{path}` is not a repository: {problem}")));
        }
        if is_plain && !is_this_machine(host_name(&host)) {
            return Err(Error::Insecure {
                reference: text.to_owned(),
            });
        }
        let path = if host == DOCKER.0 && !path.contains('/') {
            format!("library/{path}")
        } else {
            path.to_owned()
        };
        Ok(Self {
            is_plain,
            host,
            path,
            tag,
            digest,
        })
    }

    /// Reads a reference to one image, with a tag or a digest.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_image(text: &str) -> Result<Self, Error> {
        let reference = Self::parse(text)?;
        if reference.tag.is_none() && reference.digest.is_none() {
            return Err(Error::InvalidReference {
                reference: reference.to_string(),
                problem: "it names neither a tag nor a digest; there is no default tag".to_owned(),
            });
        }
        Ok(reference)
    }

    /// The host, with the port if it has one.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The name of the repository in its registry.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The last part of the repository's name.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The tag, if it has one.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The digest, if it has one.
    pub fn digest(&self) -> Option<&Digest> {
        self.digest.as_ref()
    }

    /// The same repository with this tag.
    ///
    /// # Errors
    /// [`Error::InvalidReference`] if it is not a tag.
    pub fn with_tag(&self, tag: &str) -> Result<Self, Error> {
        if !is_tag(tag) {
            return Err(Error::InvalidReference {
                reference: self.to_string(),
                problem: format!("`{tag}` is not a tag"),
            });
        }
        Ok(Self {
            tag: Some(tag.to_owned()),
            digest: None,
            ..self.clone()
        })
    }

    /// The same repository with this digest and no tag.
    #[must_use]
    pub fn with_digest(&self, digest: Digest) -> Self {
        Self {
            tag: None,
            digest: Some(digest),
            ..self.clone()
        }
    }

    /// The image in URLs of the registry: the digest, or else the tag.
    pub(crate) fn image(&self) -> String {
        let digest = self.digest.as_ref().map(ToString::to_string);
        digest.or_else(|| self.tag.clone()).unwrap_or_default()
    }

    /// The start of the URLs of the repository.
    pub(crate) fn base(&self) -> String {
        let scheme = if self.is_plain { "http" } else { "https" };
        let host = match &*self.host {
            host if host == DOCKER.0 => DOCKER.1,
            host => host,
        };
        format!("{scheme}://{host}/v2/{}/", self.path)
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = SCHEMES[usize::from(self.is_plain)].0;
        write!(f, "{scheme}{}/{}", self.host, self.path)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

/// The one name of a registry's host, so that settings for it cannot be avoided by another spelling.
pub(crate) fn registry(host: &str, is_plain: bool) -> Option<String> {
    if !is_host(host) {
        return None;
    }
    let host = host.to_ascii_lowercase();
    let name = host_name(&host);
    let port = match host[name.len()..].strip_prefix(':') {
        Some(port) => Some(port.parse::<u16>().ok()?),
        None => None,
    };
    let default = if is_plain { 80 } else { 443 };
    let port = port.filter(|port| *port != default);
    let name = match name.trim_end_matches('.') {
        "" => return None,
        name if port.is_none() && DOCKER_ALIASES.contains(&name) => DOCKER.0,
        name => name,
    };
    Some(port.map_or_else(|| name.to_owned(), |port| format!("{name}:{port}")))
}

/// A host without its port.
fn host_name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Whether a text is a host: a name with a dot, `localhost` or an address, with or without a port.
fn is_host(host: &str) -> bool {
    let name = host_name(host);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let is_address = name.starts_with('[') && mcp_servlet_common::literal(name).is_some();
    let is_known = name != host || name.contains('.') || name == "localhost";
    is_address || (is_known && !name.is_empty() && name.bytes().all(is_name))
}

fn is_component(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_part = |byte: u8| is_plain(byte) || matches!(byte, b'.' | b'_' | b'-');
    let ends = (name.bytes().next(), name.bytes().next_back());
    name.bytes().all(is_part)
        && matches!(ends, (Some(first), Some(last)) if is_plain(first) && is_plain(last))
}

fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_part = |byte: u8| is_word(byte) || matches!(byte, b'.' | b'-');
    tag.len() <= 128 && tag.bytes().next().is_some_and(is_word) && tag.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "920e24ee6b5ce0153c21dbbd9d10bb913b1eee8c9bad67b41dc89a19d0c9cbcd";

    #[test]
    fn a_registry_has_one_name() {
        for (text, host) in [
            ("oci://ghcr.io/a:1", "ghcr.io"),
            ("oci://GHCR.io:443/a:1", "ghcr.io"),
            ("oci://ghcr.io:0443/a:1", "ghcr.io"),
            ("oci://ghcr.io./a:1", "ghcr.io"),
            ("oci://ghcr.io:0444/a:1", "ghcr.io:444"),
            ("oci://registry-1.docker.io/a:1", "docker.io"),
            ("oci://index.docker.io:443/a:1", "docker.io"),
            ("oci+http://localhost:80/a:1", "localhost"),
            ("oci+http://[::1]:443/a:1", "[::1]:443"),
        ] {
            assert_eq!(Reference::parse(text).expect(text).host(), host, "{text}");
        }
        for text in [
            "oci://../a:1",
            "oci://ghcr.io:/a:1",
            "oci://ghcr.io:65536/a:1",
        ] {
            assert!(Reference::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn reads_references_and_writes_them_again() {
        for (text, base, image, name) in [
            (
                "oci://ghcr.io/ada/mine:1.2.0",
                "https://ghcr.io/v2/ada/mine/",
                "1.2.0",
                "mine",
            ),
            (
                "oci://localhost:5443/demo/greet:a",
                "https://localhost:5443/v2/demo/greet/",
                "a",
                "greet",
            ),
            (
                "oci+http://127.0.0.1:5000/greet:a",
                "http://127.0.0.1:5000/v2/greet/",
                "a",
                "greet",
            ),
            (
                "oci://[::1]:5000/greet:a",
                "https://[::1]:5000/v2/greet/",
                "a",
                "greet",
            ),
            (
                "oci://docker.io/library/x:1",
                "https://registry-1.docker.io/v2/library/x/",
                "1",
                "x",
            ),
        ] {
            let reference = Reference::parse_image(text).expect(text);
            assert_eq!(reference.to_string(), text);
            assert_eq!(reference.base(), base);
            assert_eq!(reference.image(), image);
            assert_eq!(reference.name(), name);
        }
        let pinned = format!("oci://ghcr.io/ada/mine:1@sha256:{HEX}");
        let reference = Reference::parse_image(&pinned).expect("a reference");
        assert_eq!(reference.to_string(), pinned);
        assert_eq!(
            reference.image(),
            format!("sha256:{HEX}"),
            "the digest decides"
        );
        let short = Reference::parse("oci://docker.io/x:1").expect("a reference");
        assert_eq!(short.path(), "library/x");
    }

    #[test]
    fn says_what_is_wrong_with_a_reference() {
        for (text, problem) in [
            ("ghcr.io/ada/mine:1", "does not begin with `oci://`"),
            ("oci://ghcr.io", "the repository is missing"),
            (
                "oci://ada/mine:1",
                "`ada` is not a host; there is no default registry",
            ),
            (
                "oci://ghcr.io/ada/mine",
                "neither a tag nor a digest; there is no default tag",
            ),
            ("oci://ghcr.io/Ada/mine:1", "`Ada/mine` is not a repository"),
            ("oci://ghcr.io/../mine:1", "is not a repository"),
            ("oci://ghcr.io/ada/mine:-1", "`-1` is not a tag"),
            ("oci://ghcr.io/ada/mine:a:b", "`a:b` is not a tag"),
            (
                "oci://ghcr.io/ada/mine@sha256:ab",
                "expected `@sha256:` and 64 digits",
            ),
            ("oci://ada:s3cret@ghcr.io/ada/mine:1", "it has a user"),
        ] {
            let error = Reference::parse_image(text).expect_err(text);
            assert_eq!(error.code(), "invalid-reference");
            let message = error.to_string();
            assert!(message.contains(problem), "{message}");
            assert!(!message.contains("s3cret"), "{message}");
        }
    }

    #[test]
    fn only_this_machine_may_be_reached_unencrypted() {
        let error = Reference::parse("oci+http://registry.example/a:1").expect_err("insecure");
        assert_eq!(error.code(), "insecure");
        assert!(Reference::parse("oci+http://localhost:5000/a:1").is_ok());
    }
}
