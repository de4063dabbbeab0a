//! What `servlet pack`, `sign` and `push` write, read by the programs of other projects that it is for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use serde_json::json;
use tempfile::TempDir;

use crate::npm::Packages;
use crate::python;
use crate::registry::Registry;
use crate::serve::{build, servlet};
use crate::shell::{cargo, output, program, quietly, root, run, target};

/// The packer and the launcher of Claude Desktop's bundles, an MCP client, and a verifier of signatures.
const PACKAGES: [&str; 4] = [
    "@anthropic-ai/mcpb@2.1.2",
    "@modelcontextprotocol/sdk@1.32.2",
    "@sigstore/bundle@4.0.0",
    "@sigstore/verify@3.1.1",
];

/// A linter of `PyPI` with the official schema of `server.json`, and the rules of the registry that the schema cannot express.
const SKILLSAW: &str = "skillsaw==0.22.0";

/// The repository of the image.
const REPOSITORY: &str = "demo/greet";

/// Packs and signs servlets, and reads the files and the image with programs of other projects. `hyper_mcp` is the command of
/// hyper-mcp, which takes too long to build here.
pub(super) fn check_packed_servlets(hyper_mcp: Option<&Path>) -> anyhow::Result<()> {
    let publisher = Publisher::new()?;
    publisher.pack()?;
    publisher.lint_server_json()?;
    let digest = publisher.push()?;
    publisher.read_with_node(&digest)?;
    publisher.read_with_oci_wasm()?;
    if let Some(hyper_mcp) = hyper_mcp {
        return publisher.call_with_hyper_mcp(hyper_mcp);
    }
    println!("left out: hyper-mcp, without `--hyper-mcp FILE`");
    Ok(())
}

/// An author with two keys, an empty home and a registry.
struct Publisher {
    home: TempDir,
    registry: Registry,
}

