//! The file of the audit log, which is renamed when it is large.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use mcp_servlet_access::audit::{AuditOptions, AuditTarget};

/// The target of lines.
#[derive(Debug)]
pub(super) struct AuditFile {
    target: Target,
    /// The size at which the file is renamed.
    rotate: Option<u64>,
    /// How many renamed files are kept.
    keep: u32,
    /// Whether the last line is cut off, so that a line break must precede the next one.
    is_cut_off: bool,
}

#[derive(Debug)]
enum Target {
    File {
        path: PathBuf,
        /// None if it could not be opened again.
        file: Option<File>,
        size: u64,
    },
    Stderr,
}

impl AuditFile {
    /// Opens the file, and creates it if there is none.
    pub(super) fn open(options: &AuditOptions) -> io::Result<Self> {
        let (target, is_cut_off) = match &options.to {
            AuditTarget::Stderr => (Target::Stderr, false),
            AuditTarget::File(path) => {
                let opened = open(path)?;
                let target = Target::File {
                    path: path.clone(),
                    file: Some(opened.file),
                    size: opened.size,
                };
                (target, opened.is_cut_off)
            }
        };
        Ok(Self {
            target,
            rotate: options.rotate,
            keep: options.keep,
            is_cut_off,
        })
    }

    /// Writes lines. After an error, `written` says how many of their bytes are in the file, and another attempt goes on there.
    pub(super) fn append(&mut self, lines: &[u8], written: &mut usize) -> io::Result<()> {
        if *written == 0 {
            self.rotate_before(lines.len() as u64);
            self.open_again()?;
            if self.is_cut_off {
                self.write(b"\n")?;
                self.is_cut_off = false;
            }
        }
        while *written < lines.len() {
            *written += self.write(&lines[*written..])?;
        }
        match &mut self.target {
            Target::File { .. } => Ok(()),
            Target::Stderr => io::stderr().flush(),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = loop {
            let written = match &mut self.target {
                Target::Stderr => io::stderr().write(bytes),
                Target::File { file, .. } => file.as_mut().map_or(Ok(0), |file| file.write(bytes)),
            };
            match written {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                written => break written?,
            }
        };
        if let Target::File { size, .. } = &mut self.target {
            *size += written as u64;
        }
        Ok(written)
    }

    /// Notes that what follows these bytes will not be written. Takes the part of a line at their end back.
    pub(super) fn cut_off(&mut self, written: &[u8]) {
        let start = written.iter().rposition(|byte| *byte == b'\n');
        let part = written.len() - start.map_or(0, |at| at + 1);
        if part > 0 {
            self.is_cut_off = !self.take_back(part as u64);
        }
    }

    /// Removes this many bytes at the end. Returns whether it did: another process may have written after them.
    fn take_back(&mut self, part: u64) -> bool {
        let Target::File {
            file: Some(file),
            size,
            ..
        } = &mut self.target
        else {
            return false;
        };
        let is_last = file.metadata().is_ok_and(|file| file.len() == *size);
        let start = size.saturating_sub(part);
        let is_removed = is_last && file.set_len(start).is_ok();
        if is_removed {
            *size = start;
        }
        is_removed
    }

    /// Opens the path again. Lines go to the new file from then on.
    pub(super) fn reopen(&mut self) {
        if let Target::File { file, size, .. } = &mut self.target {
            sync(file.as_ref());
            // Its size is unknown until it can be opened, so nothing is renamed until then.
            (*file, *size) = (None, 0);
            self.is_cut_off = false;
            // If it cannot be opened now, the next line is another attempt.
            let _ = self.open_again();
        }
    }

    /// Opens the file if it is not open.
    fn open_again(&mut self) -> io::Result<()> {
        if let Target::File {
            path,
            file: file @ None,
            size,
        } = &mut self.target
        {
            let opened = open(path)?;
            (*file, *size) = (Some(opened.file), opened.size);
            self.is_cut_off = opened.is_cut_off;
        }
        Ok(())
    }

    /// Waits until the lines are on the disk.
    pub(super) fn sync(&self) {
        if let Target::File { file, .. } = &self.target {
            sync(file.as_ref());
        }
    }

    fn rotate_before(&mut self, more: u64) {
        let (Some(most), Target::File { path, size, .. }) = (self.rotate, &self.target) else {
            return;
        };
        if *size == 0 || size.saturating_add(more) <= most {
            return;
        }
        match shift(path, self.keep) {
            Ok(()) => self.reopen(),
            // Something has removed or renamed the file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.reopen(),
            Err(error) => {
                let path = path.display();
                tracing::warn!(%path, %error, "the audit log cannot be renamed, so it grows");
            }
        }
    }
}

/// A file that was opened.
struct Opened {
    file: File,
    size: u64,
    /// Whether its last line has no end, because a process ended while it wrote.
    is_cut_off: bool,
}

fn open(path: &Path) -> io::Result<Opened> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    let size = file.metadata()?.len();
    // Without the right to read the file, its end is unknown.
    let is_cut_off = last_byte(path).is_ok_and(|byte| byte != b'\n');
    Ok(Opened {
        file,
        size,
        is_cut_off: size > 0 && is_cut_off,
    })
}

