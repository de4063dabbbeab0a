//! The cache of compiled modules: a machine compiles each module once.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use extism::PluginBuilder;

use crate::{error::LoadError, options::CompileCache};

/// Sets the cache that the compiler uses.
pub(super) fn apply<'a>(
    cache: &CompileCache,
    builder: PluginBuilder<'a>,
) -> Result<PluginBuilder<'a>, LoadError> {
    match cache {
        CompileCache::Default if default_works() => Ok(builder),
        CompileCache::Default | CompileCache::Off => Ok(builder.with_cache_disabled()),
        CompileCache::Directory(directory) => {
            let config = configure(directory).map_err(|source| LoadError::Cache {
                directory: directory.clone(),
                source,
            })?;
            Ok(builder.with_cache_config(config))
        }
    }
}

/// Whether the default cache directory can be used. Without a cache, servlets still work but start slowly.
fn default_works() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        let configured = std::env::var_os("EXTISM_CACHE_CONFIG");
        if configured.as_ref().is_some_and(|file| file.is_empty()) {
            return false;
        }
        let cache = wasmtime::Cache::from_file(configured.as_deref().map(Path::new));
        if let Err(error) = &cache {
            tracing::warn!("cannot cache compiled servlets, so they start slowly: {error:#}");
        }
        cache.is_ok()
    })
}

/// Writes the configuration file that wasmtime reads; it names the directory. Concurrent readers
/// never see a partial file.
fn configure(directory: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(directory)?;
    let directory = directory.canonicalize()?;
    let modules = toml::Value::from(directory.join("modules").to_string_lossy().into_owned());
    let text = format!("[cache]\ndirectory = {modules}\n");
    let file = directory.join("cache.toml");
    if fs::read_to_string(&file).is_ok_and(|found| found == text) {
        return Ok(file);
    }
    let id = std::thread::current().id();
    let draft = directory.join(format!("cache.toml.{}.{id:?}", std::process::id()));
    fs::write(&draft, text)?;
    fs::rename(draft, &file)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_never_see_a_partial_configuration() {
        for _ in 0..200 {
            let folder = tempfile::tempdir().expect("a folder");
            let together = std::sync::Barrier::new(3);
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        together.wait();
                        let file = configure(folder.path()).expect("a file");
                        let text = fs::read_to_string(file).expect("text");
                        assert!(text.ends_with('\n'), "{text:?}");
                    });
                }
            });
        }
    }
}
