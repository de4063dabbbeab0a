//! Reads a module.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use hyper::{
    StatusCode,
    header::{CONTENT_RANGE, HeaderMap},
};
use mcp_servlet_http::{Request, failure, read_more};
use mcp_servlet_types::HttpErrorKind;
use tokio::time::{sleep, timeout};

use crate::{
    client::{Answer, Client, RETRY_PAUSES, SILENCE_TIMEOUT, Session, host},
    digest::Digest,
    error::Error,
    layer,
    manifest::{self, ACCEPT, Descriptor, Manifest},
    reference::Reference,
};

/// The time limit for an image.
pub(crate) const IMAGE_TIMEOUT: Duration = Duration::from_mins(10);

/// The header with the digest of a manifest.
pub(crate) const CONTENT_DIGEST: &str = "docker-content-digest";

/// A module that was pulled.
#[derive(Clone, Debug)]
pub struct Pulled {
    /// The module.
    pub wasm: Vec<u8>,
    /// The digest of the manifest that the reference names.
    pub digest: Digest,
    /// The fingerprints of those keys in the [settings](crate::Settings::signers) that have signed it.
    pub signed_with: BTreeSet<String>,
    /// What the manifest says about the module. Nothing has checked it.
    pub annotations: BTreeMap<String, String>,
}

impl Client {
    /// Reads the module of an image. If the reference has a digest and the cache has the image, it sends no request.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn pull(&self, reference: &Reference) -> Result<Pulled, Error> {
        let mut session = self.session(reference, "pull")?;
        let limit = timeout(IMAGE_TIMEOUT, session.pull()).await;
        limit.unwrap_or_else(|_| Err(session.late()))
    }
}

