//! What a servlet may do: nothing beyond computing, unless the options say so.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use extism::Manifest;

const WASM_PAGE: u64 = 65_536;

/// What a servlet is given and how far it may go.
///
/// The default denies the network and the file system and bounds memory and time.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Values that the servlet reads with `config_get`.
    pub config: BTreeMap<String, String>,
    /// Hosts that HTTP requests may go to; `*` and `?` match parts of a name.
    pub allowed_hosts: Vec<String>,
    /// Directories that a servlet built for WASI may open.
    pub allowed_paths: Vec<AllowedPath>,
    /// How many bytes of memory an instance may take, messages included; `None` lifts the bound.
    pub memory: Option<u64>,
    /// How long one call may run; `None` lifts the bound.
    pub timeout: Option<Duration>,
}

/// A directory of the host that the servlet sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedPath {
    /// The directory on the host.
    pub host: PathBuf,
    /// The name under which the servlet opens it.
    pub guest: PathBuf,
    /// Whether writing is refused.
    pub read_only: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            config: BTreeMap::new(),
            allowed_hosts: Vec::new(),
            allowed_paths: Vec::new(),
            memory: Some(256 * 1024 * 1024),
            timeout: Some(Duration::from_secs(30)),
        }
    }
}

impl LoadOptions {
    /// The Extism manifest for `wasm` under these options.
    pub(crate) fn manifest(&self, wasm: Vec<u8>) -> Manifest {
        let mut manifest = Manifest::new([extism::Wasm::data(wasm)])
            .with_config(self.config.clone().into_iter())
            .with_allowed_hosts(self.allowed_hosts.iter().cloned())
            .with_allowed_paths(self.allowed_paths.iter().map(AllowedPath::mapping));
        if let Some(bytes) = self.memory {
            manifest.memory.max_pages = Some(u32::try_from(bytes / WASM_PAGE).unwrap_or(u32::MAX));
        }
        manifest.timeout_ms = self
            .timeout
            .map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        manifest
    }
}

impl AllowedPath {
    fn mapping(&self) -> (String, PathBuf) {
        let host = self.host.to_string_lossy();
        let host = if self.read_only {
            format!("ro:{host}")
        } else {
            host.into_owned()
        };
        (host, self.guest.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allows_no_host_and_no_path_by_default() {
        let manifest = LoadOptions::default().manifest(Vec::new());
        assert_eq!(manifest.allowed_hosts, Some(Vec::new()));
        assert_eq!(manifest.allowed_paths, Some(BTreeMap::new()));
        assert_eq!(manifest.timeout_ms, Some(30_000));
        assert_eq!(manifest.memory.max_pages, Some(4096));
    }

    #[test]
    fn marks_read_only_paths_for_the_runtime() {
        let path = AllowedPath {
            host: "/srv/data".into(),
            guest: "/data".into(),
            read_only: true,
        };
        assert_eq!(path.mapping(), ("ro:/srv/data".into(), "/data".into()));
    }
}
