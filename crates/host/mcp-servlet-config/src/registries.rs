//! OCI registries: their certificates, who signs their images, and the images that servlets come from.

use std::{collections::BTreeMap, fs, path::PathBuf};

use mcp_servlet_host::OnFailure;
use mcp_servlet_runtime::{Image, Source, VerifyingKey};
use toml::Spanned;

use super::{Config, Reader, file::File, file::ServletSection};

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
    /// The image with this reference, with the settings of its registry, and those of a servlet that comes from it.
    pub fn image(&self, reference: &str) -> Image {
        let of_entry = self.entries.iter().find_map(|entry| match &entry.source {
            Source::Image(image) if image.reference == reference => Some(image.clone()),
            _ => None,
        });
        of_entry.unwrap_or_else(|| {
            let mut image = Image::of(reference);
            self.registries.apply(&mut image);
            image
        })
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
