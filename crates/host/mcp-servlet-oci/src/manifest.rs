//! Manifests of images and indexes, as OCI and docker write them.

use std::collections::BTreeMap;

use mcp_servlet_common::quoted;
use serde::{Deserialize, Deserializer};

use crate::{digest::Digest, error::Error, reference::Reference};

/// The limit for a manifest, in bytes.
pub(crate) const MAX_MANIFEST: u64 = 4 << 20;
const MAX_LAYERS: usize = 16;

/// The type of our manifests.
pub(crate) const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";

/// The type of lists of images.
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// The type of docker's lists of images.
pub(crate) const DOCKER_LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";

/// The types that are read.
pub(crate) const ACCEPT: &str = "application/vnd.oci.image.manifest.v1+json, \
    application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, \
    application/vnd.docker.distribution.manifest.list.v2+json";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    config: Option<Descriptor>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(crate) layers: Vec<Descriptor>,
    #[serde(default, deserialize_with = "null_as_default")]
    manifests: Vec<Descriptor>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(crate) annotations: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Descriptor {
    #[serde(default)]
    media_type: String,
    digest: String,
    pub(crate) size: u64,
    platform: Option<Platform>,
}

#[derive(Clone, Debug, Deserialize)]
struct Platform {
    #[serde(default)]
    architecture: String,
    #[serde(default)]
    os: String,
}

impl Manifest {
    pub(crate) fn read(reference: &Reference, json: &[u8]) -> Result<Self, Error> {
        let manifest: Self = serde_json::from_slice(json)
            .map_err(|error| malformed(reference, format!("the manifest is not valid: {error}")))?;
        if manifest.layers.len() > MAX_LAYERS {
            return Err(Error::too_large(
                "the number of layers",
                MAX_LAYERS.to_string(),
            ));
        }
        Ok(manifest)
    }

    /// The image to use, if this is an index: that for wasm, else the only one, else that for linux/amd64.
    pub(crate) fn choose(&self, reference: &Reference) -> Option<Result<&Descriptor, Error>> {
        // buildx adds its attestations to the index, as entries for the OS `unknown`.
        let is_image = |entry: &&Descriptor| {
            let os = entry.platform.as_ref().map(|platform| &*platform.os);
            os != Some("unknown")
        };
        let images: Vec<_> = self.manifests.iter().filter(is_image).collect();
        let of = |architecture: &str, os: Option<&str>| {
            let mut images = images.iter().copied();
            images.find(|image| {
                let platform = image.platform.as_ref();
                platform.is_some_and(|platform| {
                    platform.architecture == architecture && os.is_none_or(|os| platform.os == os)
                })
            })
        };
        let only = || match &*images {
            [only] => Some(*only),
            _ => None,
        };
        if self.manifests.is_empty() {
            return None;
        }
        let chosen = of("wasm", None)
            .or_else(only)
            .or_else(|| of("amd64", Some("linux")));
        Some(chosen.ok_or_else(|| Error::NoWasm {
            reference: reference.to_string(),
            found: "an index without an image for wasm".to_owned(),
        }))
    }

    /// The contents of an image without a module, for messages.
    pub(crate) fn contents(&self) -> String {
        let types = quoted(self.layers.iter().map(|layer| &layer.media_type));
        let config = self
            .config
            .as_ref()
            .map_or("", |config| &*config.media_type);
        let is_image =
            config.ends_with("image.config.v1+json") || config.ends_with("container.image.v1+json");
        let found = match &*types {
            "" => "it has no layers".to_owned(),
            types => format!("its layers are {types}"),
        };
        if is_image {
            return format!("{found}; this is an image for docker");
        }
        found
    }
}

impl Descriptor {
    pub(crate) fn digest(&self, reference: &Reference) -> Result<Digest, Error> {
        Digest::parse(&self.digest).ok_or_else(|| {
            let message = format!("`{}` in the manifest is not a SHA-256 digest", self.digest);
            malformed(reference, message)
        })
    }
}

/// Go writes null for an empty list.
pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn malformed(reference: &Reference, message: String) -> Error {
    Error::Unexpected {
        host: reference.host().to_owned(),
        status: 200,
        message,
    }
}
