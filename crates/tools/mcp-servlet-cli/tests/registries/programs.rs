//! The commands against docker's registry, and other programs that read what was pushed. A program that is not installed is
//! named on standard error, and its part is left out.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use tempfile::TempDir;
use test_authority::Authority;

use crate::{PASSWORD, command, home, outcome, success};

/// `ada` with [`PASSWORD`], as `htpasswd -B` writes it.
const USERS: &str = "ada:$2y$05$VFCEAM99jQ81U2sjAK5woe1NkdBhoTSe5R5wTX1CCsvusTUQRXXzC\n";

/// How long the registry may take to start.
const START: Duration = Duration::from_secs(30);

/// Docker's registry, with TLS and a password. It is ended with the test.
struct Registry {
    process: Child,
    host: String,
    folder: TempDir,
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Whether a program is there. If not, it is named.
fn is_installed(program: &str) -> bool {
    let run = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if run.is_err() {
        eprintln!("skipped: `{program}` is not installed");
    }
    run.is_ok()
}

impl Registry {
    fn start() -> Option<Self> {
        if !is_installed("docker-registry") {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| folder.path().join(name);
        write_certificates(folder.path());
        fs::write(file("users"), USERS).expect("a file");
        let address = {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
            listener.local_addr().expect("an address")
        };
        let config = json!({
            "version": "0.1",
            "log": { "level": "error" },
            "storage": { "filesystem": { "rootdirectory": file("data") } },
            "http": { "addr": address.to_string(), "tls": { "certificate": file("cert.pem"), "key": file("key.pem") } },
            "auth": { "htpasswd": { "realm": "test", "path": file("users") } },
        });
        fs::write(file("config.yml"), config.to_string()).expect("a file");
        let process = Command::new("docker-registry")
            .arg("serve")
            .arg(file("config.yml"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it is installed");
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(start.elapsed() < START, "the registry does not start");
            sleep(Duration::from_millis(20));
        }
        Some(Self {
            process,
            host: address.to_string(),
            folder,
        })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn reference(&self, image: &str) -> String {
        format!("oci://{}/demo/greet{image}", self.host)
    }

    /// Writes the login as `docker login` does.
    fn log_in(&self, home: &Path) {
        let docker = home.join(".docker");
        fs::create_dir_all(&docker).expect("a folder");
        let auth = BASE64_STANDARD.encode(format!("ada:{PASSWORD}"));
        let config = json!({ "auths": { &self.host: { "auth": auth } } });
        fs::write(docker.join("config.json"), config.to_string()).expect("a file");
    }
}

fn write_certificates(folder: &Path) {
    let authority = Authority::new();
    let (certificate, key) = authority.sign(1);
    for (name, text) in [
        ("ca.pem", authority.root()),
        ("cert.pem", certificate),
        ("key.pem", key),
    ] {
        fs::write(folder.join(name), text).expect("a file");
    }
}

#[test]
fn dockers_registry_takes_and_gives_a_servlet() {
    let Some(registry) = Registry::start() else {
        return;
    };
    let home = home();
    let run = |arguments: &[&str]| {
        outcome(&mut command(
            home.path(),
            &registry.file("ca.pem"),
            arguments,
        ))
    };
    let tagged = registry.reference(":0.1.0");
    let (code, text) = run(&["push", "greet.wasm", &tagged]);
    assert_eq!(code, Some(13), "{text}");
    assert!(text.contains("requires a login"), "{text}");

    registry.log_in(home.path());
    let (code, pushed) = run(&["push", "greet.wasm", &tagged]);
    assert_eq!(code, Some(0), "{pushed}");
    let (_, again) = run(&["push", "greet.wasm", &tagged]);
    assert!(again.contains("already there"), "{again}");
    let (code, greeting) = run(&["call", &tagged, "greet", "name=registry"]);
    assert_eq!(code, Some(0), "{greeting}");
    let (_, text) = run(&["pull", &registry.reference(":none")]);
    assert!(text.contains("no such tag or repository"), "{text}");
    read_by_skopeo(&registry, home.path(), &pushed);
    read_by_oras(&registry, home.path());
}

/// The registry runs until the image is in the cache.
#[test]
fn an_image_of_dockers_registry_is_used_after_it_has_ended() {
    let Some(registry) = Registry::start() else {
        return;
    };
    let home = home();
    registry.log_in(home.path());
    let run = |arguments: &[&str]| {
        success(&mut command(
            home.path(),
            &registry.file("ca.pem"),
            arguments,
        ))
    };
    let pushed = run(&["push", "greet.wasm", &registry.reference("")]);
    let image = pushed.lines().next().expect("a reference").to_owned();
    run(&["pull", &image]);
    let copy = home.path().join("ca.pem");
    fs::copy(registry.file("ca.pem"), &copy).expect("a file");
    drop(registry);
    let greeting = success(&mut command(
        home.path(),
        &copy,
        ["call", &image, "greet", "name=offline"],
    ));
    assert!(greeting.contains("Hello, offline!"), "{greeting}");
}

/// skopeo copies the image to a folder. Its manifest there has the digest that `push` prints.
fn read_by_skopeo(registry: &Registry, home: &Path, pushed: &str) {
    if !is_installed("skopeo") {
        return;
    }
    let certificates = home.join("certificates");
    fs::create_dir(&certificates).expect("a folder");
    fs::copy(registry.file("ca.pem"), certificates.join("ca.crt")).expect("a file");
    let layout = home.join("layout");
    let copied = Command::new("skopeo")
        .args(["--insecure-policy", "copy", "--preserve-digests"])
        .arg("--src-cert-dir")
        .arg(&certificates)
        .arg("--src-creds")
        .arg(format!("ada:{PASSWORD}"))
        .arg(format!("docker://{}/demo/greet:0.1.0", registry.host))
        .arg(format!("oci:{}:0.1.0", layout.display()))
        .output();
    let copied = copied.expect("it is installed");
    assert!(
        copied.status.success(),
        "{}",
        String::from_utf8_lossy(&copied.stderr)
    );
    let index = fs::read(layout.join("index.json")).expect("a layout");
    let index: Value = serde_json::from_slice(&index).expect("JSON");
    let digest = index["manifests"][0]["digest"].as_str().expect("a digest");
    assert!(pushed.contains(digest), "{pushed}");
}

/// oras writes the layer to a file with the name in its annotation.
fn read_by_oras(registry: &Registry, home: &Path) {
    if !is_installed("oras") {
        return;
    }
    let pulled = Command::new("oras")
        .args(["pull", "--output"])
        .arg(home)
        .arg("--ca-file")
        .arg(registry.file("ca.pem"))
        .args(["--username", "ada", "--password", PASSWORD])
        .arg(format!("{}/demo/greet:0.1.0", registry.host))
        .output();
    let pulled = pulled.expect("it is installed");
    assert!(
        pulled.status.success(),
        "{}",
        String::from_utf8_lossy(&pulled.stderr)
    );
    let bytes = |name: &str| fs::read(home.join(name)).expect("a file");
    assert_eq!(bytes("plugin.wasm"), bytes("greet.wasm"));
}
