//! The commands against docker's registry, and other programs that read what was pushed. A test fails if its program is missing.

use std::{
    env, fs,
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use e2e::target;
use puppet::eventually_blocking;
use serde_json::{Value, json};
use tempfile::TempDir;
use test_authority::Authority;

use crate::{PASSWORD, command, home, outcome, success};

/// `ada` with [`PASSWORD`], as `htpasswd -B` writes it.
const USERS: &str = "ada:$2y$05$VFCEAM99jQ81U2sjAK5woe1NkdBhoTSe5R5wTX1CCsvusTUQRXXzC\n";

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

/// A program of Debian's package with this name.
fn program(name: &str) -> Command {
    let found = Command::new(name).arg("--version").output();
    assert!(
        found.is_ok(),
        "`{name}` is missing: `apt-get install docker-registry skopeo`"
    );
    Command::new(name)
}

/// An address that is free now.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address")
}

impl Registry {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| folder.path().join(name);
        write_certificates(folder.path());
        fs::write(file("users"), USERS).expect("a file");
        let address = free_address();
        let config = json!({
            "version": "0.1",
            "log": { "level": "error" },
            "storage": { "filesystem": { "rootdirectory": file("data") } },
            "http": { "addr": address.to_string(), "tls": { "certificate": file("cert.pem"), "key": file("key.pem") } },
            "auth": { "htpasswd": { "realm": "test", "path": file("users") } },
        });
        fs::write(file("config.yml"), config.to_string()).expect("a file");
        let process = program("docker-registry")
            .arg("serve")
            .arg(file("config.yml"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        eventually_blocking("the registry", || TcpStream::connect(address));
        Self {
            process,
            host: address.to_string(),
            folder,
        }
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
    let registry = Registry::start();
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
    let registry = Registry::start();
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
    let certificates = home.join("certificates");
    fs::create_dir(&certificates).expect("a folder");
    fs::copy(registry.file("ca.pem"), certificates.join("ca.crt")).expect("a file");
    let layout = home.join("layout");
    let copied = program("skopeo")
        .args(["--insecure-policy", "copy", "--preserve-digests"])
        .arg("--src-cert-dir")
        .arg(&certificates)
        .arg("--src-creds")
        .arg(format!("ada:{PASSWORD}"))
        .arg(format!("docker://{}/demo/greet:0.1.0", registry.host))
        .arg(format!("oci:{}:0.1.0", layout.display()))
        .output();
    succeeded(&copied.expect("a process"));
    let index = fs::read(layout.join("index.json")).expect("a layout");
    let index: Value = serde_json::from_slice(&index).expect("JSON");
    let digest = index["manifests"][0]["digest"].as_str().expect("a digest");
    assert!(pushed.contains(digest), "{pushed}");
}

/// oras writes the layer to a file with the name in its annotation.
fn read_by_oras(registry: &Registry, home: &Path) {
    let python = target().join("python/oras/bin/python");
    assert!(python.exists(), "`./x test` installs oras");
    let pulled = Command::new(python)
        .arg("-c")
        .arg(include_str!("pull_with_oras.py"))
        .arg(&registry.host)
        .arg(registry.file("ca.pem"))
        .arg(home)
        .env("PASSWORD", PASSWORD)
        .output();
    succeeded(&pulled.expect("a process"));
    let bytes = |name: &str| fs::read(home.join(name)).expect("a file");
    assert_eq!(bytes("plugin.wasm"), bytes("greet.wasm"));
}

#[track_caller]
fn succeeded(output: &Output) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

/// A block of the page "Share a servlet" that begins with this line.
fn block_of_the_guide(first: &str) -> String {
    let guide = include_str!("../../../../../docs/sharing.md");
    let start = guide.find(&format!("\n{first}")).expect("the block") + 1;
    let (block, _) = guide[start..].split_once("\n```").expect("its end");
    block.to_owned()
}

#[test]
fn the_registry_of_the_guide_takes_and_gives_a_servlet() {
    let home = home();
    let file = |name: &str| home.path().join(name);
    fs::rename(file("greet.wasm"), file("hello.wasm")).expect("the servlet of the guide");
    let address = free_address();
    let here = |text: String| text.replace("localhost:5001", &address.to_string());
    let config = here(block_of_the_guide("version: 0.1"));
    assert!(config.contains(&address.to_string()), "{config}");
    fs::write(file("registry.yml"), config).expect("a file");

    let commands = here(block_of_the_guide("$ docker-registry"));
    let mut lines = commands.lines();
    let mut next = || lines.next().and_then(|line| line.strip_prefix("$ "));
    let serve = next().expect("the command of the registry");
    let (serve, _) = serve.split_once(" &").expect("it runs aside");
    let _ = program("docker-registry");
    let mut registry = shell(home.path(), &format!("exec {serve}"))
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    eventually_blocking("the registry", || TcpStream::connect(address));
    let push = next().expect("a command");
    let call = next().expect("a command");
    let pushed = outcome(&mut shell(home.path(), push));
    let called = outcome(&mut shell(home.path(), call));
    registry.kill().expect("it runs");
    registry.wait().expect("it has ended");
    assert_eq!(pushed.0, Some(0), "{}", pushed.1);
    let answer = lines.collect::<Vec<_>>().join("\n");
    assert!(!answer.is_empty(), "{commands}");
    let (code, printed) = called;
    assert!(code == Some(0) && printed.starts_with(&answer), "{printed}");
}

#[test]
fn a_key_of_openssl_is_converted_as_the_guide_says() {
    let home = home();
    let guide = include_str!("../../../../../docs/registries.md");
    let mut codes = guide.split('`');
    let convert = codes.find(|code| code.starts_with("openssl pkcs8"));
    let make = "openssl ecparam -name prime256v1 -genkey -noout -out old.key";
    for line in [make, convert.expect("the line")] {
        let output = shell(home.path(), line).output();
        succeeded(&output.expect("a process"));
    }
    let sign = ["sign", "greet.wasm", "--key", "servlet.key"];
    success(&mut command(home.path(), Path::new(""), sign));
}

/// Bash with this line and our command, in a home.
fn shell(home: &Path, line: &str) -> Command {
    let servlet = Path::new(env!("CARGO_BIN_EXE_servlet"));
    let folders = env::var_os("PATH").unwrap_or_default();
    let folders = servlet
        .parent()
        .into_iter()
        .map(PathBuf::from)
        .chain(env::split_paths(&folders));
    let mut bash = Command::new("bash");
    bash.args(["-c", line])
        .current_dir(home)
        .env("HOME", home)
        .env("PATH", env::join_paths(folders).expect("folders"))
        .env_remove("XDG_CACHE_HOME")
        .stdin(Stdio::null());
    bash
}
