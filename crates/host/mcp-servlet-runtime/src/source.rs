//! Where servlets come from, and the checks before one is compiled.

mod fetch;
mod file;
mod image;
mod signature;

use std::{
    collections::{BTreeSet, HashSet},
    fs, io,
    path::{Path, PathBuf},
};

use mcp_servlet_common::hex;
use mcp_servlet_common::public_url;
use mcp_servlet_oci::{Reference, VerifyingKey, signer_of_file};
use sha2::{Digest as _, Sha256};

use crate::{
    abi::{Abi, CALL, DESCRIBE},
    error::LoadError,
    inspect::{Module, bounds},
    options::LoadOptions,
};

pub use image::Image;
pub use signature::signature_file;

/// The source of a module: a file, a URL, an image in a registry or bytes in memory.
#[derive(Clone, PartialEq, Eq)]
pub enum Source {
    /// A file. Its name without the extension is the servlet's name.
    File(PathBuf),
    /// A file on a web server, fetched over `https`. `http` is allowed for this machine only.
    Url(String),
    /// An image in an OCI registry.
    Image(Image),
    /// A module in memory.
    Bytes {
        /// The servlet's name.
        name: String,
        /// The module.
        wasm: Vec<u8>,
    },
    /// Another source whose module must have this SHA-256 digest.
    Pinned {
        /// The source.
        source: Box<Source>,
        /// The digest, in hexadecimal.
        sha256: String,
    },
    /// A file or a URL whose module must be signed, by a bundle that is next to it.
    Signed {
        /// The file or the URL.
        source: Box<Source>,
        /// The accepted keys.
        keys: Vec<VerifyingKey>,
    },
}

impl<P: AsRef<Path>> From<P> for Source {
    fn from(path: P) -> Self {
        Self::File(path.as_ref().to_owned())
    }
}

/// A module with its name and its origin.
pub struct Fetched {
    /// The name of the servlet.
    pub name: String,
    /// Where it comes from.
    pub origin: String,
    /// The digest of the image, such as `sha256:…`, if it comes from a registry.
    pub image: Option<String>,
    /// The fingerprints of the keys that have signed it, if the source names keys.
    pub signed_with: BTreeSet<String>,
    /// The module.
    pub wasm: Vec<u8>,
}

impl Fetched {
    /// The SHA-256 digest of the module.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(&self.wasm).into()
    }
}

impl Source {
    /// Whether it is fetched from another machine.
    pub fn is_remote(&self) -> bool {
        match self {
            Self::Url(_) | Self::Image(_) => true,
            Self::Pinned { source, .. } | Self::Signed { source, .. } => source.is_remote(),
            Self::File(_) | Self::Bytes { .. } => false,
        }
    }

    /// The image, if it is in a registry.
    pub fn image(&self) -> Option<&Image> {
        match self {
            Self::Image(image) => Some(image),
            Self::Pinned { source, .. } => source.image(),
            Self::File(_) | Self::Url(_) | Self::Bytes { .. } | Self::Signed { .. } => None,
        }
    }

    /// The fingerprints of the keys by which it may be signed; none if it need not be signed.
    pub fn signers(&self) -> BTreeSet<String> {
        match self {
            Self::Image(image) => {
                let keys = image.signers.iter().flatten();
                keys.map(VerifyingKey::fingerprint).collect()
            }
            Self::Pinned { source, .. } => source.signers(),
            Self::Signed { keys, .. } => keys.iter().map(VerifyingKey::fingerprint).collect(),
            Self::File(_) | Self::Url(_) | Self::Bytes { .. } => BTreeSet::new(),
        }
    }

    /// Selects the image with this digest, if the source is an image in a registry. Signatures and a pinned SHA-256 are still
    /// checked. Other sources stay the same.
    #[must_use]
    pub fn at_image(self, digest: &str) -> Self {
        match self {
            Self::Image(image) => Self::Image(image.at(digest)),
            Self::Pinned { source, sha256 } => Self::Pinned {
                source: Box::new(source.at_image(digest)),
                sha256,
            },
            other => other,
        }
    }

