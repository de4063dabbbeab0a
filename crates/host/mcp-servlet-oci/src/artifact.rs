//! What is pushed: a module in a single layer. The same module and annotations have the same digest on any day.
//!
//! See `docs/decisions/0066-own-client-of-registries.md`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{digest::Digest, manifest::IMAGE};

/// The type of servlets.
pub const SERVLET: &str = "application/vnd.mcp-servlet.v1";
/// The type that hyper-mcp gives plugins with its second ABI.
pub const HYPER_MCP_V2: &str = "application/vnd.hyper-mcp.plugin.v2";

const CONFIG: &str = "application/vnd.wasm.config.v0+json";
const WASM: &str = "application/wasm";

/// A module to push, and what its manifest says about it.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The module.
    pub wasm: Vec<u8>,
    /// [`SERVLET`] or [`HYPER_MCP_V2`].
    pub artifact_type: &'static str,
    /// For people and search pages.
    pub annotations: BTreeMap<String, String>,
}

/// The members are in the order in which they are written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    architecture: &'static str,
    /// Readers require a time. It is always the same, so that the digest is.
    created: &'static str,
    layer_digests: [String; 1],
    os: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewManifest<'a> {
    schema_version: u8,
    media_type: &'static str,
    artifact_type: &'static str,
    config: NewDescriptor,
    layers: [NewDescriptor; 1],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewDescriptor {
    media_type: &'static str,
    digest: String,
    size: usize,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<&'static str, &'static str>,
}

impl NewDescriptor {
    fn of(media_type: &'static str, bytes: &[u8]) -> Self {
        Self {
            media_type,
            digest: Digest::of(bytes).to_string(),
            size: bytes.len(),
            annotations: BTreeMap::new(),
        }
    }
}

impl Artifact {
    /// The bytes of the configuration.
    pub fn config(&self) -> Vec<u8> {
        json(&Config {
            architecture: "wasm",
            created: "1970-01-01T00:00:00Z",
            layer_digests: [Digest::of(&self.wasm).to_string()],
            os: "wasip1",
        })
    }

    /// The bytes of the manifest. Their digest identifies the image.
    pub fn manifest(&self) -> Vec<u8> {
        let mut layer = NewDescriptor::of(WASM, &self.wasm);
        // The file name of programs that write layers as files.
        layer
            .annotations
            .insert("org.opencontainers.image.title", "plugin.wasm");
        json(&NewManifest {
            schema_version: 2,
            media_type: IMAGE,
            artifact_type: self.artifact_type,
            config: NewDescriptor::of(CONFIG, &self.config()),
            layers: [layer],
            annotations: &self.annotations,
        })
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("texts and numbers are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_always_the_same() {
        let artifact = Artifact {
            wasm: b"\0asm\x01\0\0\0".to_vec(),
            artifact_type: SERVLET,
            annotations: [("b", "2"), ("a", "1")]
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into(),
        };
        let wasm = "sha256:93a44bbb96c751218e4c00d479e4c14358122a389acca16205b1e4d0dc5f9476";
        let config = String::from_utf8(artifact.config()).expect("text");
        assert_eq!(
            config,
            format!(
                r#"{{"architecture":"wasm","created":"1970-01-01T00:00:00Z","layerDigests":["{wasm}"],"os":"wasip1"}}"#
            )
        );
        let manifest = String::from_utf8(artifact.manifest()).expect("text");
        let (digest, size) = (Digest::of(config.as_bytes()), config.len());
        assert_eq!(
            manifest,
            format!(
                r#"{{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","artifactType":"application/vnd.mcp-servlet.v1","config":{{"mediaType":"application/vnd.wasm.config.v0+json","digest":"{digest}","size":{size}}},"layers":[{{"mediaType":"application/wasm","digest":"{wasm}","size":8,"annotations":{{"org.opencontainers.image.title":"plugin.wasm"}}}}],"annotations":{{"a":"1","b":"2"}}}}"#
            )
        );
    }
}
