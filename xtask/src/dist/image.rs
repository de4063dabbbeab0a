//! An image for containers, as a tar file of an OCI image layout, with all architectures of Linux.

use jiff::Timestamp;
use mcp_servlet_package::{File, gzip, tar};
use serde_json::{Value, json};

use super::{Program, Release, VERSION, sha256};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// A user without rights, as images of other projects number it.
const USER: &str = "65532:65532";

/// The image, if a program is for Linux.
pub(super) fn pack(release: &Release) -> anyhow::Result<Option<(String, Vec<u8>)>> {
    let mut layout = Layout::default();
    let mut manifests = Vec::new();
    for program in &release.programs {
        if let Some(architecture) = program.platform.linux {
            let mut manifest = layout.add_image(release, program, architecture)?;
            manifest["platform"] = json!({ "architecture": architecture, "os": "linux" });
            manifests.push(manifest);
        }
    }
    if manifests.is_empty() {
        return Ok(None);
    }
    let mut index = layout.add_json(INDEX, &index(&manifests));
    index["annotations"] = json!({ "org.opencontainers.image.ref.name": VERSION });
    let mut files = layout.blobs;
    let version = json!({ "imageLayoutVersion": "1.0.0" });
    files.push(File::text("index.json", &self::index(&[index]).to_string()));
    files.push(File::text("oci-layout", &version.to_string()));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let name = format!("servlet-{VERSION}-image.tar");
    Ok(Some((name, tar(&files, release.time)?)))
}

fn index(manifests: &[Value]) -> Value {
    json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": manifests })
}

/// Files by their digests.
#[derive(Default)]
struct Layout {
    blobs: Vec<File>,
}

impl Layout {
    /// Adds the image for one architecture and returns the descriptor of its manifest.
    fn add_image(
        &mut self,
        release: &Release,
        program: &Program,
        architecture: &str,
    ) -> anyhow::Result<Value> {
        let files = [
            File::text("servlets/", ""),
            File::program("usr/bin/servlet", program.bytes.clone()),
        ];
        let layer = tar(&files, release.time)?;
        let config = json!({
            "created": Timestamp::from_second(i64::try_from(release.time)?)?.to_string(),
            "architecture": architecture,
            "os": "linux",
            "config": {
                "User": USER,
                "ExposedPorts": { "8080/tcp": {} },
                "Env": ["PATH=/usr/bin"],
                "Entrypoint": ["/usr/bin/servlet"],
                "Cmd": ["serve", "/servlets", "--http", "0.0.0.0:8080"],
            },
            "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{}", sha256(&layer))] },
        });
        let layer = self.add(LAYER, &gzip(&layer, release.level)?);
        let config = self.add_json(CONFIG, &config);
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": config,
            "layers": [layer],
        });
        Ok(self.add_json(MANIFEST, &manifest))
    }

    fn add_json(&mut self, media_type: &str, value: &Value) -> Value {
        self.add(media_type, value.to_string().as_bytes())
    }

    /// Adds a file and returns its descriptor.
    fn add(&mut self, media_type: &str, bytes: &[u8]) -> Value {
        let digest = sha256(bytes);
        self.blobs
            .push(File::new(&format!("blobs/sha256/{digest}"), bytes));
        json!({ "mediaType": media_type, "digest": format!("sha256:{digest}"), "size": bytes.len() })
    }
}
