//! Writes a module.

use hyper::{
    StatusCode,
    header::{HeaderMap, LOCATION},
};
use mcp_servlet_common::public_url;
use mcp_servlet_http::Request;
use url::Url;

use crate::{
    artifact::Artifact,
    client::{Answer, Client, Session},
    digest::Digest,
    error::Error,
    key::SigningKey,
    layer,
    manifest::{self, IMAGE},
    pull::content_digest,
    reference::Reference,
};

/// The result of a push.
#[derive(Clone, Debug)]
pub struct Pushed {
    /// The digest of the manifest.
    pub digest: Digest,
    /// The tags, in the order in which they were given.
    pub tags: Vec<Tagged>,
}

/// A tag of an image.
#[derive(Clone, Debug)]
pub struct Tagged {
    /// The reference with the tag.
    pub reference: Reference,
    /// Whether the tag named this image before.
    pub present: bool,
}

impl Client {
    /// Writes a module to the repository of the reference, under these tags. A tag that names another image is only moved
    /// with `force`. The image is signed by the key before a tag names it.
    ///
    /// # Errors
    /// [`Error`]. Without `force`, nothing is written if one of the tags names another image.
    pub async fn push(
        &self,
        repository: &Reference,
        tags: &[String],
        artifact: &Artifact,
        force: bool,
        key: Option<&SigningKey>,
    ) -> Result<Pushed, Error> {
        let tagged = tags
            .iter()
            .map(|tag| repository.with_tag(tag))
            .collect::<Result<Vec<_>, _>>()?;
        let manifest = artifact.manifest();
        if artifact.wasm.len() as u64 > layer::MAX_LAYER {
            return Err(Error::too_large("the module", layer::MAX_LAYER_IN_WORDS));
        }
        let digest = Digest::of(&manifest);
        let mut session = self.session(repository, "pull,push")?;
        let mut done = Vec::new();
        for reference in tagged {
            let named = session.named(&reference).await?;
            let present = named.as_ref() == Some(&digest);
            if let Some(other) = named.filter(|_| !present && !force) {
                return Err(Error::TagExists {
                    tag: reference.image(),
                    digest: other,
                });
            }
            done.push(Tagged { reference, present });
        }
        if done.iter().any(|tagged| !tagged.present) {
            session.upload(&artifact.config()).await?;
            session.upload(&artifact.wasm).await?;
        }
        if let Some(key) = key {
            if done.iter().all(|tagged| !tagged.present) {
                let image = repository.with_digest(digest.clone());
                session.put_manifest(&image, &manifest, &digest).await?;
            }
            session.sign(&digest, &manifest, key).await?;
        }
        for tagged in done.iter().filter(|tagged| !tagged.present) {
            session
                .put_manifest(&tagged.reference, &manifest, &digest)
                .await?;
        }
        Ok(Pushed { digest, tags: done })
    }
}

impl Session<'_> {
    /// The digest of the image that a tag names.
    async fn named(&mut self, reference: &Reference) -> Result<Option<Digest>, Error> {
        let answer = self.head(self.get_manifest(reference)).await?;
        match answer.response.status() {
            StatusCode::NOT_FOUND => return Ok(None),
            StatusCode::OK => {}
            _ => return Err(self.error(answer).await),
        }
        if let Some(digest) = content_digest(answer.response.headers()) {
            return Ok(Some(digest));
        }
        let answer = self.send(self.get_manifest(reference)).await?;
        if answer.response.status() != StatusCode::OK {
            return Err(self.error(answer).await);
        }
        let json = self
            .read(answer, "manifest", manifest::MAX_MANIFEST)
            .await?;
        Ok(Some(Digest::of(&json)))
    }

    /// Uploads a blob, unless the repository has it.
    pub(crate) async fn upload(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let digest = Digest::of(bytes);
        let url = self.url(&format!("blobs/{digest}"));
        let answer = self.head(Request::get(url)).await?;
        match answer.response.status() {
            StatusCode::OK => return Ok(()),
            StatusCode::NOT_FOUND => {}
            _ => return Err(self.error(answer).await),
        }
        let answer = self
            .send(Request::new("POST", self.url("blobs/uploads/")))
            .await?;
        if answer.response.status() != StatusCode::ACCEPTED {
            return Err(self.error(answer).await);
        }
        let mut location = self.upload_url(&answer)?;
        location
            .query_pairs_mut()
            .append_pair("digest", &digest.to_string());
        let kind = "application/octet-stream";
        self.put(location, kind, bytes).await.map(drop)
    }

    /// The URL that the registry gives for an upload.
    fn upload_url(&self, answer: &Answer) -> Result<Url, Error> {
        let location = answer.response.headers().get(LOCATION);
        let location = location
            .and_then(|location| location.to_str().ok())
            .and_then(|location| answer.url.join(location).ok())
            .ok_or_else(|| Error::Unexpected {
                host: self.host(),
                status: StatusCode::ACCEPTED.as_u16(),
                message: "it does not say where to upload".to_owned(),
            })?;
        // A registry behind a proxy with TLS may not know that.
        if location.scheme() != "https" && !self.reference.is_plain() {
            return Err(Error::Downgrade {
                reference: self.reference.to_string(),
                url: public_url(location.as_str()),
            });
        }
        Ok(location)
    }

    async fn put_manifest(
        &mut self,
        reference: &Reference,
        manifest: &[u8],
        digest: &Digest,
    ) -> Result<(), Error> {
        let url = self.url(&format!("manifests/{}", reference.image()));
        tracing::debug!(%reference, %digest, "pushing the manifest");
        self.put(url, IMAGE, manifest).await.map(drop)
    }

    /// Sends something, and returns the headers of the answer.
    pub(crate) async fn put(
        &mut self,
        url: Url,
        kind: &str,
        bytes: &[u8],
    ) -> Result<HeaderMap, Error> {
        let request = Request::new("PUT", url).header("content-type", kind);
        let answer = self.send(request.with_body(bytes.to_vec())).await?;
        match answer.response.status() {
            StatusCode::CREATED => Ok(answer.response.headers().clone()),
            _ => Err(self.error(answer).await),
        }
    }
}
