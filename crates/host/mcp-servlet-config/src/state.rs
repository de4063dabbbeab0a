//! `state_keys`, and secrets in files.

use std::{
    fs::File as OpenFile,
    io::{self, Read as _},
};

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use mcp_servlet_server::StateKeys;

use super::{Mode, Reader, file::File};

/// The largest file with a secret, in bytes.
const MAX_SECRET: u64 = 64 << 10;

/// Standard base64, with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Reader<'_> {
    /// The keys that seal state. None if there are none, or if their values are not known here.
    pub(super) fn state_keys(&mut self, file: &File) -> Option<StateKeys> {
        let given = file.server.state_keys.as_ref()?;
        if given.get_ref().is_empty() {
            let message = "expected at least one key; `openssl rand -base64 32` makes one";
            self.problem(given.span(), message.to_owned());
        }
        let is_known = matches!(self.mode, Mode::Check | Mode::Load);
        let mut keys = Vec::new();
        for value in given.get_ref() {
            let text = self.expanded(value);
            let Some(text) = text.filter(|_| is_known) else {
                continue;
            };
            match BASE64.decode(text.trim()) {
                Ok(key) if key.len() >= StateKeys::LEAST => keys.push(key),
                _ => {
                    let least = StateKeys::LEAST;
                    let message = format!(
                        "expected base64 of at least {least} bytes; `openssl rand -base64 {least}` makes it"
                    );
                    self.problem(value.span(), message);
                }
            }
        }
        StateKeys::new(keys)
    }

    /// The content of a file that `${file:PATH}` names, without a line break at its end. None if there is no such file.
    pub(super) fn secret_file(&mut self, path: &str) -> Result<Option<String>, String> {
        let path = self.folder.join(path);
        // The snapshot comes before the read, so that a change in between is noticed.
        self.files.add(path.clone());
        let mut text = String::new();
        let read = OpenFile::open(&path)
            .and_then(|file| file.take(MAX_SECRET + 1).read_to_string(&mut text));
        let problem = match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => error.to_string(),
            Ok(length) if length as u64 > MAX_SECRET => {
                format!("it has more than {} KiB", MAX_SECRET >> 10)
            }
            Ok(_) => {
                let line = text.strip_suffix('\n').unwrap_or(&text);
                return Ok(Some(line.strip_suffix('\r').unwrap_or(line).to_owned()));
            }
        };
        Err(format!(
            "cannot read the secret `{}`: {problem}",
            path.display()
        ))
    }
}
