//! Signatures of images. A signature is an image, too: its manifest names the signed image as `subject`.

use hyper::{
    StatusCode,
    header::{HeaderMap, LINK},
};
use mcp_servlet_http::Request;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use url::Url;

use crate::{
    bundle::{self, BUNDLE, SIGNED},
    client::{Answer, Client, Session},
    digest::Digest,
    error::Error,
    key::{SigningKey, VerifyingKey},
    manifest::{self, DOCKER_LIST, IMAGE, INDEX, null_as_default},
    pull::IMAGE_TIMEOUT,
    reference::Reference,
};

/// The number of signatures of an image that are read.
const MAX_SIGNATURES: usize = 32;
/// The number of pages of a list that are read.
const MAX_PAGES: usize = 32;
/// The limit for a bundle, in bytes.
const MAX_BUNDLE: u64 = 1 << 20;
/// An image without a configuration.
const EMPTY: &str = "application/vnd.oci.empty.v1+json";
/// The header with which a registry says that it lists the signatures of an image.
const SUBJECT: &str = "oci-subject";

/// An image that is signed by one of the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The digest of its manifest.
    pub digest: Digest,
    /// The position of its key in the list that was passed.
    pub key: usize,
}

/// An index of images, as far as it matters here.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Index {
    #[serde(default = "index_type")]
    media_type: String,
    #[serde(default, deserialize_with = "null_as_default")]
    manifests: Vec<Value>,
    /// All else.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

fn index_type() -> String {
    INDEX.to_owned()
}

impl Client {
    /// Signs the image that a reference names. Its signature is written to the same repository, unless the key has signed it
    /// before.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn sign(&self, reference: &Reference, key: &SigningKey) -> Result<Digest, Error> {
        let mut session = self.session(reference, "pull,push")?;
        let signed = timeout(IMAGE_TIMEOUT, async {
            let (digest, image) = session.manifest(reference).await?;
            let signed = session.sign(&digest, &image, key).await;
            signed.map(|()| digest)
        })
        .await;
        signed.unwrap_or_else(|_| Err(session.late()))
    }

    /// Checks that the image of a reference is signed by one of the keys.
    ///
    /// # Errors
    /// [`Error::NotSigned`], or another one if the image or its signatures cannot be read.
    pub async fn verify(
        &self,
        reference: &Reference,
        keys: &[VerifyingKey],
    ) -> Result<Signed, Error> {
        let mut session = self.session(reference, "pull")?;
        let verified = timeout(IMAGE_TIMEOUT, async {
            let (digest, _) = session.manifest(reference).await?;
            session.verify(&digest, keys).await
        })
        .await;
        verified.unwrap_or_else(|_| Err(session.late()))
    }

    /// The fingerprints of the keys that the signatures of an image name. Nothing checks that they have made them;
    /// [`verify`](Self::verify) does that.
    ///
    /// # Errors
    /// [`Error`] if the image or the list of its signatures cannot be read.
    pub async fn named_keys(&self, reference: &Reference) -> Result<Vec<String>, Error> {
        let mut session = self.session(reference, "pull")?;
        let limit = timeout(IMAGE_TIMEOUT, session.named_keys()).await;
        limit.unwrap_or_else(|_| Err(session.late()))
    }
}

