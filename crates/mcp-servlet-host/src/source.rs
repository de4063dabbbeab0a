//! Where servlets come from, and what is checked before one is compiled.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    LoadError, LoadOptions, Module,
    inspect::{CALL, DESCRIBE},
};

/// Where the module comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file; the servlet is named after its stem.
    File(PathBuf),
    /// A module in memory.
    Bytes {
        /// The servlet's name.
        name: String,
        /// The module.
        wasm: Vec<u8>,
    },
}

impl<P: AsRef<Path>> From<P> for Source {
    fn from(path: P) -> Self {
        Self::File(path.as_ref().to_owned())
    }
}

impl Source {
    /// Name, origin and bytes.
    pub(crate) fn read(self) -> Result<(String, String, Vec<u8>), LoadError> {
        match self {
            Self::Bytes { name, wasm } => Ok((name.clone(), name, wasm)),
            Self::File(path) => {
                let name = path.file_stem().unwrap_or(path.as_os_str());
                let (name, origin) = (
                    name.to_string_lossy().into_owned(),
                    path.display().to_string(),
                );
                match fs::read(&path) {
                    Ok(wasm) => Ok((name, origin, wasm)),
                    Err(source) => Err(LoadError::Read { path, source }),
                }
            }
        }
    }
}

pub(crate) fn check_interface(servlet: &str, module: &Module) -> Result<(), LoadError> {
    let imports = module.unknown_imports();
    if !imports.is_empty() {
        return Err(LoadError::UnknownImports {
            servlet: servlet.to_owned(),
            imports,
        });
    }
    let missing = [DESCRIBE, CALL]
        .into_iter()
        .filter(|name| !module.can_call(name));
    let missing: Vec<_> = missing.map(str::to_owned).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let functions = module.exports.iter().filter(|export| export.function);
    Err(LoadError::MissingExports {
        servlet: servlet.to_owned(),
        missing,
        found: functions.map(|export| export.name.clone()).collect(),
    })
}

pub(crate) fn check_paths(
    servlet: &str,
    module: &Module,
    options: &LoadOptions,
) -> Result<(), LoadError> {
    for path in &options.allowed_paths {
        fs::read_dir(&path.host).map_err(|source| LoadError::AllowedPath {
            servlet: servlet.to_owned(),
            path: path.host.clone(),
            source,
        })?;
    }
    if !options.allowed_paths.is_empty() && !module.uses_wasi() {
        tracing::warn!(
            servlet,
            "the servlet does not import WASI and so cannot open the allowed paths"
        );
    }
    Ok(())
}
