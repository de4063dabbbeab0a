//! OCI registries: their certificates, and the images that servlets come from.

use mcp_servlet_host::OnFailure;
use mcp_servlet_runtime::Image;

use super::{Reader, file::File, file::ServletSection};

impl Reader<'_> {
    /// Reads the settings of registries, which apply to the servlets that come from them.
    pub(super) fn registries(&mut self, file: &File) {
        for (host, section) in &file.oci {
            let name = host.get_ref();
            let registry = Image::of(&format!("oci://{name}/any"));
            if registry.host().as_deref() != Some(name) {
                let message = format!(
                    "`{name}` is not the host of a registry: expected a name such as `ghcr.io` or `localhost:5000`"
                );
                self.problem(host.span(), message);
            }
            let Some(ca) = &section.tls.ca else { continue };
            let path = self.folder.join(ca.get_ref());
            self.files.add(path.clone());
            self.authorities.insert(name.clone(), path);
        }
    }

    /// The image of a servlet, with the settings of its registry.
    pub(super) fn image(&mut self, section: &ServletSection, mut image: Image) -> Image {
        let host = image.host();
        image.ca = host.and_then(|host| self.authorities.get(&host).cloned());
        image.last_known = section.on_failure == OnFailure::Cached;
        image
    }
}
