//! OCI registries: their certificates, who signs their images, and the images that servlets come from.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use mcp_servlet_host::OnFailure;
use mcp_servlet_runtime::{Image, Source, VerifyingKey};
use toml::Spanned;

use super::{Config, ConfigError, Mode, Reader, file::File, file::ServletSection, lock::Locks};

/// Names of signers, as they are written.
type SignedBy = Option<Spanned<Vec<Spanned<String>>>>;

/// What a configuration says about registries.
#[derive(Clone, Debug, Default)]
pub(super) struct Registries {
    /// By the host, or by the host with the first parts of the names of repositories.
    of_prefix: BTreeMap<String, Registry>,
    /// The keys of each signer.
    signers: BTreeMap<String, Vec<VerifyingKey>>,
}

/// The settings of a registry.
#[derive(Clone, Debug, Default)]
struct Registry {
    ca: Option<PathBuf>,
    signers: Option<Vec<VerifyingKey>>,
}

impl Reader<'_> {
    /// Reads the settings of registries, which apply to the servlets that come from them.
    pub(super) fn registries(&mut self, file: &File) {
        for (name, section) in &file.signer {
            let keys = section
                .key
                .iter()
                .chain(&section.keys)
                .filter_map(|key| self.public_key(key))
                .collect();
            self.registries.signers.insert(name.clone(), keys);
        }
        for (host, section) in &file.oci {
            let name = host.get_ref();
            let known = prefix(name);
            if known.is_none() {
                let message = format!(
                    "`{name}` is not the host of a registry: expected a name such as `ghcr.io`, `localhost:5000` or `ghcr.io/ada`"
                );
                self.problem(host.span(), message);
            }
            let ca = section
                .tls
                .ca
                .as_ref()
                .map(|ca| self.folder.join(ca.get_ref()));
            if let Some(path) = &ca {
                self.files.add(path.clone());
            }
            let signers = self.signers(&section.signed_by);
            let registry = Registry { ca, signers };
            let name = known.unwrap_or_else(|| name.clone());
            self.registries.of_prefix.insert(name, registry);
        }
    }

    /// The public key in a file.
    fn public_key(&mut self, file: &Spanned<String>) -> Option<VerifyingKey> {
        let path = self.folder.join(file.get_ref());
        // Noted first, so that a change while it is read is noticed.
        self.files.add(path.clone());
        let text = fs::read_to_string(&path);
        let problem = match text.map(|text| VerifyingKey::from_pem(&text)) {
            Ok(Ok(key)) => return Some(key),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        let message = format!("cannot read the key `{}`: {problem}", file.get_ref());
        self.problem(file.span(), message);
        None
    }

    /// The keys of these signers.
    pub(super) fn signers(&mut self, names: &SignedBy) -> Option<Vec<VerifyingKey>> {
        let names = names.as_ref()?;
        if names.get_ref().is_empty() {
            let message = "an empty list accepts no signature; name a `[signer.NAME]`, or leave `signed_by` out";
            self.problem(names.span(), message.to_owned());
        }
        let mut keys = Vec::new();
        for name in names.get_ref() {
            match self.registries.signers.get(name.get_ref()) {
                Some(of_signer) if !of_signer.is_empty() => keys.extend(of_signer.iter().cloned()),
                Some(_) => {
                    let message = format!(
                        "the signer `{}` has no key: set `key` in `[signer.{0}]`",
                        name.get_ref()
                    );
                    self.problem(name.span(), message);
                }
                None => {
                    let message = format!(
                        "there is no signer `{}`: add `[signer.{0}]` with its `key`",
                        name.get_ref()
                    );
                    self.problem(name.span(), message);
                }
            }
        }
        Some(keys)
    }

    /// The image of a servlet, with the settings of its registry.
    pub(super) fn image(&mut self, section: &ServletSection, mut image: Image) -> Image {
        image.last_known = section.on_failure == OnFailure::Cached;
        image.signers.extend(self.signers(&section.signed_by));
        self.registries.apply(&mut image);
        image
    }
}

impl Config {
    /// The image with this reference, with what the configuration in a file has for it: the certificates and signers of its
    /// registry, and the signers of each servlet that comes from it. The lock of the configuration is not used.
    ///
    /// `None` if the configuration has nothing for it, or names signers only for other images of its repository.
    ///
    /// # Errors
    /// [`ConfigError`] with every problem.
    pub fn image(path: &Path, reference: &str) -> Result<Option<Image>, ConfigError> {
        // A lock replaces the tags of sources by digests.
        let config = Self::look_and_read(path, Mode::Check, Locks::Off).1?;
        let mut image = Image::of(reference);
        config.registries.apply(&mut image);
        let repository = image.repository();
        let mut others_are_signed = false;
        let sources = config.entries.iter().map(|entry| &entry.source);
        for known in sources.filter_map(Source::image) {
            if known.names_same_image(&image) {
                for keys in &known.signers {
                    if !image.signers.contains(keys) {
                        image.signers.push(keys.clone());
                    }
                }
            } else if known.repository() == repository {
                others_are_signed |= !known.signers.is_empty();
            }
        }
        let has_policy = !image.signers.is_empty() || (image.ca.is_some() && !others_are_signed);
        Ok(has_policy.then_some(image))
    }
}

