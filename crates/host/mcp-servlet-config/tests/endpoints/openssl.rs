//! Listeners with TLS, as `openssl s_client` sees them.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use puppet::{eventually, is_installed};
use test_authority::Authority;
use wire::{
    Http,
    message::{HANDSHAKE, initialize},
};

use crate::{
    site::Site,
    tls::{FILES, address_of, config, start},
};

/// How OpenSSL is allowed to use TLS 1.1 at all.
const OLD: [&str; 2] = ["-cipher", "DEFAULT:@SECLEVEL=0"];

/// What `openssl s_client` prints. It trusts `root.pem`, and asks for `/health` if the handshake succeeds.
fn s_client(site: &Site, options: &[&str]) -> String {
    let address = address_of(site);
    let request = format!("GET /health HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    exchange(site, options, &request)
}

/// The same with another request.
fn exchange(site: &Site, options: &[&str], request: &str) -> String {
    let mut client = Command::new("openssl")
        .args(["s_client", "-connect", address_of(site), "-ign_eof"])
        .args(["-CAfile", "root.pem", "-verify_return_error"])
        .args(["-verify_ip", "127.0.0.1"])
        .args(options)
        .current_dir(site.path("."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it is installed");
    let mut stdin = client.stdin.take().expect("it is piped");
    // A client whose handshake fails ends without reading this.
    let _ = stdin.write_all(request.as_bytes());
    drop(stdin);
    let output = client.wait_with_output().expect("it ends");
    let printed = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&printed).into_owned()
}

/// Whether the server has answered the request.
fn is_answered(printed: &str) -> bool {
    printed.contains("HTTP/1.1 200 OK")
}

/// Fails unless `openssl s_client` gets an answer, and prints this.
fn accepts(site: &Site, options: &[&str], says: &str) {
    let printed = s_client(site, options);
    let is_well = is_answered(&printed) && printed.contains(says);
    assert!(
        is_well,
        "{options:?} has no answer or no `{says}`: {printed}"
    );
}

/// Fails unless the server refuses `openssl s_client` with this alert.
fn refuses(site: &Site, options: &[&str], alert: &str) {
    let printed = s_client(site, options);
    let is_refused = !is_answered(&printed) && printed.contains(alert);
    assert!(
        is_refused,
        "{options:?} has an answer or no `{alert}`: {printed}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_need_tls_1_2_or_1_3() {
    if !is_installed("openssl") {
        return;
    }
    let authority = Authority::new();
    let old = [&["-tls1_1"], &OLD[..]].concat();
    let site = start(&authority, FILES).await;
    refuses(&site, &old, "alert handshake failure");
    accepts(&site, &["-tls1_2"], "New, TLSv1.2, Cipher is ECDHE-");
    accepts(&site, &["-tls1_3"], "New, TLSv1.3, Cipher is TLS_");
    let newer = start(&authority, &format!("{FILES}, min = \"1.3\"")).await;
    refuses(&newer, &old, "alert handshake failure");
    refuses(&newer, &["-tls1_2"], "alert protocol version");
    accepts(&newer, &["-tls1_3"], "New, TLSv1.3, Cipher is TLS_");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_handshake_chooses_the_protocol_of_http() {
    if !is_installed("openssl") {
        return;
    }
    let authority = Authority::new();
    let both = ["-alpn", "h2,http/1.1"];
    let site = start(&authority, FILES).await;
    let printed = s_client(&site, &both);
    assert!(printed.contains("ALPN protocol: h2"), "{printed}");
    accepts(&site, &["-alpn", "http/1.1"], "ALPN protocol: http/1.1");
    accepts(&site, &[], "No ALPN negotiated");
    let older = start(&authority, &format!("{FILES}, http2 = false")).await;
    accepts(&older, &both, "ALPN protocol: http/1.1");
}

/// Writes a certificate for a client with this serial number, and returns the options that show it.
fn certificate(site: &Site, authority: &Authority, serial: u8) -> [&'static str; 4] {
    shown(site, authority.sign(serial))
}

/// Writes a certificate and its key, and returns the options that show it.
fn shown(site: &Site, (cert, key): (String, String)) -> [&'static str; 4] {
    site.write("client.pem", cert);
    site.write("client.key", key);
    ["-cert", "client.pem", "-key", "client.key"]
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_may_or_must_have_a_certificate() {
    if !is_installed("openssl") {
        return;
    }
    let authority = Authority::new();
    let none = start(&authority, FILES).await;
    accepts(&none, &[], "No client certificate CA names sent");
    let clients = |more: &str| {
        format!("{FILES}, clients = {{ ca = \"root.pem\", crl = [\"revoked.pem\"]{more} }}")
    };
    let optional = start(&authority, &clients(", required = false")).await;
    let required = start(&authority, &clients("")).await;
    for version in ["-tls1_2", "-tls1_3"] {
        let with = |shown: [&'static str; 4]| [&[version][..], &shown].concat();
        for (site, is_required) in [(&optional, false), (&required, true)] {
            if is_required {
                refuses(site, &[version], "alert certificate required");
            } else {
                accepts(site, &[version], "Acceptable client certificate CA names");
            }
            accepts(
                site,
                &with(certificate(site, &authority, 2)),
                "Acceptable client certificate CA names",
            );
            let revoked = with(certificate(site, &authority, 3));
            refuses(site, &revoked, "alert certificate revoked");
            let foreign = with(certificate(site, &Authority::new(), 2));
            refuses(site, &foreign, "alert");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_is_revoked_later_cannot_resume_its_session() {
    if !is_installed("openssl") {
        return;
    }
    let authority = Authority::new();
    let clients = format!("{FILES}, clients = {{ ca = \"root.pem\", crl = [\"revoked.pem\"] }}");
    for version in ["-tls1_2", "-tls1_3"] {
        let site = start(&authority, &clients).await;
        let shown = certificate(&site, &authority, 2);
        let with = |more: &[&'static str]| [&[version], &shown[..], more].concat();
        // With TLS 1.3, each can be resumed once.
        for session in ["first.pem", "second.pem"] {
            accepts(&site, &with(&["-sess_out", session]), "New, TLSv1");
        }
        accepts(&site, &with(&["-sess_in", "first.pem"]), "Reused, TLSv1");
        site.write("revoked.pem", authority.revoked(&[2, 3]));
        eventually("the replaced list", async || {
            !is_answered(&s_client(&site, &with(&[])))
        })
        .await;
        let resumed = with(&["-sess_in", "second.pem"]);
        refuses(&site, &resumed, "alert certificate revoked");
    }
}

/// The response to a client that opens a session, without what `openssl` says itself.
fn open(site: &Site, options: &[&str]) -> String {
    let client = Http::new(format!("http://{}/mcp", address_of(site)));
    let printed = exchange(site, options, &client.posted(&initialize(HANDSHAKE)));
    let response = printed.find("HTTP/1.1 ").map(|at| &printed[at..]);
    let response = response.unwrap_or_else(|| panic!("no response: {printed}"));
    response.to_lowercase()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_decides_about_a_session_and_is_in_headers() {
    if !is_installed("openssl") {
        return;
    }
    let authority = Authority::new();
    let clients = format!("{FILES}, clients = {{ ca = \"root.pem\" }}");
    let config = format!(
        "{}auth = \"agents\"\nheaders = {{ x-user = \"${{{{ caller.subject }}}} ${{{{ caller.certificate.serial }}}}\" }}\n\
         reject = [{{ when = \"${{{{ caller.certificate.serial == '08' }}}}\", status = 410, message = \"no longer served\", \
         headers = {{ retry-after = \"86400\" }} }}]\n\
         [auth.agents]\ncertificate = {{ subject = \"san:uri\" }}\n",
        config(&clients)
    );
    let (cert, key) = authority.sign(1);
    let files = [
        ("cert.pem", cert),
        ("key.pem", key),
        ("root.pem", authority.root()),
    ];
    let files = files
        .each_ref()
        .map(|(name, text)| (*name, text.as_bytes()));
    let site = Site::start(&config, &files).await;
    let agent = |serial| shown(&site, authority.sign_for(serial, "urn:agent:7"));
    let served = open(&site, &agent(7));
    assert!(served.starts_with("http/1.1 200 ok\r\n"), "{served}");
    assert!(
        served.contains("\r\nx-user: urn:agent:7 07\r\n"),
        "{served}"
    );
    assert!(served.contains("\r\nmcp-session-id: "), "{served}");
    let rejected = open(&site, &agent(8));
    assert!(rejected.starts_with("http/1.1 410 gone\r\n"), "{rejected}");
    assert!(
        rejected.contains("\r\nretry-after: 86400\r\n"),
        "{rejected}"
    );
    assert!(rejected.contains("no longer served"), "{rejected}");
    assert!(!rejected.contains("mcp-session-id"), "{rejected}");
    let sessions = "servlet_sessions{endpoint=\"web\"} 1\n";
    assert!(site.service.metrics().contains(sessions));
}
