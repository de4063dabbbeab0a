//! `servlet key`, `sign` and `verify`: signatures of images in registries.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use mcp_servlet_oci::{Client, Error, KeyError, Reference, Settings, SigningKey, VerifyingKey};

use crate::{
    failure::{Failure, Kind},
    login::block_on,
    terminal::{self, note},
};

#[derive(Args, Debug)]
pub(crate) struct KeyCommand {
    #[command(subcommand)]
    command: KeyCommands,
}

#[derive(Debug, Subcommand)]
enum KeyCommands {
    /// Make a key pair, and write the private and the public key to files
    New(NewKey),
}

#[derive(Args, Debug)]
struct NewKey {
    /// The file for the private key, which only you can read; the public key goes to the same name with the ending `.pub`
    #[arg(short, long, value_name = "FILE", default_value = "servlet.key")]
    output: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct Sign {
    /// The image, such as `oci://ghcr.io/ada/mine:1.2.0`
    reference: String,

    /// The file with the private key, or `env:NAME` for an environment variable that has its text
    #[arg(long, value_name = "KEY")]
    key: String,
}

#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The image, such as `oci://ghcr.io/ada/mine:1.2.0`
    reference: String,

    /// A file with a public key; may be repeated, and one of the keys must have signed the image
    #[arg(long, value_name = "FILE", required = true)]
    key: Vec<PathBuf>,
}

impl KeyCommand {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let KeyCommands::New(new) = self.command;
        new.run()
    }
}

impl NewKey {
    fn run(self) -> Result<(), Failure> {
        let (key, text) = SigningKey::generate().map_err(|error| unusable("a key", error))?;
        let public = self.output.with_extension("pub");
        if public == self.output {
            let message = "the ending `.pub` is that of the public key";
            return Err(Failure::with_help(
                Kind::Usage,
                message,
                "name another file for the private key",
            ));
        }
        let cannot = |path: &Path, error: io::Error| {
            let message = format!("cannot write `{}`: {error}", path.display());
            Failure::with_help(Kind::Usage, message, "`-o FILE` writes another file")
        };
        write_new(&self.output, &text, true).map_err(|error| cannot(&self.output, error))?;
        write_new(&public, &key.public().to_pem(), false).map_err(|error| {
            // Half a pair helps nobody.
            let _ = fs::remove_file(&self.output);
            cannot(&public, error)
        })?;
        let mut out = terminal::out();
        writeln!(out, "{}: written; keep it secret", self.output.display())?;
        writeln!(out, "{}: written, for your users", public.display())?;
        writeln!(out, "  key {}", key.public().fingerprint())?;
        Ok(())
    }
}

/// Writes a file that is not there yet.
fn write_new(path: &Path, text: &str, is_secret: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if is_secret { 0o600 } else { 0o644 });
    #[cfg(not(unix))]
    let _ = is_secret;
    options.open(path)?.write_all(text.as_bytes())
}

impl Sign {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let reference = Reference::parse_image(&self.reference)?;
        let key = private_key(&self.key)?;
        let digest = block_on(async {
            Ok(Client::new(Settings::default())?
                .sign(&reference, &key)
                .await?)
        })?;
        let mut out = terminal::out();
        writeln!(out, "{}", reference.with_digest(digest))?;
        writeln!(out, "  signed with the key {}", key.public().fingerprint())?;
        Ok(())
    }
}

impl Verify {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let reference = Reference::parse_image(&self.reference)?;
        let keys = self
            .key
            .iter()
            .map(|path| public_key(path))
            .collect::<Result<Vec<_>, _>>()?;
        let verified = block_on(async {
            Ok(Client::new(Settings::default())?
                .verify(&reference, &keys)
                .await)
        })?;
        let signed = match verified {
            Err(error @ Error::NotSigned { .. }) => {
                note(format_args!("error: {error}"));
                return Err(Failure::CheckFailed);
            }
            verified => verified?,
        };
        let mut out = terminal::out();
        writeln!(out, "{}", reference.with_digest(signed.digest))?;
        let path = self.key[signed.key].display();
        writeln!(
            out,
            "  signed with the key {}, {path}",
            keys[signed.key].fingerprint()
        )?;
        Ok(())
    }
}

/// A private key in a file, or in an environment variable if the text is `env:NAME`.
pub(crate) fn private_key(named: &str) -> Result<SigningKey, Failure> {
    let text = match named.strip_prefix("env:") {
        Some(name) => std::env::var(name).map_err(|_| {
            let message = format!("the environment variable `{name}` is not set, or is not text");
            Failure::new(Kind::Usage, message)
        })?,
        None => read(Path::new(named))?,
    };
    SigningKey::from_pem(&text).map_err(|error| unusable(named, error))
}

fn public_key(path: &Path) -> Result<VerifyingKey, Failure> {
    let text = read(path)?;
    VerifyingKey::from_pem(&text).map_err(|error| unusable(&path.display().to_string(), error))
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", path.display());
        Failure::new(Kind::Usage, message)
    })
}

fn unusable(what: &str, error: KeyError) -> Failure {
    let help =
        "`servlet key new` makes a key; `openssl pkcs8 -topk8 -nodes` writes others in this form";
    Failure::with_help(Kind::Usage, format!("`{what}`: {error}"), help)
}