impl Publisher {
    fn new() -> anyhow::Result<Self> {
        let greet = build(&["greet"])?.pop().context("a servlet")?;
        let fixture = ["build", "--release", "--target", "wasm32-unknown-unknown"];
        run(cargo(&fixture).args(["--package", "fixtures", "--example", "needs"]))?;
        let needs = target().join("wasm32-unknown-unknown/release/examples/needs.wasm");
        let home = tempfile::tempdir()?;
        fs::copy(greet, home.path().join("greet.wasm"))?;
        fs::copy(needs, home.path().join("needs.wasm"))?;
        let registry = Registry::start()?;
        Ok(Self { home, registry })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// The command in the home. It trusts the registry.
    fn servlet(&self) -> Command {
        let mut command = servlet();
        command
            .current_dir(self.home.path())
            .env("HOME", self.home.path())
            .env("XDG_CACHE_HOME", self.file("cache"))
            .env("SSL_CERT_FILE", &self.registry.ca);
        command
    }

    /// Writes a bundle, two keys, and the signature of a file.
    fn pack(&self) -> anyhow::Result<()> {
        for line in [
            "key new -o ada.key",
            "key new -o other.key",
            "sign greet.wasm --key ada.key",
            "pack --mcpb needs.wasm --author Ada -o needs.mcpb",
        ] {
            let mut servlet = self.servlet();
            run(servlet.args(line.split(' ')).stdout(Stdio::null()))?;
        }
        Ok(())
    }

    /// Lets the linter read the `server.json` of a servlet with settings, and the same document without a member.
    fn lint_server_json(&self) -> anyhow::Result<()> {
        let python = python::install("skillsaw", &[SKILLSAW])?;
        let lint = |folder: &str| {
            let mut lint = Command::new(python.with_file_name("skillsaw"));
            lint.current_dir(self.home.path()).args(["lint", "--quiet"]);
            lint.args(["--strict", "--type", "mcp-registry", folder]);
            lint
        };
        for folder in ["registry", "wrong"] {
            fs::create_dir(self.file(folder))?;
        }
        let mut export = self.servlet();
        export.args("export registry needs.wasm --name io.github.ada/needs".split(' '));
        export.args(["--package=npm:@ada/needs", "--package=pypi:ada-needs"]);
        let bundle = "https://github.com/ada/needs/releases/download/v1/needs.mcpb";
        export.arg(format!("--package=mcpb:{bundle},needs.mcpb"));
        export.args(["--remote=https://needs.example/mcp", "-o"]);
        run(export.arg("registry/server.json"))?;
        quietly(&mut lint("registry"))?;

        let document = fs::read_to_string(self.file("registry/server.json"))?;
        let wrong = document.replace("\"registryType\"", "\"registry\"");
        fs::write(self.file("wrong/server.json"), wrong)?;
        let refused = lint("wrong").output()?;
        let problems = String::from_utf8_lossy(&refused.stdout);
        ensure!(
            problems.contains("'registryType' is a required"),
            "{problems}"
        );
        println!("works: the official schema and the rules of the registry accept a server.json");
        Ok(())
    }

    /// Pushes a signed image. Returns its digest.
    fn push(&self) -> anyhow::Result<String> {
        let mut push = self.servlet();
        push.args(["push", "greet.wasm", "--sign", "ada.key"]);
        push.arg(format!("oci://{}/{REPOSITORY}", self.registry.address));
        let printed = output(&mut push)?;
        let image = printed.lines().next().and_then(|line| line.split_once('@'));
        let (_, digest) = image.with_context(|| format!("no digest in {printed}"))?;
        Ok(digest.to_owned())
    }

    /// Reads the bundle, the signatures and the image of the registry with packages of npm.
    fn read_with_node(&self, digest: &str) -> anyhow::Result<()> {
        let packages = Packages::install("packages", &PACKAGES)?;
        let scripts = root().join("tests/clients");
        let script = packages.adopt(&scripts, "check_packages.mjs")?;
        let mut node = Command::new(packages.node());
        node.arg(script)
            .arg(self.home.path())
            .arg(self.registry.address.to_string())
            .args([REPOSITORY, digest])
            .env("NODE_EXTRA_CA_CERTS", &self.registry.ca);
        run(&mut node)
    }

    /// Reads the image with the library of `wkg`.
    fn read_with_oci_wasm(&self) -> anyhow::Result<()> {
        let manifest = root().join("tests/clients/with_oci_wasm/Cargo.toml");
        let folder = target().join("with_oci_wasm");
        let mut read = cargo(&["run", "--quiet", "--locked", "--manifest-path"]);
        read.arg(manifest).arg("--target-dir").arg(folder).arg("--");
        read.arg(format!("{}/{REPOSITORY}:0.1.0", self.registry.address));
        read.arg(self.file("greet.wasm"));
        run(read.env("SSL_CERT_FILE", &self.registry.ca))
    }

    /// Lets hyper-mcp load the image, and calls its tool.
    fn call_with_hyper_mcp(&self, hyper_mcp: &Path) -> anyhow::Result<()> {
        let url = format!("oci://{}/{REPOSITORY}:0.1.0", self.registry.address);
        let config = json!({
            "oci": { "insecure_skip_signature": true, "use_sigstore_tuf_data": false },
            "plugins": { "p": { "url": url } },
        });
        fs::write(self.file("hyper-mcp.json"), config.to_string())?;
        let mut client = Command::new(program("mcp-client"));
        client
            .args(["p-greet", r#"{"name":"world"}"#, "--"])
            .arg(hyper_mcp)
            .arg("--config-file")
            .arg(self.file("hyper-mcp.json"))
            .env("HOME", self.home.path())
            .env("XDG_CACHE_HOME", self.file("cache"))
            .env("SSL_CERT_FILE", &self.registry.ca);
        let printed = output(&mut client)?;
        ensure!(printed.contains("Hello, world!"), "{printed}");
        println!("works: hyper-mcp loads the image and calls its tool");
        Ok(())
    }
}
