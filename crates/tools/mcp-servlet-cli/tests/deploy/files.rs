//! What HAProxy, nginx and systemd say about their files.

use std::{fs, process::Command};

use puppet::is_installed;

use super::{accepts, deployed, text};

#[test]
fn haproxy_accepts_its_configuration() {
    if is_installed("haproxy") {
        accepts(
            Command::new("haproxy")
                .arg("-c")
                .arg("-f")
                .arg(deployed("haproxy.cfg")),
        );
    }
}

#[test]
fn nginx_accepts_its_configuration() {
    if !is_installed("nginx") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let pid = format!("pid {}/nginx.pid;", folder.path().display());
    let mut nginx = Command::new("nginx");
    nginx.arg("-t").args(["-e", "stderr", "-g", &pid]);
    accepts(
        nginx
            .arg("-p")
            .arg(folder.path())
            .arg("-c")
            .arg(deployed("nginx.conf")),
    );
}

#[test]
fn systemd_accepts_the_unit() {
    if !is_installed("systemd-analyze") {
        return;
    }
    // It looks whether the command exists.
    let folder = tempfile::tempdir().expect("a folder");
    let unit = text("servlet.service").replace("/usr/bin/servlet", env!("CARGO_BIN_EXE_servlet"));
    let path = folder.path().join("servlet.service");
    fs::write(&path, unit).expect("a file");
    accepts(Command::new("systemd-analyze").arg("verify").arg(&path));
}

#[test]
fn the_configuration_behind_the_load_balancers_is_valid() {
    let folder = super::folder::folder(&text("servlet.toml"));
    let key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
    fs::write(folder.path().join("state.key"), key).expect("a file");
    fs::rename(
        folder.path().join("a.wasm"),
        folder.path().join("weather.wasm"),
    )
    .expect("a file");
    let mut check = Command::new(env!("CARGO_BIN_EXE_servlet"));
    accepts(
        check
            .args(["config", "check", "servlet.toml", "--load"])
            .current_dir(&folder),
    );
}
