//! `servlet key`, `sign` and `verify`: signatures of images in registries, and of files.

use std::{
    fmt::Display,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::{ArgGroup, Args, Subcommand};
use mcp_servlet_config::Config;
use mcp_servlet_oci::{
    Client, Error, KeyError, Reference, Settings, Signed, SigningKey, VerifyingKey, named_key,
    sign_file, signer_of_file,
};
use mcp_servlet_runtime::{Image, LoadError, Source, block_on, signature_file};

use crate::{
    credentials::PEM,
    failure::{Failure, Kind, cannot_write},
    policy::names_no_signer,
    replace::replace,
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
    /// The image, such as `oci://ghcr.io/ada/mine:1.2.0`, or a file; its signature goes to `FILE.sigstore.json`
    #[arg(value_name = "REFERENCE|FILE")]
    signed: String,

    /// The file with the private key, or `env:NAME` for an environment variable that has its text
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    key: String,
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("signers").required(true))]
pub(crate) struct Verify {
    /// The image, such as `oci://ghcr.io/ada/mine:1.2.0`, or a file or URL with its signature in `FILE.sigstore.json`
    #[arg(value_name = "REFERENCE|FILE|URL")]
    signed: String,

    /// A file with a public key; may be repeated, and one of the keys must have signed it
    #[arg(long, value_name = "FILE", group = "signers")]
    key: Vec<PathBuf>,

    /// A configuration file; the image must be signed as its `signed_by` says
    #[arg(long, value_name = "CONFIG", group = "signers")]
    policy: Option<PathBuf>,
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
            if error.kind() != io::ErrorKind::AlreadyExists {
                return cannot_write(path, &error);
            }
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
        let key = private_key(&self.key)?;
        let written = if Reference::is_one(&self.signed) {
            let reference = Reference::parse_image(&self.signed)?;
            let client = Client::new(Settings::default())?;
            let digest = block_on(client.sign(&reference, &key))?;
            reference.with_digest(digest).to_string()
        } else {
            let path = Path::new(&self.signed);
            let signature = sign_file(&read_signed_file(path)?, &key)
                .map_err(|error| unusable(&self.key, error))?;
            let path = signature_file(path);
            replace(&path, &signature).map_err(|error| cannot_write(&path, &error))?;
            path.display().to_string()
        };
        let mut out = terminal::out();
        writeln!(out, "{written}")?;
        writeln!(out, "  signed with the key {}", key.public().fingerprint())?;
        Ok(())
    }
}

impl Verify {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if let Some(policy) = &self.policy {
            return self.run_policy(policy);
        }
        let keys = self
            .key
            .iter()
            .map(|path| public_key(path))
            .collect::<Result<Vec<_>, _>>()?;
        let (verified, key) = if Reference::is_one(&self.signed) {
            verify_image(&self.signed, Settings::default(), &keys)?
        } else if Source::parse(&self.signed).is_remote() {
            verify_url(&self.signed, &keys)?
        } else {
            verify_file(&self.signed, &keys)?
        };
        let mut out = terminal::out();
        writeln!(out, "{verified}")?;
        let path = self.key[key].display();
        let key = keys[key].fingerprint();
        writeln!(out, "  signed with the key {key}, {path}")?;
        Ok(())
    }

    /// Checks that an image is signed as a configuration wants it.
    fn run_policy(&self, policy: &Path) -> Result<(), Failure> {
        let shown = policy.display();
        if !Reference::is_one(&self.signed) {
            let message = format!("`{}` is not an `oci://` reference", self.signed);
            let help = "`--policy` is for images; `--key FILE` checks a file, too";
            return Err(Failure::with_help(Kind::Usage, message, help));
        }
        let image = Config::image(policy, &self.signed)?
            .filter(|image| !image.signers.is_empty())
            .ok_or_else(|| names_no_signer(policy, &self.signed))?;
        let mut out = terminal::out();
        for (at, keys) in image.signers.iter().enumerate() {
            let settings = Settings {
                ca: image.ca.clone(),
                ..Settings::default()
            };
            let (verified, key) = verify_image(&self.signed, settings, keys)?;
            if at == 0 {
                writeln!(out, "{verified}")?;
            }
            let key = keys[key].fingerprint();
            writeln!(out, "  signed with the key {key}, as {shown} asks")?;
        }
        Ok(())
    }
}

