//! Packs a [`Bundle`] into a zip file: the same bytes for the same bundle.

use std::io::{Cursor, Write as _};

use zip::{CompressionMethod, DateTime, System, ZipWriter, write::SimpleFileOptions};

use crate::{Bundle, CONFIG, Error, PLUGIN, ROOT, TEMPLATE};

impl Bundle {
    /// The zip file. It holds no times and no owners, and does not depend on the order of the file system.
    ///
    /// # Errors
    ///
    /// If the bundle is larger than a zip file can be.
    pub fn pack(&self) -> Result<Vec<u8>, Error> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let mut file = |path: &str, contents: &[u8], is_executable: bool| {
            let mode = if is_executable { 0o755 } else { 0o644 };
            zip.start_file(format!("{ROOT}/{path}"), options().unix_permissions(mode))?;
            zip.write_all(contents)?;
            Ok::<_, zip::result::ZipError>(())
        };
        file(CONFIG, self.config_text.as_bytes(), false)?;
        file(PLUGIN, &self.plugin, false)?;
        for entry in &self.entries {
            if let Some(contents) = &entry.contents {
                let path = format!("{TEMPLATE}/{}", entry.path);
                file(&path, contents, entry.is_executable)?;
            }
        }
        // A file implies its folders; only a folder without files needs an entry.
        for entry in &self.entries {
            let inner = format!("{}/", entry.path);
            let is_empty = !self.entries.iter().any(|one| one.path.starts_with(&inner));
            if entry.contents.is_none() && is_empty {
                let path = format!("{ROOT}/{TEMPLATE}/{}", entry.path);
                zip.add_directory(path, options().unix_permissions(0o755))?;
            }
        }
        Ok(zip.finish()?.into_inner())
    }
}

fn options() -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(9))
        .last_modified_time(DateTime::DEFAULT)
        .system(System::Unix)
}