fn last_byte(path: &Path) -> io::Result<u8> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::End(-1))?;
    let mut byte = [0];
    file.read_exact(&mut byte)?;
    Ok(byte[0])
}

fn sync(file: Option<&File>) {
    let synced = file.map_or(Ok(()), File::sync_all);
    // Not all files can: a pipe or `/dev/full`, for example.
    if let Err(error) = synced {
        tracing::debug!(%error, "the audit log may not be on the disk yet");
    }
}

/// Renames the file to `.1`, `.1` to `.2`, and so on. The last one is replaced.
fn shift(path: &Path, keep: u32) -> io::Result<()> {
    // If the file is gone, the numbered ones stay.
    fs::symlink_metadata(path)?;
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    for number in (1..keep).rev() {
        match fs::rename(numbered(number), numbered(number + 1)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(path, numbered(1))
}

#[cfg(test)]
mod tests {
    use mcp_servlet_access::audit::{ArgumentsAs, WhenFull};

    use super::*;

    fn options(path: &Path) -> AuditOptions {
        AuditOptions {
            to: AuditTarget::File(path.to_owned()),
            rotate: Some(10),
            keep: 2,
            full: WhenFull::Refuse,
            arguments: ArgumentsAs::None,
            lists: false,
        }
    }

    fn append(file: &mut AuditFile, text: &str) {
        let mut written = 0;
        let appended = file.append(text.as_bytes(), &mut written);
        assert_eq!((appended.ok(), written), (Some(()), text.len()));
    }

    #[test]
    fn files_are_renamed_before_they_are_too_large() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        let mut file = AuditFile::open(&options(&path)).expect("a file");
        for text in ["a\n", "bbbbbbb\n", "c\n", "dddddddddddd\n", "e\n"] {
            append(&mut file, text);
        }
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).ok();
        assert_eq!(read("audit.jsonl").as_deref(), Some("e\n"));
        assert_eq!(read("audit.jsonl.1").as_deref(), Some("dddddddddddd\n"));
        assert_eq!(read("audit.jsonl.2").as_deref(), Some("c\n"));
        assert_eq!(read("audit.jsonl.3"), None);
    }

    #[test]
    fn old_files_stay_if_the_file_is_removed_or_cannot_be_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        let mut file = AuditFile::open(&options(&path)).expect("a file");
        for text in ["a\n", "bbbbbbbbb\n"] {
            append(&mut file, text);
        }
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).ok();
        fs::remove_file(&path).expect("removed");
        append(&mut file, "c\n");
        assert_eq!(read("audit.jsonl.1").as_deref(), Some("a\n"));
        assert_eq!(read("audit.jsonl").as_deref(), Some("c\n"));

        // Now the path is a folder, so the file cannot be opened again.
        append(&mut file, "dddd\n");
        fs::remove_file(&path).expect("removed");
        fs::create_dir(&path).expect("a folder");
        file.reopen();
        for _ in 0..3 {
            let mut written = 0;
            assert!(file.append(b"eeeeeeeeeee\n", &mut written).is_err());
        }
        assert_eq!(read("audit.jsonl.1").as_deref(), Some("a\n"));
        assert!(path.is_dir());
    }

    #[test]
    fn a_renamed_file_is_opened_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        let mut file = AuditFile::open(&options(&path)).expect("a file");
        append(&mut file, "a\n");
        let old = folder.path().join("old");
        fs::rename(&path, &old).expect("renamed");
        append(&mut file, "b\n");
        file.reopen();
        append(&mut file, "c\n");
        assert_eq!(fs::read_to_string(&old).expect("lines"), "a\nb\n");
        assert_eq!(fs::read_to_string(&path).expect("lines"), "c\n");
    }

    #[test]
    fn a_line_that_another_process_did_not_finish_ends_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        for (before, after) in [("", "a\n"), ("x\n", "x\na\n"), ("x\ny", "x\ny\na\n")] {
            fs::write(&path, before).expect("lines");
            let mut options = options(&path);
            options.rotate = None;
            append(&mut AuditFile::open(&options).expect("a file"), "a\n");
            assert_eq!(fs::read_to_string(&path).expect("lines"), after);
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_line_that_was_cut_off_is_taken_back_unless_another_process_has_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        let mut options = options(&path);
        options.rotate = None;
        for (other, expected) in [("", "a\nc\n"), ("x", "a\nbx\nc\n")] {
            fs::write(&path, "").expect("a file");
            let mut file = AuditFile::open(&options).expect("a file");
            append(&mut file, "a\nb");
            fs::write(&path, format!("a\nb{other}")).expect("lines");
            file.cut_off(b"a\nb");
            append(&mut file, "c\n");
            assert_eq!(fs::read_to_string(&path).expect("lines"), expected);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error() {
        let mut options = options(Path::new("/dev/full"));
        options.rotate = None;
        let mut file = AuditFile::open(&options).expect("it can be opened");
        let mut written = 0;
        let error = file.append(b"a\n", &mut written).expect_err("it is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(written, 0);
    }
}
