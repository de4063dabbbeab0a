//! The bytes of a module, stored once for all its instances.

use std::{borrow::Cow, io};

use extism::Wasm;

/// The module that Extism reads for each new instance.
///
/// Each instance copies its source. For a file, that is only the path. For bytes, it is the whole
/// module, twice.
pub(super) enum StoredModule {
    #[cfg(target_os = "linux")]
    File(in_memory::File),
    /// Used if in-memory files are not available.
    Bytes(Vec<u8>),
}

impl StoredModule {
    pub(super) fn new(wasm: Vec<u8>) -> Self {
        #[cfg(target_os = "linux")]
        match in_memory::File::new(&wasm) {
            Ok(file) => return Self::File(file),
            Err(error) => tracing::debug!(%error, "each instance has copies of its module"),
        }
        Self::Bytes(wasm)
    }

    /// The module as a manifest refers to it.
    pub(super) fn wasm(&self) -> Wasm {
        match self {
            #[cfg(target_os = "linux")]
            Self::File(file) => Wasm::file(file.path()),
            Self::Bytes(wasm) => Wasm::data(wasm.clone()),
        }
    }

    pub(super) fn bytes(&self) -> io::Result<Cow<'_, [u8]>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::File(file) => std::fs::read(file.path()).map(Cow::Owned),
            Self::Bytes(wasm) => Ok(Cow::Borrowed(wasm)),
        }
    }
}

#[cfg(target_os = "linux")]
mod in_memory {
    use std::{
        fs,
        io::{self, Write as _},
        os::fd::AsRawFd as _,
        path::PathBuf,
    };

    use rustix::fs::{MemfdFlags, memfd_create};

    /// A file in memory that disappears with this process, and that only this process can name; see
    /// `memfd_create(2)`.
    pub(in crate::engine) struct File(fs::File);

    impl File {
        pub(super) fn new(contents: &[u8]) -> io::Result<Self> {
            let descriptor = memfd_create("servlet", MemfdFlags::CLOEXEC)?;
            let mut file = Self(descriptor.into());
            file.0.write_all(contents)?;
            // The path does not exist if `/proc` is not mounted.
            fs::metadata(file.path())?;
            Ok(file)
        }

        pub(super) fn path(&self) -> PathBuf {
            format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn can_be_read_several_times() {
        let module = StoredModule::new(b"module".to_vec());
        for _ in 0..2 {
            assert_eq!(*module.bytes().expect("it is there"), *b"module");
        }
        let in_manifest = matches!(module.wasm(), Wasm::Data { .. });
        assert_eq!(in_manifest, cfg!(not(target_os = "linux")));
    }
}