/// The reference with the digest, and the position of the key that has signed it.
fn verify_image(
    reference: &str,
    settings: Settings,
    keys: &[VerifyingKey],
) -> Result<(String, usize), Failure> {
    let reference = Reference::parse_image(reference)?;
    match block_on(Client::new(settings)?.verify(&reference, keys)) {
        Err(error @ Error::NotSigned { .. }) => Err(not_signed(&error)),
        verified => {
            let Signed { digest, key } = verified?;
            Ok((reference.with_digest(digest).to_string(), key))
        }
    }
}

/// The file, and the position of the key that has signed it.
fn verify_file(file: &str, keys: &[VerifyingKey]) -> Result<(String, usize), Failure> {
    let signature = signature_file(Path::new(file));
    let bytes = read_signed_file(Path::new(file))?;
    if let Some(key) = signer_of_file(&read_signed_file(&signature)?, &bytes, keys) {
        return Ok((file.to_owned(), key));
    }
    let signature = signature.display();
    Err(not_signed(&format_args!(
        "`{signature}` has no signature of `{file}` by one of the keys"
    )))
}

/// The URL, and the position of the key that has signed the module there.
fn verify_url(url: &str, keys: &[VerifyingKey]) -> Result<(String, usize), Failure> {
    let source = Source::Signed {
        source: Box::new(Source::parse(url)),
        keys: keys.to_vec(),
    };
    match source.fetch() {
        Err(error @ LoadError::NotSigned { .. }) => Err(not_signed(&error)),
        fetched => {
            let fetched = fetched?;
            let is_signer = |key: &VerifyingKey| fetched.signed_with.contains(&key.fingerprint());
            let key = keys.iter().position(is_signer);
            Ok((fetched.origin, key.expect("the key is one of these")))
        }
    }
}

/// Prints why the check has failed.
fn not_signed(problem: &dyn Display) -> Failure {
    note(format_args!("error: {problem}"));
    Failure::CheckFailed
}

/// The fingerprints of the keys that the signatures of an image or a file name, or why they cannot be read. Nothing checks that
/// these keys have made them. `None` for a file without a signature, and for other sources.
pub(crate) fn named_keys(source: &Source) -> Option<Result<Vec<String>, String>> {
    match source {
        Source::Image(image) => {
            let keys = block_on(named_keys_of_image(image));
            Some(keys.map_err(|error| error.to_string()))
        }
        Source::File(file) => match fs::read(signature_file(file)) {
            Ok(bundle) => Some(Ok(named_key(&bundle).into_iter().collect())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(error.to_string())),
        },
        _ => None,
    }
}

async fn named_keys_of_image(image: &Image) -> Result<Vec<String>, Error> {
    let reference = Reference::parse_image(&image.reference)?;
    let client = Client::new(Settings {
        ca: image.ca.clone(),
        ..Settings::default()
    })?;
    client.named_keys(&reference).await
}

/// A private key in a file, or in an environment variable if the text is `env:NAME`.
pub(crate) fn private_key(named: &str) -> Result<SigningKey, Failure> {
    if named.contains('\n') || named.contains(PEM) {
        let message = "expected the name of a file with a private key, found the text of a key";
        let help = "name an environment variable that has the text, such as `env:SERVLET_KEY`";
        return Err(Failure::with_help(Kind::Usage, message, help));
    }
    let text = match named.strip_prefix("env:") {
        Some(name) => std::env::var(name).map_err(|_| {
            let message = format!("the environment variable `{name}` is not set, or is not text");
            Failure::new(Kind::Usage, message)
        })?,
        None => read_pem(Path::new(named))?,
    };
    SigningKey::from_pem(&text).map_err(|error| unusable(named, error))
}

fn public_key(path: &Path) -> Result<VerifyingKey, Failure> {
    let text = read_pem(path)?;
    VerifyingKey::from_pem(&text).map_err(|error| {
        let message = format!("`{}`: {error}", path.display());
        let help =
            "name the public key, which `servlet key new` writes to a file with the ending `.pub`";
        Failure::with_help(Kind::Usage, message, help)
    })
}

fn read_pem(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| unreadable(path, &error))
}

fn read_signed_file(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot read `{}`: {error}", path.display());
    Failure::new(Kind::Usage, message)
}

fn unusable(what: &str, error: KeyError) -> Failure {
    let help =
        "`servlet key new` makes a key; `openssl pkcs8 -topk8 -nocrypt` writes others in this form";
    Failure::with_help(Kind::Usage, format!("`{what}`: {error}"), help)
}
