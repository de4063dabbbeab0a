//! Reads a module from a file, and stops if the file cannot be a module.

use std::{
    fs::File,
    io::{self, Read as _},
    path::PathBuf,
};

use super::stem;
use crate::{
    LimitExceeded, LoadError, Unreadable,
    inspect::{self, MAGIC, MAX_MODULE},
};

/// Reads the whole file. Stops early if the file does not begin like a module or is too large.
pub(super) fn read(path: PathBuf) -> Result<Vec<u8>, LoadError> {
    let mut wasm = Vec::new();
    match read_into(&mut wasm, &path) {
        Ok(Ok(())) => Ok(wasm),
        Ok(Err(source)) => Err(LoadError::Unreadable {
            servlet: stem(&path),
            source,
        }),
        Err(source) => Err(LoadError::Read { path, source }),
    }
}

fn read_into(wasm: &mut Vec<u8>, path: &PathBuf) -> io::Result<Result<(), Unreadable>> {
    let mut file = File::open(path)?;
    file.by_ref().take(MAGIC).read_to_end(wasm)?;
    if let Err(problem) = inspect::check_magic(wasm) {
        return Ok(Err(problem));
    }
    // A device or a pipe has no size, so the limit also applies to the bytes that are read.
    let size = file.metadata()?.len();
    if let Err(problem) = LimitExceeded::size(size) {
        return Ok(Err(problem.into()));
    }
    wasm.reserve_exact(usize::try_from(size).unwrap_or_default());
    file.take(MAX_MODULE).read_to_end(wasm)?;
    Ok(LimitExceeded::size(wasm.len() as u64).map_err(Unreadable::Limit))
}
