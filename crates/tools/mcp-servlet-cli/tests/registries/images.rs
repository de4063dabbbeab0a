//! The commands against a small registry in this process.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use axum::{
    Router,
    http::{StatusCode, Uri, header},
    response::IntoResponse as _,
};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use e2e::{Profile, wasm};
use mcp_servlet_runtime::{Contract, Module};
use puppet::eventually_blocking;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::{
    PASSWORD, command, home, outcome,
    site::{Site, status},
    success,
};

/// The digest of the contract in the manifest of `greet`, whose other annotations are compared.
fn contract_of(site: &Site) -> String {
    let manifest = site.object("manifests/0.1.0").expect("a manifest");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!(manifest["artifactType"], "application/vnd.mcp-servlet.v1");
    let contract = manifest["annotations"]["io.mcp-servlet.contract"].as_str();
    let contract = contract.expect("a digest");
    assert_eq!(
        manifest["annotations"],
        json!({
            "io.mcp-servlet.contract": contract,
            "io.mcp-servlet.tools": "greet",
            "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            "org.opencontainers.image.title": "greet",
            "org.opencontainers.image.version": "0.1.0",
        })
    );
    contract.to_owned()
}

/// Asserts that a command has worked and has said all of this.
fn assert_says((code, said): (Option<i32>, String), parts: &[&str]) -> String {
    assert_eq!(code, Some(0), "{said}");
    for part in parts {
        assert!(said.contains(part), "{part}: {said}");
    }
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servlet_is_pushed_pulled_and_called() {
    let (site, home) = (Site::start().await, home());
    let run = |arguments: &[&str]| success(&mut command(home.path(), &site.ca(), arguments));
    let reference = site.reference("").to_string();
    let tagged = format!("{reference}:0.1.0");

    let pushed = run(&["push", "greet.wasm", &reference]);
    let image = pushed.lines().next().expect("a reference").to_owned();
    assert!(
        image.starts_with(&format!("{reference}@sha256:")),
        "{pushed}"
    );
    assert!(
        pushed.contains("0.1.0: pushed"),
        "the tag is the version: {pushed}"
    );
    let again = run(&[
        "push",
        "greet.wasm",
        &reference,
        "--tag",
        "0.1.0",
        "--tag",
        "latest",
    ]);
    assert!(again.contains("0.1.0: already there"), "{again}");
    assert!(again.contains("latest: pushed"), "{again}");

    let contract = contract_of(&site);
    let pulled = run(&["pull", &tagged]);
    for line in [
        "greet.wasm: written",
        &image,
        "  signed   by nobody",
        "  can      compute, without network, files or configuration",
        "  package  greet 0.1.0, MIT OR Apache-2.0",
        &format!("  contract {contract}"),
        "  offers   1 tool",
    ] {
        assert!(pulled.contains(line), "{line}: {pulled}");
    }
    run(&["pull", &image, "-o", "copy.wasm"]);
    let bytes = |name: &str| fs::read(home.path().join(name)).expect("a file");
    assert_eq!(bytes("copy.wasm"), bytes("greet.wasm"));

    for image in [&tagged, &image] {
        let greeting = run(&["call", image, "greet", "name=oci"]);
        assert!(greeting.contains("Hello, oci!"), "{greeting}");
    }
    for arguments in [
        &["describe", &tagged][..],
        &["inspect", &tagged],
        &["catalog", &tagged],
        &["check", &tagged],
        &["config", "init", &tagged, "-o", "-"],
        &["serve", &tagged, "--print-client-config", "claude"],
    ] {
        let text = run(arguments);
        assert!(text.contains("greet"), "{arguments:?}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servlet_for_the_second_abi_of_hyper_mcp_has_its_own_type_and_tag() {
    let (site, home) = (Site::start().await, home());
    let module = e2e::hyper_mcp("greet");
    let file = home.path().join("second.wasm");
    fs::copy(module, file).expect("a servlet");
    let reference = site.reference("").to_string();
    let push = ["push", "second.wasm", &reference];
    let pushed = success(&mut command(home.path(), &site.ca(), push));
    assert!(pushed.contains("0.1.0-hyper-mcp-v2: pushed"), "{pushed}");
    let manifest = site.object("manifests/0.1.0-hyper-mcp-v2");
    let manifest: Value = serde_json::from_slice(&manifest.expect("a manifest")).expect("JSON");
    assert_eq!(
        manifest["artifactType"],
        "application/vnd.hyper-mcp.plugin.v2"
    );
    let call = [
        "call",
        &format!("{reference}:0.1.0-hyper-mcp-v2"),
        "greet",
        "name=oci",
    ];
    let greeting = success(&mut command(home.path(), &site.ca(), call));
    assert!(greeting.contains("Hello, oci!"), "{greeting}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_has_what_the_contract_says_about_the_package() {
    let (site, home) = (Site::start().await, home());
    let file = home.path().join("greet.wasm");
    let wasm = fs::read(&file).expect("a file");
    let module = Module::read(&wasm).expect("a module");
    let mut contract = module.contract().expect("a contract").clone();
    let package = json!({
        "repository": "https://github.com/ada/greet", "authors": ["Ada", "Bob"],
        "homepage": "https://greet.example", "documentation": "https://greet.example/docs",
    });
    contract.package = package.as_object().expect("an object").clone();
    let wasm = Contract::strip(&wasm).expect("a module");
    fs::write(&file, contract.stamp(&wasm)).expect("a file");
    let reference = site.reference("").to_string();
    success(&mut command(
        home.path(),
        &site.ca(),
        ["push", "greet.wasm", &reference],
    ));
    let manifest = site.object("manifests/0.1.0").expect("a manifest");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    let annotation =
        |name: &str| &manifest["annotations"][format!("org.opencontainers.image.{name}")];
    assert_eq!(annotation("source"), "https://github.com/ada/greet");
    assert_eq!(annotation("authors"), "Ada, Bob");
    assert_eq!(annotation("url"), "https://greet.example");
    assert_eq!(annotation("documentation"), "https://greet.example/docs");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pinned_image_is_served_without_its_registry() {
    let (site, home) = (Site::start().await, home());
    let run = |arguments: &[&str]| outcome(&mut command(home.path(), &site.ca(), arguments));
    let reference = site.reference("").to_string();
    let (_, pushed) = run(&["push", "greet.wasm", &reference]);
    let image = pushed.lines().next().expect("a reference").to_owned();
    assert_eq!(run(&["pull", &image]).0, Some(0));
    site.rule(|_| Some(status(503)));
    site.asked();
    let (code, greeting) = run(&["call", &image, "greet", "name=oci"]);
    assert_eq!(code, Some(0), "{greeting}");
    let mut serve = command(home.path(), &site.ca(), ["serve", &image]);
    serve.stderr(Stdio::null());
    tokio::task::block_in_place(|| {
        let client = e2e::Client::start(serve).expect("a server");
        let greeting = client.call("greet", json!({ "name": "oci" }));
        let greeting = serde_json::to_string(&greeting.expect("a result")).expect("JSON");
        assert!(greeting.contains("Hello, oci!"), "{greeting}");
        client.stop().expect("the server ends");
    });
    assert!(site.asked().is_empty());

    let cleaned = run(&["cache", "clean"]).1;
    assert!(cleaned.contains("removed 2 files"), "{cleaned}");
    let (code, text) = run(&["call", &image, "greet", "name=oci"]);
    assert_eq!(code, Some(10), "{text}");
    assert!(
        text.contains("`servlet explain unexpected-answer`"),
        "{text}"
    );
    let (code, text) = run(&["pull", &image, "-o", "other.wasm"]);
    assert_eq!(code, Some(10), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_names_images_and_the_certificates_of_their_registries() {
    let (site, home) = (Site::start().await, home());
    let (host, reference) = (site.address, site.reference(":0.1.0"));
    success(&mut command(
        home.path(),
        &site.ca(),
        ["push", "greet.wasm", &reference.to_string()],
    ));
    fs::copy(site.ca(), home.path().join("ca.pem")).expect("a file");
    // The one of the guide.
    let guide = include_str!("../../../../../docs/registries.md");
    let block = guide
        .split("```")
        .find_map(|block| block.strip_prefix("toml\n"));
    let block = block.expect("a configuration");
    assert!(block.contains("on_failure = \"cached\""), "{block}");
    let write = |on_failure: &str| {
        let config = block
            .replace("registry.example", &host.to_string())
            .replace("ada/mine:1.2.0", "demo/greet:0.1.0")
            .replace("cached", on_failure);
        fs::write(home.path().join("servlet.toml"), config).expect("a file");
    };
    let call = || {
        let arguments = ["call", "servlet.toml", "greet", "name=oci"];
        let mut command = command(home.path(), &site.ca(), arguments);
        outcome(command.env_remove("SSL_CERT_FILE"))
    };
    write("skip");
    let (code, greeting) = call();
    assert_eq!(code, Some(0), "{greeting}");

    site.rule(|_| Some(status(503)));
    let (code, text) = call();
    assert_ne!(code, Some(0), "{text}");
    assert!(text.contains("status 503"), "{text}");
    write("cached");
    let (code, greeting) = call();
    assert_eq!(code, Some(0), "{greeting}");
    assert!(
        greeting.contains("the image that the tag named"),
        "{greeting}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_certificate_the_error_says_where_to_name_it() {
    let (site, home) = (Site::start().await, home());
    let reference = site.reference(":1").to_string();
    let mut pull = command(home.path(), &site.ca(), ["pull", &reference]);
    let (code, text) = outcome(pull.env_remove("SSL_CERT_FILE"));
    assert_eq!(code, Some(3));
    for part in ["is not trusted", "[oci.\"127.0.0.1", "SSL_CERT_FILE"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(
        text.contains("`servlet explain untrusted-certificate`"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_without_tls_is_reached_with_another_scheme() {
    let (site, home) = (Site::start().await, home());
    let plain = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let host = plain.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(plain, Router::new()).await });
    let reference = format!("oci://{host}/demo/greet:1");
    for arguments in [
        &["push", "greet.wasm", &reference][..],
        &["pull", &reference],
    ] {
        let (code, text) = outcome(&mut command(home.path(), &site.ca(), arguments));
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(&format!("{host} does not use TLS")), "{text}");
        assert!(
            text.contains("write `oci+http://` instead of `oci://`"),
            "{text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_that_is_down_has_one_exit_code() {
    let (site, home) = (Site::start().await, home());
    site.rule(|_| Some(status(503)));
    let reference = site.reference(":1").to_string();
    for arguments in [
        &["pull", &reference][..],
        &["describe", &reference],
        &["call", &reference, "greet", "name=Ann"],
        &["catalog", &reference],
        &["serve", &reference],
    ] {
        let (code, text) = outcome(&mut command(home.path(), &site.ca(), arguments));
        assert_eq!(code, Some(10), "{arguments:?}: {text}");
    }
}

/// Another servlet with the contract of `greet.wasm`.
fn with_another_contract(home: &Path) -> Vec<u8> {
    let greet = fs::read(home.join("greet.wasm")).expect("a file");
    let greet = Module::read(&greet).expect("a module");
    let other = fs::read(wasm("calculator", Profile::Servlet)).expect("a file");
    let other = Contract::strip(&other).expect("a module");
    let contract = greet.contract().expect("a contract").clone();
    contract.stamp(&other)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_pushed_is_refused_before_a_request() {
    let (site, home) = (Site::start().await, home());
    fs::write(home.path().join("text.wasm"), "text").expect("a file");
    let empty = b"\0asm\x01\0\0\0";
    fs::write(home.path().join("empty.wasm"), empty).expect("a file");
    fs::write(
        home.path().join("other.wasm"),
        with_another_contract(home.path()),
    )
    .expect("a file");
    let push = |arguments: &[&str]| {
        let arguments = [&["push"], arguments].concat();
        outcome(&mut command(home.path(), &site.ca(), arguments))
    };
    let (repository, tagged) = (
        site.reference("").to_string(),
        site.reference(":1").to_string(),
    );
    for (file, code, problem) in [
        ("missing.wasm", 3, "cannot read"),
        ("text.wasm", 3, "cannot load `text`"),
        ("empty.wasm", 3, "is not a servlet"),
        ("other.wasm", 3, "the contract in"),
    ] {
        let (found, text) = push(&[file, &tagged]);
        assert_eq!(found, Some(code), "{text}");
        assert!(text.contains(problem), "{text}");
    }
    let pinned = site
        .reference("")
        .with_digest(mcp_servlet_oci::Digest::of(b""));
    let (code, text) = push(&["greet.wasm", &pinned.to_string()]);
    assert_eq!(code, Some(2), "{text}");
    let (code, text) = push(&["empty.wasm", &repository, "--unchecked"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("there is no tag"), "{text}");
    assert!(site.asked().is_empty());
    let (code, text) = push(&["empty.wasm", &tagged, "--unchecked"]);
    assert_eq!(code, Some(0), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tag_of_another_image_is_only_moved_with_force() {
    let (site, home) = (Site::start().await, home());
    let tagged = site.reference(":1").to_string();
    let push = |arguments: &[&str]| {
        let arguments = [&["push", "greet.wasm", &tagged], arguments].concat();
        outcome(&mut command(home.path(), &site.ca(), arguments))
    };
    assert_eq!(push(&[]).0, Some(0));
    let other = ["--annotation", "org.opencontainers.image.title=other"];
    let (code, text) = push(&other);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("`--force`"), "{text}");
    let (code, text) = push(&[&other[..], &["--force"]].concat());
    assert_eq!(code, Some(0), "{text}");
    let manifest = site.object("manifests/1").expect("a manifest");
    assert!(
        String::from_utf8_lossy(&manifest).contains(r#""org.opencontainers.image.title":"other""#)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_there_is_kept() {
    let (site, home) = (Site::start().await, home());
    site.module("1");
    let pull = |arguments: &[&str]| {
        let reference = site.reference(":1").to_string();
        let arguments = [&["pull", &reference], arguments].concat();
        outcome(&mut command(home.path(), &site.ca(), arguments))
    };
    let (code, text) = pull(&[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("`greet.wasm` exists, and differs from the image"),
        "{text}"
    );
    assert_eq!(pull(&["-o", "greet.wasm"]).0, Some(0));
    assert_eq!(pull(&[]).0, Some(0), "the file has these bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_registry_says_cannot_control_the_terminal() {
    let (site, home) = (Site::start().await, home());
    site.rule(|_| {
        let error = json!({ "code": "DENIED", "message": "\u{1b}[2J\nforged: written" });
        Some(
            (
                StatusCode::FORBIDDEN,
                json!({ "errors": [error] }).to_string(),
            )
                .into_response(),
        )
    });
    let reference = site.reference(":1").to_string();
    let (code, text) = outcome(&mut command(home.path(), &site.ca(), ["pull", &reference]));
    assert_eq!(code, Some(13), "{text}");
    assert!(text.contains("DENIED"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(
        !text.lines().any(|line| line.starts_with("forged")),
        "{text}"
    );
}

/// A registry that asks for a password.
async fn with_passwords() -> Site {
    let site = Site::start().await;
    site.module("1");
    let ada = BASE64_STANDARD.encode(format!("ada:{PASSWORD}"));
    site.rule(move |asked| {
        let is_ada = asked.authorization.as_deref() == Some(&*format!("Basic {ada}"));
        let challenge = [(header::WWW_AUTHENTICATE, "Basic realm=\"test\"")];
        (!is_ada).then(|| (StatusCode::UNAUTHORIZED, challenge).into_response())
    });
    site
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_helper_has_the_password_and_one_that_fails_is_an_error() {
    let (site, home) = (with_passwords().await, home());
    let docker = home.path().join(".docker");
    fs::create_dir(&docker).expect("a folder");
    let config = json!({ "credHelpers": { site.address.to_string(): "test" } });
    fs::write(docker.join("config.json"), config.to_string()).expect("a file");
    let path = home.path().join("docker-credential-test");
    let helper = |script: &str| {
        // A shell writes it: a file that this process has written may still be open for writing in a process that another test is
        // starting, and no such file can be run.
        let write = r#"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod +x "$2""#;
        let written = Command::new("sh")
            .args(["-c", write, "sh", script])
            .arg(&path)
            .status();
        assert!(written.expect("a shell").success());
        let reference = site.reference(":1").to_string();
        let mut pull = command(
            home.path(),
            &site.ca(),
            ["-vvv", "pull", &reference, "-o", "a.wasm"],
        );
        outcome(pull.env("PATH", format!("{}:/usr/bin:/bin", home.path().display())))
    };
    let answer = format!(
        r#"test "$1" = get && test "$(cat)" = {} && echo '{{"Username":"ada","Secret":"{PASSWORD}"}}'"#,
        site.address
    );
    let (code, text) = helper(&answer);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = helper("echo 'keychain is locked'; exit 1");
    assert_eq!(code, Some(13), "{text}");
    assert!(
        text.contains("`docker-credential-test`: keychain is locked"),
        "{text}"
    );
    let (code, text) = helper("echo 'credentials not found in native keychain'; exit 1");
    assert_eq!(code, Some(13), "{text}");
    assert!(text.contains("requires a login"), "{text}");
    let (code, text) = helper(&format!(
        "echo '{{\"Username\":\"ada\",\"Token\":\"{PASSWORD}\"}}'"
    ));
    assert_eq!(code, Some(13), "{text}");
    assert!(text.contains("no `Username` and `Secret`"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_name_the_files_of_docker_and_podman() {
    let (site, home) = (with_passwords().await, home());
    let auth = BASE64_STANDARD.encode(format!("ada:{PASSWORD}"));
    let login = json!({ "auths": { site.address.to_string(): { "auth": auth } } }).to_string();
    let reference = site.reference(":1").to_string();
    for (variable, value, file) in [
        ("DOCKER_CONFIG", "docker", "docker/config.json"),
        ("REGISTRY_AUTH_FILE", "auth", "auth"),
        ("XDG_RUNTIME_DIR", "run", "run/containers/auth.json"),
        ("XDG_CONFIG_HOME", "config", "config/containers/auth.json"),
    ] {
        let file = home.path().join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, &login).expect("a file");
        let pull = ["pull", &reference, "-o", variable];
        let mut pull = command(home.path(), &site.ca(), pull);
        let (code, text) = outcome(pull.env(variable, home.path().join(value)));
        assert_eq!(code, Some(0), "{variable}: {text}");
        fs::remove_file(file).expect("it was there");
    }
    let (code, text) = outcome(&mut command(home.path(), &site.ca(), ["pull", &reference]));
    assert_eq!(code, Some(13), "{text}");
    assert_eq!(
        text.contains("`/run/containers/"),
        cfg!(target_os = "linux"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_log_shows_a_password_or_a_token() {
    let (site, home) = (with_passwords().await, home());
    let docker = home.path().join(".docker");
    fs::create_dir(&docker).expect("a folder");
    let login = |user: &str| {
        let auth = BASE64_STANDARD.encode(format!("{user}:{PASSWORD}"));
        let config = json!({ "auths": { site.address.to_string(): { "auth": auth } } });
        fs::write(docker.join("config.json"), config.to_string()).expect("a file");
        let reference = site.reference(":1").to_string();
        let arguments = ["-vvv", "pull", &reference, "-o", "a.wasm"];
        let (code, text) = outcome(&mut command(home.path(), &site.ca(), arguments));
        assert!(!text.contains(&auth), "{text}");
        (code, text)
    };
    assert_eq!(login("ada").0, Some(0));
    let (code, text) = login("eve");
    assert_eq!(code, Some(13), "{text}");
    assert!(
        text.contains("refused the credentials of the user `eve`"),
        "{text}"
    );
}

/// A home with the keys of Ada and of somebody else.
fn home_with_keys() -> TempDir {
    let home = home();
    for file in ["ada.key", "other.key"] {
        success(&mut command(
            home.path(),
            Path::new(""),
            ["key", "new", "-o", file],
        ));
    }
    home
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_requires_signatures() {
    let (site, home) = (Site::start().await, home_with_keys());
    let run = |arguments: &[&str]| outcome(&mut command(home.path(), &site.ca(), arguments));
    let reference = site.reference("").to_string();
    let image = format!("{reference}:0.1.0");
    assert_eq!(run(&["push", "greet.wasm", &reference]).0, Some(0));
    let config = format!(
        "[signer.ada]\nkey = \"ada.pub\"\n[servlet.greet]\nsource = \"{image}\"\nsigned_by = [\"ada\"]\n"
    );
    fs::write(home.path().join("servlet.toml"), config).expect("a file");
    let call = ["call", "servlet.toml", "greet", "name=Ada"];
    let (code, said) = run(&call);
    assert!(
        code != Some(0) && said.contains("it has no signature"),
        "{said}"
    );
    assert_eq!(run(&["sign", &image, "--key", "other.key"]).0, Some(0));
    let (code, said) = run(&call);
    assert!(code != Some(0) && said.contains("by another key"), "{said}");

    let secret = fs::read_to_string(home.path().join("ada.key")).expect("a key");
    let push = [
        "push",
        "greet.wasm",
        &reference,
        "--sign",
        "env:SERVLET_KEY",
    ];
    let mut push = command(home.path(), &site.ca(), push);
    let (code, said) = outcome(push.env("SERVLET_KEY", &secret));
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = run(&call);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Hello, Ada!"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reference_on_the_command_line_is_verified_by_a_policy() {
    let (site, home) = (Site::start().await, home_with_keys());
    let trusting = |arguments: &[&str]| outcome(&mut command(home.path(), &site.ca(), arguments));
    // The policy names the certificate.
    let run = |arguments: &[&str]| {
        let mut command = command(home.path(), &site.ca(), arguments);
        outcome(command.env_remove("SSL_CERT_FILE"))
    };
    let image = site.reference(":0.1.0").to_string();
    let (code, said) = trusting(&["push", "greet.wasm", &image]);
    assert_eq!(code, Some(0), "{said}");
    fs::copy(site.ca(), home.path().join("ca.pem")).expect("a file");
    let config = format!(
        "[signer.ada]\nkey = \"ada.pub\"\n[oci.\"{}\"]\ntls.ca = \"ca.pem\"\nsigned_by = [\"ada\"]\n",
        site.address
    );
    fs::write(home.path().join("servlet.toml"), config).expect("a file");
    let commands = [
        &["call", &image, "greet", "name=Ada"][..],
        &["describe", &image],
        &["inspect", &image],
        &["catalog", &image],
        &["check", &image],
        &["pull", &image, "-o", "pulled.wasm"],
    ];
    let policy = ["--policy", "servlet.toml"];
    for command in commands {
        let (code, said) = run(&[command, &policy].concat());
        assert!(
            code != Some(0) && said.contains("it has no signature"),
            "{said}"
        );
    }
    assert!(!home.path().join("pulled.wasm").exists());
    assert_eq!(trusting(&["sign", &image, "--key", "ada.key"]).0, Some(0));
    for command in commands {
        let said = assert_says(run(&[command, &policy].concat()), &[]);
        assert!(!said.contains("not verified"), "{said}");
        // Without a policy, a tag could name anything.
        let says_so = ["inspect", "pull"].contains(&command[0]);
        let expected = if says_so {
            "as its signature says"
        } else {
            "is not verified; a `--policy`"
        };
        assert_says(trusting(command), &[expected]);
    }
    let (code, said) = run(&["describe", "greet.wasm", "--policy", "servlet.toml"]);
    assert!(
        code == Some(2) && said.contains("is for `oci://` references"),
        "{said}"
    );

    let installed = run(&["install", "cursor", &image, "--policy", "servlet.toml"]);
    let answers = "`greet` answers, with 1 tool";
    let said = assert_says(installed, &["must be signed as `--policy` asks", answers]);
    assert!(!said.contains("of this terminal"), "{said}");
    let installed = trusting(&["install", "cursor", &image, "--name", "other"]);
    let answers = "`other` answers, with 1 tool";
    let only = "only starts with the environment of this terminal";
    assert_says(installed, &["nothing verifies it", answers, only]);
}

#[tokio::test(flavor = "multi_thread")]
async fn signatures_are_required_below_a_prefix_of_whole_parts() {
    let (site, home) = (Site::start().await, home_with_keys());
    let run = |arguments: &[&str]| outcome(&mut command(home.path(), &site.ca(), arguments));
    let (host, image) = (site.address, site.reference(":0.1.0").to_string());
    assert_eq!(
        run(&["push", "greet.wasm", &image, "--sign", "ada.key"]).0,
        Some(0)
    );
    let (ada, other) = ("signed_by = [\"ada\"]", "signed_by = [\"other\"]");
    for (sections, works) in [
        (&[(format!("{host}/demo"), other)][..], false),
        (&[(format!("{host}/demo/"), other)], false),
        (&[(format!("{host}/demo/greet"), other)], false),
        (&[(format!("{host}/demo"), ada)], true),
        (&[(format!("{host}/dem"), other)], true),
        (&[(format!("{host}/demo/greet/more"), other)], true),
        (
            &[(host.to_string(), other), (format!("{host}/demo"), ada)],
            true,
        ),
        (
            &[(host.to_string(), ada), (format!("{host}/demo"), other)],
            false,
        ),
        (
            &[(host.to_string(), other), (format!("{host}/demo"), "")],
            false,
        ),
    ] {
        let sections = sections.iter();
        let sections = sections.map(|(name, signed_by)| format!("[oci.\"{name}\"]\n{signed_by}\n"));
        let config = format!(
            "[signer.ada]\nkey = \"ada.pub\"\n[signer.other]\nkey = \"other.pub\"\n\
             [servlet.greet]\nsource = \"{image}\"\n{}",
            sections.collect::<String>()
        );
        fs::write(home.path().join("servlet.toml"), &config).expect("a file");
        let (code, said) = run(&["call", "servlet.toml", "greet", "name=Ada"]);
        assert_eq!(code == Some(0), works, "{config}{said}");
        assert!(works || said.contains("by another key"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_stops_serving_an_image_that_is_no_longer_signed() {
    let (site, home) = (Site::start().await, home_with_keys());
    let run = |arguments: &[&str]| outcome(&mut command(home.path(), &site.ca(), arguments));
    let image = site.reference(":0.1.0").to_string();
    fs::copy(e2e::fixture("needs"), home.path().join("needs.wasm")).expect("a servlet");
    let file = |name: &str| home.path().join(name);
    let config = format!(
        "[signer.ada]\nkey = \"ada.pub\"\n[servlet.greet]\nsource = \"{image}\"\nsigned_by = [\"ada\"]\n\
         [servlet.needs]\nsource = \"needs.wasm\"\n"
    );
    let reload = |times: usize| {
        let changed = config.clone() + &"#\n".repeat(times);
        fs::write(file("servlet.toml"), changed).expect("a file");
    };
    assert_eq!(
        run(&["push", "greet.wasm", &image, "--sign", "ada.key"]).0,
        Some(0)
    );
    reload(0);
    let mut serve = command(home.path(), &site.ca(), ["serve", "servlet.toml"]);
    serve.stderr(Stdio::null());
    tokio::task::block_in_place(|| {
        let client = e2e::Client::start(serve).expect("a server");
        let wait_until = |is_served: bool, when: &str| {
            eventually_blocking(when, || {
                let tools = client.tools().expect("a list");
                tools.iter().any(|tool| tool.name == "greet") == is_served
            });
        };
        wait_until(true, "signed");
        let moved = [
            "push",
            "greet.wasm",
            &image,
            "--force",
            "--annotation",
            "a=b",
        ];
        assert_eq!(run(&moved).0, Some(0));
        reload(1);
        wait_until(false, "the tag has moved to an image without a signature");
        assert_eq!(run(&["sign", &image, "--key", "ada.key"]).0, Some(0));
        reload(2);
        wait_until(true, "the other image is signed, too");
        fs::copy(file("other.pub"), file("ada.pub")).expect("a key");
        wait_until(false, "its key is revoked");
        client.stop().expect("the server ends");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn another_signer_needs_a_flag_of_its_own() {
    let (site, home) = (Site::start().await, home_with_keys());
    let run = |arguments: &[&str]| outcome(&mut command(home.path(), &site.ca(), arguments));
    let image = format!("{}:0.1.0", site.reference(""));
    let config = |signed_by: &str| {
        let config = format!(
            "[signer.ada]\nkey = \"ada.pub\"\n[signer.other]\nkey = \"other.pub\"\n\
             [servlet.greet]\nsource = \"{image}\"\n{signed_by}\n"
        );
        fs::write(home.path().join("servlet.toml"), config).expect("a file");
    };
    assert_eq!(run(&["push", "greet.wasm", &image]).0, Some(0));
    for key in ["ada.key", "other.key"] {
        assert_eq!(run(&["sign", &image, "--key", key]).0, Some(0));
    }
    config("signed_by = [\"ada\"]");
    assert_eq!(run(&["lock"]).0, Some(0));
    let call = ["call", "servlet.toml", "greet", "name=Ada"];
    assert_eq!(run(&call).0, Some(0));
    for signed_by in [
        "signed_by = [\"other\"]",
        "signed_by = [\"ada\", \"other\"]",
        "",
    ] {
        config(signed_by);
        let (code, said) = run(&call);
        assert_eq!(code, Some(2), "{said}");
        assert!(
            said.contains("other signers than in `servlet.lock`"),
            "{said}"
        );
        let (code, said) = run(&["lock", "verify", "--offline"]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("signer "), "{said}");
        let (code, said) = run(&["lock", "update"]);
        assert_eq!(code, Some(1), "{said}");
        let option = "add `--allow-signer greet --yes sha256:";
        assert!(said.contains(option), "{said}");
    }
    let (_, said) = run(&["lock", "update", "--allow-signer", "greet"]);
    let (_, digest) = said.split_once("--yes ").expect("a digest");
    let digest = digest.split('`').next().expect("a digest");
    let update = ["lock", "update", "--allow-signer", "greet", "--yes", digest];
    assert_eq!(run(&update).0, Some(0));
    assert_eq!(run(&call).0, Some(0));
}

/// A signer that the configuration accepts is still another signer.
#[tokio::test(flavor = "multi_thread")]
async fn a_lock_has_the_key_that_signed() {
    let (site, home) = (Site::start().await, home_with_keys());
    let run = |arguments: &[&str]| outcome(&mut command(home.path(), &site.ca(), arguments));
    let image = site.reference(":0.1.0").to_string();
    let push = ["push", "greet.wasm", &image, "--sign"];
    let (code, pushed) = run(&[&push[..], &["ada.key"]].concat());
    assert_eq!(code, Some(0), "{pushed}");
    let config = format!(
        "[signer.both]\nkeys = [\"ada.pub\", \"other.pub\"]\n\
         [servlet.greet]\nsource = \"{image}\"\nsigned_by = [\"both\"]\n"
    );
    fs::write(home.path().join("servlet.toml"), config).expect("a file");
    let (code, said) = run(&["lock"]);
    assert_eq!(code, Some(0), "{said}");
    let (_, key) = pushed.split_once("signed with the key ").expect("a key");
    assert!(
        said.contains(&format!("signed with the key {}", key.trim())),
        "{said}"
    );

    let other = ["other.key", "--force", "--annotation", "a=b"];
    assert_eq!(run(&[&push[..], &other].concat()).0, Some(0));
    let (code, said) = run(&["lock", "update"]);
    assert_eq!(code, Some(1), "{said}");
    let option = "add `--allow-signer greet --yes sha256:";
    for part in ["signature with the key", option] {
        assert!(said.contains(part), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_image_in_a_lock_is_served_whatever_its_tag_names_later() {
    let (site, home) = (Site::start().await, home());
    let run = |arguments: &[&str]| outcome(&mut command(home.path(), &site.ca(), arguments));
    let image = format!("{}:0.1.0", site.reference(""));
    let config = format!("[servlet.greet]\nsource = \"{image}\"\n");
    fs::write(home.path().join("servlet.toml"), config).expect("a file");
    let (_, pushed) = run(&["push", "greet.wasm", &image]);
    let (_, digest) = pushed
        .lines()
        .next()
        .and_then(|line| line.split_once('@'))
        .expect("a digest");
    let (code, said) = run(&["lock"]);
    assert_eq!(code, Some(0), "{said}");
    let lock = fs::read(home.path().join("servlet.lock")).expect("a lock");
    let lock: Value = serde_json::from_slice(&lock).expect("JSON");
    assert_eq!(lock["members"]["greet"]["manifest"], digest);

    let (code, said) = run(&[
        "push",
        "greet.wasm",
        &image,
        "--force",
        "--annotation",
        "a=b",
    ]);
    assert_eq!(code, Some(0), "{said}");
    let call = ["call", "servlet.toml", "greet", "name=Ada"];
    site.asked();
    assert_eq!(run(&call).0, Some(0));
    assert!(site.asked().is_empty(), "the cache has the image");
    let (code, said) = run(&["lock", "verify"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("origin      image"), "{said}");

    // Another tag in the configuration is not hidden by the lock.
    let other = format!("{}:0.2.0", site.reference(""));
    fs::copy(
        wasm("calculator", Profile::Servlet),
        home.path().join("other.wasm"),
    )
    .expect("a file");
    assert_eq!(run(&["push", "other.wasm", &other]).0, Some(0));
    let toml = home.path().join("servlet.toml");
    let approved = fs::read_to_string(&toml).expect("a file");
    fs::write(&toml, approved.replace(&image, &other)).expect("a file");
    let (code, said) = run(&call);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("the module has changed"), "{said}");
    fs::write(&toml, approved).expect("a file");

    site.rule(|_| Some(status(503)));
    assert_eq!(run(&call).0, Some(0));
    assert_eq!(run(&["lock", "verify", "--offline"]).0, Some(0));
    let (code, said) = run(&["lock", "verify"]);
    assert_eq!(code, Some(10), "{said}");
}

#[test]
fn a_module_may_have_its_signature_next_to_it() {
    let home = home_with_keys();
    let run = |arguments: &[&str]| outcome(&mut command(home.path(), Path::new(""), arguments));
    let config = "[signer.ada]\nkey = \"ada.pub\"\n[servlet.greet]\nsource = \"greet.wasm\"\nsigned_by = [\"ada\"]\n";
    fs::write(home.path().join("servlet.toml"), config).expect("a file");
    let call = || run(&["call", "servlet.toml", "greet", "name=Ada"]);
    let (code, said) = call();
    assert!(
        code != Some(0) && said.contains("it has no signature"),
        "{said}"
    );
    let sign = |key: &str| assert_eq!(run(&["sign", "greet.wasm", "--key", key]).0, Some(0));
    sign("other.key");
    let (code, said) = call();
    assert!(
        code != Some(0) && said.contains("its signature is by another key"),
        "{said}"
    );
    sign("ada.key");
    let (code, said) = call();
    assert_eq!(code, Some(0), "{said}");
    let verify = [
        "verify",
        "greet.wasm",
        "--key",
        "other.pub",
        "--key",
        "ada.pub",
    ];
    let (code, said) = run(&verify);
    assert!(
        code == Some(0) && said.trim_end().ends_with(", ada.pub"),
        "{said}"
    );
    let (code, said) = run(&verify[..4]);
    assert!(
        code == Some(1) && said.contains("by one of the keys"),
        "{said}"
    );

    let module = home.path().join("greet.wasm");
    let mut changed = fs::read(&module).expect("a module");
    // An empty custom section.
    changed.extend([0, 2, 1, b'a']);
    fs::write(&module, changed).expect("a module");
    let (code, said) = call();
    assert!(
        code != Some(0) && said.contains("its signature is by another key"),
        "{said}"
    );
}

/// Serves the files of a folder. A request needs the query `?key=x`.
async fn serve(folder: &Path) -> String {
    let folder = folder.to_owned();
    let answer = async move |uri: Uri| match fs::read(folder.join(uri.path().trim_matches('/'))) {
        Ok(bytes) if uri.query() == Some("key=x") => Ok(bytes),
        _ => Err(StatusCode::NOT_FOUND),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
    format!("http://{address}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_module_at_a_url_has_its_signature_there() {
    let home = home_with_keys();
    let site = serve(home.path()).await;
    let run = |arguments: &[&str]| outcome(&mut command(home.path(), Path::new(""), arguments));
    let config = format!(
        "[signer.ada]\nkey = \"ada.pub\"\n[servlet.greet]\nsource = \"{site}/greet.wasm?key=x\"\nsigned_by = [\"ada\"]\n"
    );
    fs::write(home.path().join("servlet.toml"), config).expect("a file");
    let call = ["call", "servlet.toml", "greet", "name=Ada"];
    let (code, said) = run(&call);
    assert!(
        code != Some(0) && said.contains("it has no signature"),
        "{said}"
    );
    assert_eq!(run(&["sign", "greet.wasm", "--key", "ada.key"]).0, Some(0));
    let (code, said) = run(&call);
    assert_eq!(code, Some(0), "{said}");
    let url = format!("{site}/greet.wasm?key=x");
    for (key, expected) in [("ada.pub", 0), ("other.pub", 1)] {
        let (code, said) = run(&["verify", &url, "--key", key]);
        assert_eq!(code, Some(expected), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn verify_names_the_signer() {
    let (site, home) = (Site::start().await, home_with_keys());
    let run = |arguments: &[&str]| outcome(&mut command(home.path(), &site.ca(), arguments));
    let image = site.reference(":0.1.0").to_string();
    assert_eq!(run(&["push", "greet.wasm", &image]).0, Some(0));
    let (_, said) = run(&["inspect", &image]);
    assert!(said.contains("signed   by nobody"), "{said}");
    assert_eq!(run(&["sign", &image, "--key", "other.key"]).0, Some(0));
    let both = ["verify", &image, "--key", "ada.pub", "--key", "other.pub"];
    let (code, said) = run(&both);
    assert!(
        code == Some(0) && said.trim_end().ends_with(", other.pub"),
        "{said}"
    );
    let key = said.rsplit("with the key ").next().expect("the key");
    let key = key.trim_end().trim_end_matches(", other.pub");
    let (_, said) = run(&["inspect", &image]);
    let signed = format!("signed   with the key {key}, as its signature says");
    assert!(said.contains(&signed), "{said}");
    for (arguments, code, message) in [
        (&both[..4], 1, "its only signature is by another key"),
        (
            &["verify", &image, "--key", "ada.key"],
            2,
            "expected a public key",
        ),
        (
            &["sign", &image, "--key", "ada.pub"],
            2,
            "expected a private key",
        ),
        (
            &["sign", &image, "--key", "env:NOT_SET"],
            2,
            "`NOT_SET` is not set",
        ),
        (
            &["key", "new", "-o", "ada.key"],
            2,
            "cannot write `ada.key`",
        ),
        (
            &["key", "new", "-o", "ada.pub"],
            2,
            "name another file for the private key",
        ),
        (&["key", "new", "-o", "ada"], 2, "cannot write `ada.pub`"),
    ] {
        let (found, said) = run(arguments);
        assert!(found == Some(code) && said.contains(message), "{said}");
    }
    assert!(!home.path().join("ada").exists());
    site.rule(|_| Some(status(503)));
    let (code, said) = run(&["verify", &image, "--key", "other.pub"]);
    assert!(code == Some(10) && said.contains("status 503"), "{said}");
}

#[test]
fn the_text_of_a_private_key_is_not_shown() {
    let home = home_with_keys();
    let secret = fs::read_to_string(home.path().join("ada.key")).expect("a key");
    let image = "oci://registry.example/greet:1";
    let is_text = "found the text of a key";
    for (arguments, message) in [
        (
            &["push", "greet.wasm", image, "--sign", &secret][..],
            is_text,
        ),
        (&["sign", "greet.wasm", "--key", &secret], is_text),
        (&["sign", "greet.wasm", &secret], "unexpected argument"),
    ] {
        let (code, said) = outcome(&mut command(home.path(), Path::new(""), arguments));
        assert!(code == Some(2) && said.contains(message), "{message}");
        let mut lines = secret.lines().skip(1);
        assert!(lines.all(|line| !said.contains(line)), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn verify_asks_for_the_signers_of_a_configuration() {
    let (site, home) = (Site::start().await, home_with_keys());
    let run = |arguments: &[&str]| outcome(&mut command(home.path(), &site.ca(), arguments));
    let image = site.reference(":0.1.0").to_string();
    assert_eq!(run(&["push", "greet.wasm", &image]).0, Some(0));
    let signers = "[signer.ada]\nkey = \"ada.pub\"\n[signer.other]\nkey = \"other.pub\"\n";
    let host = image["oci://".len()..].split('/').next().expect("a host");
    let servlet = format!("[servlet.greet]\nsource = \"{image}\"\nsigned_by = [\"ada\"]\n");
    let registry = format!("[oci.\"{host}\"]\nsigned_by = [\"other\"]\n");
    let verify = |config: &str| {
        fs::write(home.path().join("servlet.toml"), config).expect("a configuration");
        run(&["verify", &image, "--policy", "servlet.toml"])
    };
    let nobody = format!("[servlet.greet]\nsource = \"{image}\"\n");
    let (code, said) = verify(&nobody);
    let message = format!("servlet.toml does not say who signs {image}");
    assert!(code == Some(2) && said.contains(&message), "{said}");

    assert_eq!(run(&["sign", &image, "--key", "other.key"]).0, Some(0));
    let (code, said) = verify(&format!("{signers}{registry}"));
    assert!(
        code == Some(0) && said.contains("as servlet.toml asks"),
        "{said}"
    );
    // Both conditions hold for a servlet.
    let (code, said) = verify(&format!("{signers}{registry}{servlet}"));
    assert!(code == Some(1) && said.contains("by another key"), "{said}");
    assert_eq!(run(&["sign", &image, "--key", "ada.key"]).0, Some(0));
    let (code, said) = verify(&format!("{signers}{registry}{servlet}"));
    assert_eq!(
        (code, said.matches("signed with the key").count()),
        (Some(0), 2),
        "{said}"
    );
    let (code, said) = run(&["verify", "greet.wasm", "--policy", "servlet.toml"]);
    assert!(
        code == Some(2) && said.contains("is not an `oci://` reference"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_entry_of_a_client_has_what_an_image_needs() {
    let (site, home) = (Site::start().await, home());
    let run = |arguments: &[&str]| outcome(&mut command(home.path(), &site.ca(), arguments));
    fs::copy(e2e::fixture("needs"), home.path().join("needs.wasm")).expect("a servlet");
    let image = site.reference(":1").to_string();
    assert_eq!(run(&["push", "needs.wasm", &image]).0, Some(0));
    let (code, said) = run(&["install", "cursor", &image, "--no-check"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("host `api.weather.example` is not allowed"),
        "{said}"
    );
    let file = fs::read_to_string(home.path().join(".cursor/mcp.json")).expect("a file");
    assert!(file.contains("${env:GREET_API_KEY}"), "{file}");
}
