//! The bytes of a module, kept once for all its instances.

use std::{borrow::Cow, io};

use extism::Wasm;

/// Where Extism reads a module whenever it makes an instance.
///
/// Each instance has copies of what it was made from. Of a file, these are its name, and of bytes all of them, twice.
pub(super) enum Kept {
    #[cfg(target_os = "linux")]
    File(in_memory::File),
    /// Where there are no such files.
    Bytes(Vec<u8>),
}

impl Kept {
    pub(super) fn new(wasm: Vec<u8>) -> Self {
        #[cfg(target_os = "linux")]
        match in_memory::File::new(&wasm) {
            Ok(file) => return Self::File(file),
            Err(error) => tracing::debug!(%error, "each instance has copies of its module"),
        }
        Self::Bytes(wasm)
    }

    /// What stands for it in a manifest.
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

    /// A file that this process alone can name, and that is gone with it; see `memfd_create(2)`.
    pub(in crate::engine) struct File(fs::File);

    impl File {
        pub(super) fn new(contents: &[u8]) -> io::Result<Self> {
            let descriptor = memfd_create("servlet", MemfdFlags::CLOEXEC)?;
            let mut file = Self(descriptor.into());
            file.0.write_all(contents)?;
            // Nowhere, if `/proc` is not mounted.
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
    fn what_is_kept_is_read_as_often_as_wanted() {
        let kept = Kept::new(b"module".to_vec());
        for _ in 0..2 {
            assert_eq!(*kept.bytes().expect("it is there"), *b"module");
        }
        let in_manifest = matches!(kept.wasm(), Wasm::Data { .. });
        assert_eq!(in_manifest, cfg!(not(target_os = "linux")));
    }
}