impl Registries {
    /// Sets what the registry of an image needs.
    fn apply(&self, image: &mut Image) {
        if let Some(repository) = image.repository() {
            let sections = || self.sections_for(&repository);
            image.ca = sections().find_map(|section| section.ca.clone());
            let signers = sections().find_map(|section| section.signers.clone());
            image.signers.extend(signers);
        }
    }

    /// The settings for a repository, those of the longest prefix first.
    fn sections_for(&self, repository: &str) -> impl Iterator<Item = &Registry> {
        let fits = |prefix: &str| {
            let rest = repository.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // Among prefixes of one text, the order of the map is that of their lengths.
        let sections = self.of_prefix.iter().rev();
        sections.filter_map(move |(prefix, section)| fits(prefix).then_some(section))
    }
}

/// The host of a registry, or the first parts of the name of a repository, as references have them.
fn prefix(name: &str) -> Option<String> {
    let name = name.strip_suffix('/').unwrap_or(name);
    let repository = Image::of(&format!("oci://{name}/any/any")).repository()?;
    repository.strip_suffix("/any/any").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tempfile::TempDir;
    use test_authority::Authority;

    use super::*;
    use crate::Lock;

    const DIGEST: &str = "sha256:920e24ee6b5ce0153c21dbbd9d10bb913b1eee8c9bad67b41dc89a19d0c9cbcd";

    /// A configuration that trusts the registry and knows the signer `ada`.
    fn config(servlets: &str) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("servlet.toml");
        let text = format!(
            "[signer.ada]\nkey = \"ada.pub\"\n[oci.\"registry.example:5000\"]\ntls.ca = \"ca.pem\"\n{servlets}"
        );
        let key = include_str!("../../mcp-servlet-oci/src/key/openssl.pub");
        let write = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).expect("a file");
        };
        write("ada.pub", key);
        write("ca.pem", &Authority::new().root());
        write("servlet.toml", &text);
        (folder, path)
    }

    /// The number of keys of each signature that a configuration asks of an image, or `None` if it says nothing about it.
    fn asked(path: &Path, image: &str) -> Option<Vec<usize>> {
        let reference = format!("oci://{image}");
        let image = Config::image(path, &reference).expect("a configuration")?;
        assert_eq!(image.reference, reference);
        Some(image.signers.iter().map(Vec::len).collect())
    }

    #[test]
    fn a_policy_is_for_every_spelling_of_a_reference() {
        let source = "source = \"oci://registry.example:5000/x/greet:1";
        let signed = "signed_by = [\"ada\"]";
        let (_folder, path) = config(&format!(
            "[servlet.any]\n{source}\"\n[servlet.one]\n{source}#sha256={}\"\n{signed}\n\
             [servlet.two]\nsource = \"oci://registry.example:5000/y@{DIGEST}\"\n{signed}\n",
            &DIGEST["sha256:".len()..]
        ));
        let ask = |image: &str| asked(&path, image);
        for image in [
            "registry.example:5000/x/greet:1",
            "REGISTRY.example.:05000/x/greet:1",
            &format!("registry.example:5000/x/greet:1@{DIGEST}"),
            &format!("registry.example:5000/y@{DIGEST}"),
            &format!("registry.example:5000/y:1@{DIGEST}"),
        ] {
            assert_eq!(ask(image), Some(vec![1]), "{image}");
        }
        // A certificate is not enough where images of the repository are signed.
        assert_eq!(ask("registry.example:5000/x/greet:2"), None);
        assert_eq!(ask("registry.example:5000/y:1"), None);
        assert_eq!(ask("registry.example:5000/z:1"), Some(vec![]));
        assert_eq!(ask("other.example/x/greet:1"), None);
    }

    #[test]
    fn a_lock_does_not_hide_a_policy() {
        let source = "oci://registry.example:5000/x/greet:1";
        let (_folder, path) = config(&format!(
            "[servlet.greet]\nsource = \"{source}\"\nsigned_by = [\"ada\"]\n"
        ));
        let lock = json!({
            "version": 1,
            "members": {
                "greet": {
                    "kind": "servlet",
                    "source": source,
                    "manifest": DIGEST,
                    "module": DIGEST,
                    "items": {},
                },
            },
        });
        fs::write(Lock::path(&path), lock.to_string()).expect("a file");
        let image = "registry.example:5000/x/greet:1";
        assert_eq!(asked(&path, image), Some(vec![1]));
    }
}
