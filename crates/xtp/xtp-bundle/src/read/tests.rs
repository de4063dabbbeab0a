//! Tests that write, open and refuse bundles.

use std::io::{Cursor, Write as _};

use zip::{ZipWriter, write::SimpleFileOptions};

use super::*;

const YAML: &str = "template-suffix: ejs\n";

fn entry(path: &str, contents: Option<&str>) -> Entry {
    Entry {
        path: path.to_owned(),
        contents: contents.map(|text| text.as_bytes().to_vec()),
        is_executable: false,
    }
}

fn bundle() -> Bundle {
    let mut run = entry("bin/run.sh.ejs", Some("#!/bin/sh\n"));
    run.is_executable = cfg!(unix);
    let entries = vec![
        entry(".gitignore", Some("/target\n")),
        entry("bin", None),
        run,
        entry("empty", None),
    ];
    Bundle::new(YAML.to_owned(), b"\0asm".to_vec(), entries).unwrap()
}

fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn open_bytes(bytes: &[u8]) -> Result<Bundle, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.zip");
    fs::write(&path, bytes).unwrap();
    Bundle::open(&path)
}

#[test]
fn packed_bundle_round_trips() {
    let packed = bundle().pack().unwrap();
    let mut opened = open_bytes(&packed).unwrap();
    // A zip file has a folder only through the path of its file.
    opened.entries.push(entry("bin", None));
    opened.entries.sort();
    assert_eq!(opened, bundle());
    assert_eq!(bundle().pack().unwrap(), packed);
}

#[test]
fn a_folder_opens_with_and_without_the_folder_around_it() {
    let folder = tempfile::tempdir().unwrap();
    for root in [folder.path().join("plain"), folder.path().join("in/bundle")] {
        for entry in &bundle().entries {
            let path = root.join("template").join(&entry.path);
            match &entry.contents {
                None => fs::create_dir_all(path).unwrap(),
                Some(contents) => {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(&path, contents).unwrap();
                    #[cfg(unix)]
                    if entry.is_executable {
                        use std::os::unix::fs::PermissionsExt as _;
                        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
                    }
                }
            }
        }
        fs::write(root.join("config.yaml"), YAML).unwrap();
        fs::write(root.join("plugin.wasm"), b"\0asm").unwrap();
    }
    assert_eq!(
        Bundle::open(&folder.path().join("plain")).unwrap(),
        bundle()
    );
    assert_eq!(Bundle::open(&folder.path().join("in")).unwrap(), bundle());
}

#[test]
fn reports_missing_parts_of_a_bundle() {
    let all = [
        ("bundle/config.yaml", YAML),
        ("bundle/plugin.wasm", ""),
        ("bundle/template/a", ""),
    ];
    for (left_out, name) in ["config.yaml", "plugin.wasm", "template"]
        .iter()
        .enumerate()
    {
        let mut files = all.to_vec();
        files.remove(left_out);
        let error = open_bytes(&zipped(&files)).unwrap_err().to_string();
        assert!(error.ends_with(&format!("`{name}` is missing")), "{error}");
    }
    let error = open_bytes(b"not a zip file").unwrap_err().to_string();
    assert!(error.ends_with("as a zip file"), "{error}");
    let error = Bundle::open(Path::new("no/such.zip")).unwrap_err();
    assert_eq!(error.to_string(), "cannot read `no/such.zip`");
}

#[test]
fn refuses_an_entry_that_leads_out() {
    let error = open_bytes(&zipped(&[("bundle/template/../../../x", "")])).unwrap_err();
    let expected = "the bundle's `bundle/template/../../../x` leads out of the bundle";
    assert_eq!(error.to_string(), expected);
}