impl Session<'_> {
    /// The error after [`IMAGE_TIMEOUT`].
    pub(crate) fn late(&self) -> Error {
        let late = failure::timed_out(&self.url(""), IMAGE_TIMEOUT);
        Error::of_request(&self.host(), self.reference, late.into())
    }

    async fn pull(&mut self) -> Result<Pulled, Error> {
        let (digest, json) = match self.manifest(self.reference).await {
            Err(error) if self.client.settings.last_known && error.is_outage() => {
                let known = self.last_known(&error);
                known.ok_or(error)?
            }
            read => read?,
        };
        // Before anything else of the image is read.
        let mut signed_with = BTreeSet::new();
        for keys in &self.client.settings.signers {
            let signed = self.verify(&digest, keys).await?;
            signed_with.insert(keys[signed.key].fingerprint());
        }
        let mut manifest = Manifest::read(self.reference, &json)?;
        if let Some(chosen) = manifest.choose(self.reference) {
            let chosen = self.reference.with_digest(chosen?.digest(self.reference)?);
            let (_, json) = self.manifest(&chosen).await?;
            manifest = Manifest::read(self.reference, &json)?;
        }
        for descriptor in &manifest.layers {
            let layer = self.blob(descriptor).await?;
            if let Some(wasm) = layer::module(layer)? {
                return Ok(Pulled {
                    wasm,
                    digest,
                    signed_with,
                    annotations: manifest.annotations,
                });
            }
        }
        Err(Error::NoWasm {
            reference: self.reference.to_string(),
            found: manifest.contents(),
        })
    }

    /// A manifest with its digest, from the cache if the reference has a digest.
    pub(crate) async fn manifest(
        &mut self,
        reference: &Reference,
    ) -> Result<(Digest, Vec<u8>), Error> {
        let cache = &self.client.settings.cache;
        if let Some(digest) = reference.digest()
            && let Some(json) = cache.blob(digest)
        {
            return Ok((digest.clone(), json));
        }
        let answer = self.send(self.get_manifest(reference)).await?;
        match answer.response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => {
                return Err(Error::ManifestUnknown {
                    reference: reference.to_string(),
                });
            }
            _ => return Err(self.error(answer).await),
        }
        let announced = content_digest(answer.response.headers());
        let from = host(&answer.url);
        let json = self
            .read(answer, "manifest", manifest::MAX_MANIFEST)
            .await?;
        let found = Digest::of(&json);
        let expected = reference.digest().or(announced.as_ref()).unwrap_or(&found);
        if *expected != found {
            return Err(Error::DigestDiffers {
                what: "manifest",
                from,
                expected: expected.clone(),
                found: found.to_string(),
            });
        }
        cache.store_blob(&found, &json);
        if reference.digest().is_none() {
            cache.store_tag(reference, &found);
        }
        Ok((found, json))
    }

    /// A request for a manifest.
    pub(crate) fn get_manifest(&self, reference: &Reference) -> Request {
        let url = self.url(&format!("manifests/{}", reference.image()));
        Request::get(url).header("accept", ACCEPT)
    }

    /// The last known manifest of the tag.
    fn last_known(&self, error: &Error) -> Option<(Digest, Vec<u8>)> {
        let cache = &self.client.settings.cache;
        let (digest, since) = cache.tagged(self.reference)?;
        let json = cache.blob(&digest)?;
        let hours = since.elapsed().unwrap_or_default().as_secs() / 3600;
        tracing::warn!(
            reference = %self.reference, %digest, hours,
            "the registry does not answer, using the image that the tag named {hours} hours ago: {error}"
        );
        Some((digest, json))
    }

    /// The bytes of a layer. If the connection breaks, it asks for the rest.
    pub(crate) async fn blob(&mut self, descriptor: &Descriptor) -> Result<Vec<u8>, Error> {
        let digest = descriptor.digest(self.reference)?;
        let cache = &self.client.settings.cache;
        if let Some(bytes) = cache.blob(&digest) {
            return Ok(bytes);
        }
        if descriptor.size > layer::MAX_LAYER {
            return Err(Error::too_large("a layer", layer::MAX_LAYER_IN_WORDS));
        }
        let mut bytes = Vec::new();
        let mut pauses = RETRY_PAUSES.into_iter();
        let from = loop {
            let answer = self.send(self.get_blob(&digest, bytes.len())).await?;
            match answer.response.status() {
                StatusCode::PARTIAL_CONTENT if continues(&answer, bytes.len()) => {}
                StatusCode::OK | StatusCode::PARTIAL_CONTENT => bytes.clear(),
                _ => return Err(self.error(answer).await),
            }
            let (from, url) = (host(&answer.url), answer.url);
            let read = read_more(
                answer.response,
                &url,
                &mut bytes,
                descriptor.size,
                SILENCE_TIMEOUT,
            )
            .await;
            match read {
                Ok(()) => break from,
                Err(failure) if failure.kind == HttpErrorKind::TooLarge => {
                    return Err(Error::DigestDiffers {
                        what: "layer",
                        from,
                        expected: digest,
                        found: format!("more than {} bytes", descriptor.size),
                    });
                }
                // Nothing is missing. The digest decides whether it is right.
                Err(_) if bytes.len() as u64 == descriptor.size => break from,
                Err(failure) => match pauses.next() {
                    Some(pause) if failure.kind == HttpErrorKind::Connect => {
                        tracing::debug!(from, bytes = bytes.len(), "a layer breaks off: {failure}");
                        sleep(pause).await;
                    }
                    _ => return Err(Error::of_request(&from, self.reference, failure.into())),
                },
            }
        };
        let found = Digest::of(&bytes);
        if found != digest {
            return Err(Error::DigestDiffers {
                what: "layer",
                from,
                expected: digest,
                found: found.to_string(),
            });
        }
        cache.store_blob(&digest, &bytes);
        Ok(bytes)
    }

    fn get_blob(&self, digest: &Digest, start: usize) -> Request {
        let url = self.url(&format!("blobs/{digest}"));
        let request = Request::get(url);
        if start == 0 {
            return request;
        }
        request.header("range", format!("bytes={start}-"))
    }
}

/// Whether a partial response begins at this byte.
fn continues(answer: &Answer, start: usize) -> bool {
    let range = answer
        .response
        .headers()
        .get(CONTENT_RANGE)
        .and_then(|range| range.to_str().ok());
    range.is_some_and(|range| range.starts_with(&format!("bytes {start}-")))
}

/// The digest that a registry says a manifest has.
pub(crate) fn content_digest(headers: &HeaderMap) -> Option<Digest> {
    Digest::parse(headers.get(CONTENT_DIGEST)?.to_str().ok()?)
}