    /// Parses a path, a URL, or a reference such as `oci://ghcr.io/ada/mine:1.2.0`. A URL or a reference may end in
    /// `#sha256=` and the digest of the module.
    pub fn parse(text: &str) -> Self {
        let is_scheme = |scheme: &str| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_url = text
            .split_once("://")
            .is_some_and(|(scheme, _)| is_scheme(scheme));
        let is_image = Reference::is_one(text);
        if !is_url && !is_image {
            return Self::File(text.into());
        }
        let source = |text: &str| {
            if is_image {
                Self::Image(Image::of(text))
            } else {
                Self::Url(text.to_owned())
            }
        };
        match text.split_once("#sha256=") {
            Some((text, sha256)) => source(text).pinned(sha256),
            None => source(text),
        }
    }

    /// The same source, pinned to a SHA-256 digest in hexadecimal.
    #[must_use]
    pub fn pinned(self, sha256: &str) -> Self {
        Self::Pinned {
            source: Box::new(self),
            sha256: sha256.to_ascii_lowercase(),
        }
    }

    /// The servlets of a directory, sorted by name. Any other source is returned unchanged.
    ///
    /// # Errors
    /// [`LoadError`] if the directory cannot be read or contains no `.wasm` file, or if a digest or a
    /// reference is not valid.
    pub fn expand(self) -> Result<Vec<Self>, LoadError> {
        match &self {
            Self::Pinned { source, sha256 } => {
                check_digest(sha256)?;
                if let Self::Image(image) = &**source {
                    image.check_reference()?;
                }
            }
            Self::Image(image) => image.check_reference()?,
            Self::Signed { source, .. } => {
                source.as_ref().clone().expand()?;
            }
            Self::File(_) | Self::Url(_) | Self::Bytes { .. } => {}
        }
        let Self::File(path) = &self else {
            return Ok(vec![self]);
        };
        if !path.is_dir() {
            return Ok(vec![self]);
        }
        let mut files = list(path).map_err(|source| LoadError::Read {
            path: path.clone(),
            source,
        })?;
        if files.is_empty() {
            return Err(LoadError::EmptyDirectory { path: path.clone() });
        }
        files.sort();
        Ok(files.into_iter().map(Self::File).collect())
    }

    /// The default name of the servlet: the name of the file without its extension.
    pub fn name(&self) -> String {
        match self {
            Self::Bytes { name, .. } => name.clone(),
            Self::File(path) => stem(path),
            Self::Url(url) => stem(Path::new(url.split(['?', '#']).next().unwrap_or_default())),
            Self::Image(image) => image.name(),
            Self::Pinned { source, .. } | Self::Signed { source, .. } => source.name(),
        }
    }

    /// Reads the module without running it.
    ///
    /// # Errors
    /// [`LoadError`] if the source cannot be read or is not a module.
    pub fn module(&self) -> Result<Module, LoadError> {
        let Fetched { name, wasm, .. } = self.clone().fetch()?;
        Module::read(&wasm).map_err(|source| LoadError::Unreadable {
            servlet: name,
            source,
        })
    }

    /// Reads the module, its name and its origin.
    pub fn fetch(self) -> Result<Fetched, LoadError> {
        let name = self.name();
        match self {
            Self::Bytes { wasm, .. } => Ok(Fetched {
                origin: name.clone(),
                name,
                image: None,
                signed_with: BTreeSet::new(),
                wasm,
            }),
            Self::File(path) if path.is_dir() => {
                // Other problems with the directory come first.
                Self::File(path.clone()).expand()?;
                let source = io::ErrorKind::IsADirectory.into();
                Err(LoadError::Read { path, source })
            }
            Self::File(path) => Ok(Fetched {
                name,
                origin: path.display().to_string(),
                image: None,
                signed_with: BTreeSet::new(),
                wasm: file::read(path)?,
            }),
            Self::Url(url) => Ok(Fetched {
                name,
                wasm: fetch::fetch(&url).map_err(|source| LoadError::Fetch {
                    url: public_url(&url),
                    source,
                })?,
                origin: public_url(&url),
                image: None,
                signed_with: BTreeSet::new(),
            }),
            Self::Image(image) => {
                let pulled = image.pull()?;
                Ok(Fetched {
                    name,
                    origin: image.shown(),
                    image: Some(pulled.digest.to_string()),
                    signed_with: pulled.signed_with,
                    wasm: pulled.wasm,
                })
            }
            Self::Pinned { source, sha256 } => {
                check_digest(&sha256)?;
                let fetched = source.fetch()?;
                let found = hex(&fetched.digest());
                if found == sha256 {
                    return Ok(fetched);
                }
                Err(LoadError::Digest {
                    origin: fetched.origin,
                    expected: sha256,
                    found,
                })
            }
            Self::Signed { source, keys } => fetch_signed(*source, &keys),
        }
    }
}