impl Session<'_> {
    async fn named_keys(&mut self) -> Result<Vec<String>, Error> {
        let (digest, _) = self.manifest(self.reference).await?;
        let mut keys = Vec::new();
        for manifest in self.index(&digest).await?.bundles().take(MAX_SIGNATURES) {
            let bundle = self.readable_bundle(&manifest).await?;
            keys.extend(bundle.as_deref().and_then(bundle::named_key));
        }
        Ok(keys)
    }

    /// Signs the image with this digest and manifest, unless the key has signed it before.
    pub(crate) async fn sign(
        &mut self,
        digest: &Digest,
        image: &[u8],
        key: &SigningKey,
    ) -> Result<(), Error> {
        // A second signature by the key would have other bytes, and take one of the places.
        if self.verify(digest, &[key.public()]).await.is_ok() {
            return Ok(());
        }
        let bundle = bundle::sign(digest, key)?;
        self.attach(digest, image, &bundle).await
    }

    /// Checks that an image is signed by one of the keys: by what is in the cache, or else by what the registry has.
    pub(crate) async fn verify(
        &mut self,
        digest: &Digest,
        keys: &[VerifyingKey],
    ) -> Result<Signed, Error> {
        let cached = self.cached_index(digest);
        if let Some(index) = &cached
            && let Some(key) = self.signer(digest, index, keys).await?
        {
            return Ok(Signed {
                digest: digest.clone(),
                key,
            });
        }
        let index = self.index(digest).await?;
        if let Some(key) = self.signer(digest, &index, keys).await? {
            self.cache_index(digest, &index);
            return Ok(Signed {
                digest: digest.clone(),
                key,
            });
        }
        Err(Error::NotSigned {
            reference: self.reference.with_digest(digest.clone()).to_string(),
            found: index.bundles().count(),
        })
    }

    /// The key among these that has made a signature of the index. Signatures that cannot be read do not count.
    async fn signer(
        &mut self,
        digest: &Digest,
        index: &Index,
        keys: &[VerifyingKey],
    ) -> Result<Option<usize>, Error> {
        for manifest in index.bundles().take(MAX_SIGNATURES) {
            let bundle = self.readable_bundle(&manifest).await?;
            let key = bundle.and_then(|bundle| bundle::signer(&bundle, digest, keys));
            if key.is_some() {
                return Ok(key);
            }
        }
        Ok(None)
    }

    /// The bundle in the image with this digest, or `None` if it cannot be read although the registry answers.
    async fn readable_bundle(&mut self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        match self.bundle(digest).await {
            Err(error) if !error.is_outage() => {
                tracing::debug!(%digest, "a signature cannot be read: {error}");
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    /// The bundle in the image with this digest.
    async fn bundle(&mut self, digest: &Digest) -> Result<Vec<u8>, Error> {
        let reference = self.reference.with_digest(digest.clone());
        let (_, json) = self.manifest(&reference).await?;
        let manifest = manifest::Manifest::read(&reference, &json)?;
        let [layer] = &*manifest.layers else {
            return Err(Error::too_large("the number of layers of a signature", "1"));
        };
        if layer.size > MAX_BUNDLE {
            return Err(Error::too_large("a signature", "1 MiB"));
        }
        self.blob(layer).await
    }

    /// The list of images whose subject is this one.
    async fn index(&mut self, digest: &Digest) -> Result<Index, Error> {
        match self.referrers(digest).await? {
            Some(index) => Ok(index),
            // Registries without that list have a tag for it.
            None => self.tagged_index(digest).await,
        }
    }

    /// The registry's own list, or `None` if it has none.
    async fn referrers(&mut self, digest: &Digest) -> Result<Option<Index>, Error> {
        let mut url = self.url(&format!("referrers/{digest}"));
        // A registry may ignore this filter and return all images.
        url.query_pairs_mut().append_pair("artifactType", BUNDLE);
        let Some((mut index, mut next)) = self.page(url).await? else {
            return Ok(None);
        };
        for _ in 1..MAX_PAGES {
            let Some(url) = next.filter(|_| index.bundles().count() < MAX_SIGNATURES) else {
                break;
            };
            let Some((page, after)) = self.page(url).await? else {
                return Err(Error::Unexpected {
                    host: self.host(),
                    status: StatusCode::OK.as_u16(),
                    message: "a page of the list of signatures cannot be read".to_owned(),
                });
            };
            let bundles = page.manifests.into_iter();
            index
                .manifests
                .extend(bundles.filter(|manifest| bundle_of(manifest).is_some()));
            next = after;
        }
        Ok(Some(index))
    }

    /// A page of the registry's list, and the URL of the next page. `None` if the registry has no list: registries answer that with
    /// different statuses, or with something other than a list.
    async fn page(&mut self, url: Url) -> Result<Option<(Index, Option<Url>)>, Error> {
        let answer = match self.send(Request::get(url).header("accept", INDEX)).await {
            Err(Error::Unauthorized { .. }) => return Ok(None),
            answer => answer?,
        };
        match answer.response.status() {
            StatusCode::OK => {}
            StatusCode::BAD_REQUEST
            | StatusCode::UNAUTHORIZED
            | StatusCode::NOT_FOUND
            | StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::NOT_ACCEPTABLE
            | StatusCode::NOT_IMPLEMENTED => return Ok(None),
            _ => return Err(self.error(answer).await),
        }
        let next = next_page(answer.response.headers(), &answer.url);
        let json = self.read_list(answer).await?;
        Ok(Index::read(&json).ok().map(|index| (index, next)))
    }

    async fn tagged_index(&mut self, digest: &Digest) -> Result<Index, Error> {
        let url = self.url(&format!("manifests/{}", tag(digest)));
        let answer = self.send(Request::get(url).header("accept", INDEX)).await?;
        match answer.response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Ok(Index::default()),
            _ => return Err(self.error(answer).await),
        }
        let json = self.read_list(answer).await?;
        // GitLab takes the tag for the digest, and answers with the image itself.
        if Digest::of(&json) == *digest {
            return Ok(Index::default());
        }
        Index::read(&json).map_err(|problem| Error::Unexpected {
            host: self.host(),
            status: StatusCode::OK.as_u16(),
            message: format!("the list of signatures is not valid: {problem}"),
        })
    }

    async fn read_list(&self, answer: Answer) -> Result<Vec<u8>, Error> {
        self.read(answer, "list of signatures", manifest::MAX_MANIFEST)
            .await
    }

    /// Writes a bundle about an image.
    async fn attach(&mut self, subject: &Digest, image: &[u8], bundle: &[u8]) -> Result<(), Error> {
        let config = b"{}";
        let annotations = json!({
            "dev.sigstore.bundle.content": "dsse-envelope",
            "dev.sigstore.bundle.predicateType": SIGNED,
        });
        let manifest_json = json!({
            "schemaVersion": 2,
            "mediaType": IMAGE,
            "artifactType": BUNDLE,
            "config": { "mediaType": EMPTY, "digest": Digest::of(config).to_string(), "size": config.len() },
            "layers": [{ "mediaType": BUNDLE, "digest": Digest::of(bundle).to_string(), "size": bundle.len() }],
            "subject": { "mediaType": media_type(image), "digest": subject.to_string(), "size": image.len() },
            "annotations": annotations,
        });
        let manifest = manifest_json.to_string().into_bytes();
        let digest = Digest::of(&manifest);
        self.upload(config).await?;
        self.upload(bundle).await?;
        let url = self.url(&format!("manifests/{digest}"));
        let headers = self.put(url, IMAGE, &manifest).await?;
        if has_subject(&headers, subject) {
            return Ok(());
        }
        let mut index = self.tagged_index(subject).await?;
        index.manifests.push(json!({
            "mediaType": IMAGE,
            "digest": digest.to_string(),
            "size": manifest.len(),
            "artifactType": BUNDLE,
            "annotations": annotations,
        }));
        let url = self.url(&format!("manifests/{}", tag(subject)));
        let index = serde_json::to_vec(&index).expect("texts and numbers are JSON");
        self.put(url, INDEX, &index).await?;
        Ok(())
    }

    fn cached_index(&self, digest: &Digest) -> Option<Index> {
        let reference = self.reference.with_tag(&tag(digest)).ok()?;
        let cache = &self.client.settings.cache;
        let (index, _) = cache.tagged(&reference)?;
        serde_json::from_slice(&cache.blob(&index)?).ok()
    }

    fn cache_index(&self, digest: &Digest, index: &Index) {
        let Ok(reference) = self.reference.with_tag(&tag(digest)) else {
            return;
        };
        let cache = &self.client.settings.cache;
        let json = serde_json::to_vec(index).expect("texts and numbers are JSON");
        let of_index = Digest::of(&json);
        cache.store_blob(&of_index, &json);
        cache.store_tag(&reference, &of_index);
    }
}

impl Default for Index {
    fn default() -> Self {
        Self {
            media_type: index_type(),
            manifests: Vec::new(),
            rest: Map::from_iter([("schemaVersion".to_owned(), 2.into())]),
        }
    }
}

impl Index {
    fn read(json: &[u8]) -> Result<Self, String> {
        let index: Self = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        match &*index.media_type {
            INDEX | DOCKER_LIST => Ok(index),
            other => Err(format!("its type is `{other}`")),
        }
    }

    /// The images that have a bundle.
    fn bundles(&self) -> impl Iterator<Item = Digest> {
        self.manifests.iter().filter_map(bundle_of)
    }
}

/// The page that a `Link` header names as the next one, on the same server.
fn next_page(headers: &HeaderMap, url: &Url) -> Option<Url> {
    let values = headers.get_all(LINK).into_iter();
    let texts = values.filter_map(|value| value.to_str().ok());
    // A header may have several links. URLs can have commas, but no `<`.
    let links = texts.flat_map(|text| text.split('<').skip(1));
    let mut targets = links.filter_map(|link| {
        let (target, parameters) = link.split_once('>')?;
        let is_next = |parameter: &str| {
            let parameter = parameter.trim_matches([' ', ',']);
            matches!(parameter, r#"rel="next""# | "rel=next")
        };
        parameters.split(';').any(is_next).then_some(target)
    });
    let next = url.join(targets.next()?).ok()?;
    (next.origin() == url.origin()).then_some(next)
}

/// The image with a bundle that an entry of an index names.
fn bundle_of(manifest: &Value) -> Option<Digest> {
    let digest = manifest["digest"].as_str()?;
    (manifest["artifactType"] == BUNDLE).then(|| Digest::parse(digest))?
}

/// The tag that stands for that list in registries without it.
fn tag(digest: &Digest) -> String {
    format!("sha256-{}", digest.hex())
}

fn has_subject(headers: &HeaderMap, subject: &Digest) -> bool {
    let named = headers.get(SUBJECT).and_then(|named| named.to_str().ok());
    named.is_some_and(|named| Digest::parse(named).as_ref() == Some(subject))
}

/// The type that a manifest says it has.
fn media_type(manifest: &[u8]) -> String {
    let manifest: Value = serde_json::from_slice(manifest).unwrap_or_default();
    manifest["mediaType"].as_str().unwrap_or(IMAGE).to_owned()
}
