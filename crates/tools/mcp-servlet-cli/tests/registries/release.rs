//! The workflow of a new project: its commands test, build and release the servlet.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use e2e::{root, target};
use mcp_servlet_oci::Digest;
use serde_json::Value;

use crate::{command, home, outcome, site::Site, success};

/// The steps that need another machine: they install the published command, and publish files.
const ELSEWHERE: [&str; 2] = ["Install servlet", "Publish on GitHub"];

/// A machine that runs the workflow.
struct Runner {
    variables: BTreeMap<&'static str, OsString>,
}

impl Runner {
    fn new(site: &Site, home: &Path) -> Self {
        let servlet = Path::new(env!("CARGO_BIN_EXE_servlet"));
        let folders = env::var_os("PATH").unwrap_or_default();
        let folders = servlet
            .parent()
            .into_iter()
            .map(PathBuf::from)
            .chain(env::split_paths(&folders));
        let key = fs::read_to_string(home.join("servlet.key")).expect("a key");
        Self {
            variables: BTreeMap::from([
                ("PATH", env::join_paths(folders).expect("folders")),
                ("CARGO_TARGET_DIR", target().into()),
                ("CARGO_NET_OFFLINE", "true".into()),
                ("SSL_CERT_FILE", site.ca().into()),
                ("DOCKER_CONFIG", home.into()),
                ("XDG_CACHE_HOME", home.into()),
                ("GITHUB_REPOSITORY", "Ada/hello".into()),
                ("GITHUB_REPOSITORY_OWNER", "Ada".into()),
                ("GITHUB_REF_NAME", "v0.1.0".into()),
                ("WASM", "dist/hello.wasm".into()),
                ("BUNDLE", "dist/hello.mcpb".into()),
                ("REGISTRY", site.address.to_string().into()),
                ("SERVLET_KEY", key.into()),
            ]),
        }
    }

    /// Runs the commands of a job, as GitHub does. Each must succeed.
    fn run(&self, job: &Value, folder: &Path) {
        let variables = job["env"].as_object().into_iter().flatten();
        for (name, value) in variables.filter(|(name, _)| *name != "GH_TOKEN") {
            let value = value.as_str().expect("text");
            let here = self
                .variables
                .get(&**name)
                .expect("a variable of this machine");
            let is_other = value.contains("secrets.") || name == "REGISTRY";
            assert!(is_other || value == here, "{name}: {value}");
        }
        for step in job["steps"].as_array().expect("steps") {
            let name = step["name"].as_str().unwrap_or_default();
            let Some(line) = step["run"].as_str().filter(|_| !ELSEWHERE.contains(&name)) else {
                continue;
            };
            let mut bash = Command::new("bash");
            bash.args(["-e", "-o", "pipefail", "-c", line])
                .current_dir(folder)
                .envs(&self.variables)
                .stdin(Stdio::null());
            let (code, said) = outcome(&mut bash);
            assert_eq!(code, Some(0), "{line}\n{said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_workflow_of_a_new_project_tests_and_releases_it() {
    let (site, home) = (Site::start().await, home());
    success(&mut command(home.path(), &site.ca(), ["key", "new"]));
    let runner = Runner::new(&site, home.path());
    let outside = |program: &str, arguments: &[&str], folder: &Path| {
        let mut command = Command::new(program);
        success(
            command
                .args(arguments)
                .current_dir(folder)
                .envs(&runner.variables),
        )
    };
    let sdk = root().display().to_string();
    outside("servlet", &["new", "hello", "--sdk", &sdk], home.path());
    let project = home.path().join("hello");
    fs::copy(root().join("Cargo.lock"), project.join("Cargo.lock")).expect("a copy");
    outside("cargo", &["update", "--workspace"], &project);

    let workflow =
        fs::read_to_string(project.join(".github/workflows/ci.yml")).expect("a workflow");
    let workflow = xtp_codegen::to_json("ci.yml", &workflow).expect("YAML");
    let jobs = &workflow["jobs"];
    runner.run(&jobs["test"], &project);
    // The artefact is all that the second machine gets.
    let release = home.path().join("release");
    fs::create_dir(&release).expect("a folder");
    fs::rename(project.join("dist"), release.join("dist")).expect("a folder");
    runner.run(&jobs["release"], &release);

    let image = format!("oci://{}/ada/hello:0.1.0", site.address);
    let verified = ["verify", &image, "--key", "servlet.pub"];
    success(&mut command(home.path(), &site.ca(), verified));
    let file = |name: &str| fs::read(release.join("dist").join(name)).expect("a file");
    let server: Value = serde_json::from_slice(&file("server.json")).expect("JSON");
    assert_eq!(server["name"], "io.github.Ada/hello");
    let package = &server["packages"][0];
    assert_eq!(
        package["identifier"],
        "https://github.com/Ada/hello/releases/download/v0.1.0/hello.mcpb"
    );
    assert_eq!(package["fileSha256"], Digest::of(&file("hello.mcpb")).hex());
}