/// Reads a module that must have a signature next to it.
fn fetch_signed(source: Source, keys: &[VerifyingKey]) -> Result<Fetched, LoadError> {
    let bundle = signature::read(&source)?;
    let mut fetched = source.fetch()?;
    let signer = bundle
        .as_ref()
        .and_then(|bundle| signer_of_file(bundle, &fetched.wasm, keys));
    if let Some(key) = signer {
        fetched.signed_with.insert(keys[key].fingerprint());
        return Ok(fetched);
    }
    Err(LoadError::NotSigned {
        origin: fetched.origin,
        found: bundle.is_some(),
    })
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Url(url) => f.write_str(&public_url(url)),
            Self::Image(image) => f.write_str(&image.shown()),
            Self::Bytes { name, .. } => f.write_str(name),
            Self::Pinned { source, .. } | Self::Signed { source, .. } => source.fmt(f),
        }
    }
}

/// The same as `Display`, because the rest of a URL may contain secrets.
impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Source({self})")
    }
}

/// The `.wasm` files of a directory.
fn list(path: &Path) -> io::Result<Vec<PathBuf>> {
    let files: io::Result<Vec<_>> = fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect();
    Ok(files?
        .into_iter()
        .filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "wasm")
        })
        .collect())
}

fn stem(path: &Path) -> String {
    let name = path.file_stem().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn check_digest(sha256: &str) -> Result<(), LoadError> {
    let is_digest = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_digest {
        return Ok(());
    }
    Err(LoadError::NoDigest {
        digest: sha256.to_owned(),
    })
}

/// Reads a module and checks its sections against the limits for compilation.
pub(crate) fn read_module(servlet: &str, wasm: &[u8]) -> Result<Module, LoadError> {
    let module =
        Module::read(wasm).and_then(|module| bounds::check_sections(wasm).map(|()| module));
    module.map_err(|source| LoadError::Unreadable {
        servlet: servlet.to_owned(),
        source,
    })
}

pub(crate) fn check_abi(servlet: &str, module: &Module) -> Result<Abi, LoadError> {
    let imports = module.unknown_imports();
    if !imports.is_empty() {
        return Err(LoadError::UnknownImports {
            servlet: servlet.to_owned(),
            imports,
        });
    }
    if let Some(abi) = module.abi() {
        return Ok(abi);
    }
    let missing: Vec<_> = [DESCRIBE, CALL]
        .into_iter()
        .filter(|name| !module.can_call(name))
        .collect();
    Err(missing_exports(servlet, module, &missing))
}

pub(crate) fn missing_exports(servlet: &str, module: &Module, missing: &[&str]) -> LoadError {
    let functions = module.exports.iter().filter(|export| export.function);
    LoadError::MissingExports {
        servlet: servlet.to_owned(),
        missing: missing.iter().map(|&name| name.to_owned()).collect(),
        found: functions.map(|export| export.name.clone()).collect(),
    }
}

pub(crate) fn check_paths(
    servlet: &str,
    module: &Module,
    options: &LoadOptions,
) -> Result<(), LoadError> {
    let mut seen = HashSet::new();
    for path in &options.allowed_paths {
        let problem = match fs::read_dir(&path.host) {
            Err(error) => Some(error),
            // WASI would open the directory under the last of its names only.
            Ok(_) if !seen.insert(&path.host) => Some(io::Error::other(
                "it is allowed twice; allow it once, under one name",
            )),
            Ok(_) => None,
        };
        if let Some(source) = problem {
            return Err(LoadError::AllowedPath {
                servlet: servlet.to_owned(),
                path: path.host.clone(),
                source,
            });
        }
    }
    if !options.allowed_paths.is_empty() && !module.uses_wasi() {
        tracing::warn!(
            servlet,
            "the servlet does not import WASI and so cannot open the allowed paths"
        );
    }
    Ok(())
}
