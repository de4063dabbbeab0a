//! The module in a layer: its bytes, or a file in an archive, as hyper-mcp reads them.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use tar::Archive;

use crate::error::Error;

const WASM: &[u8] = b"\0asm";
const GZIP: &[u8] = &[0x1f, 0x8b];

/// The limit for a layer and for a module, in bytes.
pub(crate) const MAX_LAYER: u64 = 64 << 20;
const MAX_MEMBERS: usize = 10_000;

/// The limit for a layer, in words.
pub(crate) const MAX_LAYER_IN_WORDS: &str = "64 MiB";

/// The module in a layer. `None` if there is none.
pub(crate) fn module(layer: Vec<u8>) -> Result<Option<Vec<u8>>, Error> {
    if layer.starts_with(WASM) {
        return Ok(Some(layer));
    }
    let found = if layer.starts_with(GZIP) {
        let mut unpacked = Vec::new();
        let read = MultiGzDecoder::new(&*layer)
            .take(MAX_LAYER + 1)
            .read_to_end(&mut unpacked);
        if unpacked.len() as u64 > MAX_LAYER {
            return Err(Error::too_large("an unpacked layer", MAX_LAYER_IN_WORDS));
        }
        match read {
            Ok(_) if unpacked.starts_with(WASM) => return Ok(Some(unpacked)),
            Ok(_) => find(&unpacked),
            Err(error) => Err(error),
        }
    } else {
        find(&layer)
    };
    // A layer that is not an archive has no module.
    match found {
        Ok(Found::TooMany) => Err(Error::too_large("the number of files in a layer", "10,000")),
        Ok(Found::Module(module)) => Ok(Some(module)),
        Ok(Found::Nothing) | Err(_) => Ok(None),
    }
}

enum Found {
    Module(Vec<u8>),
    Nothing,
    TooMany,
}

/// The file `plugin.wasm` in an archive, or else the first with the extension `wasm`.
fn find(archive: &[u8]) -> io::Result<Found> {
    let mut first = None;
    for (at, entry) in Archive::new(archive).entries()?.enumerate() {
        if at >= MAX_MEMBERS {
            return Ok(Found::TooMany);
        }
        let mut entry = entry?;
        let path = entry.path_bytes().into_owned();
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let is_plugin = name == b"plugin.wasm";
        if entry.header().entry_type().is_file()
            && (is_plugin || (first.is_none() && name.ends_with(b".wasm")))
        {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            if is_plugin {
                return Ok(Found::Module(bytes));
            }
            first = Some(bytes);
        }
    }
    Ok(first.map_or(Found::Nothing, Found::Module))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (path, bytes) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_cksum();
            builder
                .append_data(&mut header, path, *bytes)
                .expect("memory");
        }
        builder.into_inner().expect("memory")
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    #[test]
    fn a_module_is_found_where_hyper_mcp_finds_it() {
        let wasm = b"\0asm\x01\0\0\0".as_slice();
        let other = b"\0asm\x02\0\0\0".as_slice();
        let named = archive(&[
            ("README", b"text"),
            ("a/other.wasm", other),
            ("lib/plugin.wasm", wasm),
        ]);
        let unnamed = archive(&[
            ("README", b"text"),
            ("a/greet.wasm", wasm),
            ("b.wasm", other),
        ]);
        for layer in [
            wasm.to_vec(),
            gzip(wasm),
            named.clone(),
            gzip(&named),
            unnamed.clone(),
            gzip(&unnamed),
        ] {
            assert_eq!(module(layer).expect("no limit").as_deref(), Some(wasm));
        }
        for layer in [
            b"text".to_vec(),
            Vec::new(),
            archive(&[("a", b"b")]),
            gzip(b"text"),
            b"\x1f\x8bdamaged".to_vec(),
        ] {
            assert_eq!(module(layer).expect("no limit"), None);
        }
    }

    #[test]
    fn a_layer_that_unpacks_to_too_much_is_an_error() {
        let size = usize::try_from(MAX_LAYER).expect("64 bits") + 1;
        let error = module(gzip(&vec![0; size])).expect_err("too large");
        assert_eq!(error.code(), "too-large");
        let files: Vec<_> = (0..=MAX_MEMBERS).map(|_| ("a", b"".as_slice())).collect();
        let error = module(archive(&files)).expect_err("too many");
        assert_eq!(error.code(), "too-large");
    }
}
