//! The manifest of `deploy`: its container is started with its arguments and files, and answers its probes.

use std::{
    fs,
    net::TcpListener,
    process::{Child, Command, Stdio},
};

use puppet::eventually_blocking;
use saphyr::{LoadableYamlNode as _, Yaml};
use wire::Http;

use super::{folder, text};

/// The document of this kind.
fn document<'y>(all: &'y [Yaml<'y>], kind: &str) -> &'y Yaml<'y> {
    let mut all = all.iter();
    let found = all.find(|one| one["kind"].as_str() == Some(kind));
    found.unwrap_or_else(|| panic!("no {kind}"))
}

fn free_port() -> u16 {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    free.local_addr().expect("an address").port()
}

#[test]
fn the_container_answers_its_probes() {
    let manifest = text("kubernetes.yaml");
    let all = Yaml::load_from_str(&manifest).expect("YAML");
    let config = document(&all, "ConfigMap")["data"]["servlet.toml"].as_str();
    let pod = &document(&all, "Deployment")["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let folder = folder::folder("");
    for name in ["cache", "secrets", "etc"] {
        fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    let key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    fs::write(folder.path().join("secrets/state.key"), key).expect("a file");
    let (port, operations) = (free_port(), free_port());
    // The paths and ports of the container, on this machine.
    let here = |text: &str| {
        let place = |name: &str| folder.path().join(name).display().to_string();
        text.replace("/run/secrets/servlet", &place("secrets"))
            .replace("/servlets/weather.wasm", &place("a.wasm"))
            .replace("\"/cache\"", &format!("\"{}\"", place("cache")))
            .replace("/etc/servlet", &place("etc"))
            .replace("0.0.0.0:8080", &format!("127.0.0.1:{port}"))
            .replace("0.0.0.0:9090", &format!("127.0.0.1:{operations}"))
    };
    let config = here(config.expect("a configuration"));
    fs::write(folder.path().join("etc/servlet.toml"), config).expect("a file");
    let arguments = container["args"].as_sequence().expect("arguments");
    let arguments = arguments
        .iter()
        .map(|one| here(one.as_str().expect("text")));
    let server = Command::new(env!("CARGO_BIN_EXE_servlet"))
        .args(arguments)
        .stderr(Stdio::null())
        .spawn()
        .expect("a server");
    let _server = Killed(server);
    let server = Http::new(format!("http://127.0.0.1:{operations}/"));
    for probe in ["livenessProbe", "readinessProbe"] {
        let get = &container[probe]["httpGet"];
        assert_eq!(get["port"].as_integer(), Some(9090), "{probe}");
        let path = get["path"].as_str().expect("a path");
        eventually_blocking(probe, || {
            let asked = server.at(path).try_send("GET", "");
            asked.is_ok_and(|answer| answer.status() == 200)
        });
    }
    let scaler = &document(&all, "HorizontalPodAutoscaler")["spec"];
    let metric = scaler["metrics"][0]["pods"]["metric"]["name"].as_str();
    let metric = format!("# TYPE {} gauge\n", metric.expect("a metric"));
    let answer = server.at("/metrics").get();
    let metrics = answer.text();
    assert!(metrics.contains(&metric), "{metric}: {metrics}");
    let target = &scaler["scaleTargetRef"]["name"];
    assert_eq!(target, &document(&all, "Deployment")["metadata"]["name"]);
    let grace = pod["terminationGracePeriodSeconds"].as_integer();
    assert!(grace > Some(15), "longer than `leave` and the end of calls");
    let service = &document(&all, "Service")["spec"]["ports"][0];
    assert_eq!(service["targetPort"].as_integer(), Some(8080));
}

/// A process that ends with the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
