//! A module in an OCI registry.

use std::path::PathBuf;

use mcp_servlet_common::public_url;
use mcp_servlet_oci::{Client, Digest, Error, Pulled, Reference, Settings, VerifyingKey};

use crate::runtime::block_on;

/// An image in an OCI registry with a module, and how to reach it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// The reference, such as `oci://ghcr.io/ada/mine:1.2.0`.
    pub reference: String,
    /// A file with certificates that are trusted, too, in PEM.
    pub ca: Option<PathBuf>,
    /// Whether the image that the tag named last is used if the registry does not answer.
    pub last_known: bool,
    /// It must be signed by one key of each of these lists.
    pub signers: Vec<Vec<VerifyingKey>>,
}

impl Image {
    /// An image with this reference, which is not checked.
    pub fn of(reference: &str) -> Self {
        Self {
            reference: reference.to_owned(),
            ca: None,
            last_known: false,
            signers: Vec::new(),
        }
    }

    /// Checks the reference and the certificates, without a request.
    pub(super) fn check_reference(&self) -> Result<(), Error> {
        self.client().map(drop)
    }

    /// The host of the registry and the name of the repository, such as `ghcr.io/ada/mine`.
    pub fn repository(&self) -> Option<String> {
        let reference = Reference::parse(&self.reference).ok()?;
        Some(format!("{}/{}", reference.host(), reference.path()))
    }

    /// Whether both references have the same tag or the same digest of one repository, however they spell it.
    pub fn names_same_image(&self, other: &Self) -> bool {
        let references = (
            Reference::parse(&self.reference),
            Reference::parse(&other.reference),
        );
        let (Ok(one), Ok(other)) = references else {
            return false;
        };
        let has_same_tag = one.tag().is_some() && one.tag() == other.tag();
        let has_same_digest = one.digest().is_some() && one.digest() == other.digest();
        let is_in_same_repository = (one.host(), one.path()) == (other.host(), other.path());
        is_in_same_repository && (has_same_tag || has_same_digest)
    }

    /// The last part of the repository's name.
    pub(super) fn name(&self) -> String {
        let reference = Reference::parse(&self.reference);
        reference.map_or_else(|_| self.shown(), |reference| reference.name().to_owned())
    }

    /// The reference without what may be secret, if it is not valid.
    pub(super) fn shown(&self) -> String {
        public_url(&self.reference)
    }

    /// Selects the image with this digest in the same repository. Has no effect if the reference already has a digest or is
    /// invalid.
    pub(super) fn at(mut self, digest: &str) -> Self {
        if let (Ok(reference), Some(digest)) =
            (Reference::parse(&self.reference), Digest::parse(digest))
            && reference.digest().is_none()
        {
            self.reference = reference.with_digest(digest).to_string();
        }
        self
    }

    pub(super) fn pull(&self) -> Result<Pulled, Error> {
        let (client, reference) = self.client()?;
        block_on(client.pull(&reference))
    }

    fn client(&self) -> Result<(Client, Reference), Error> {
        let reference = Reference::parse_image(&self.reference)?;
        let client = Client::new(Settings {
            ca: self.ca.clone(),
            last_known: self.last_known,
            signers: self.signers.clone(),
            ..Settings::default()
        })?;
        Ok((client, reference))
    }
}
