//! Sessions over TLS, with certificates made by the test.

use std::path::Path;

use mcp_servlet_client::{Error, ErrorKind, Http, Session, TargetError, Tls, TlsVersion};

use crate::authority::{Authority, SERVER};
use crate::support::count_tools;

async fn connect(url: &str, tls: Tls) -> Result<Session, Error> {
    let http = Http::new(url).expect("a URL").tls(tls);
    Session::connect(&http.into()).await
}

fn trusting(roots: &Path) -> Tls {
    Tls::default().roots(roots).expect("a certificate")
}

#[tokio::test]
async fn a_server_is_reached_if_its_authority_is_trusted() {
    let authority = Authority::new();
    let url = authority.serve(false).await;
    let session = connect(&url, trusting(&authority.roots()))
        .await
        .expect("a session");
    assert_eq!(count_tools(&session).await, 1);
}

#[tokio::test]
async fn a_server_of_another_authority_is_refused() {
    let url = Authority::new().serve(false).await;
    for tls in [Tls::default(), trusting(&Authority::new().roots())] {
        let error = connect(&url, tls).await.expect_err("another authority");
        assert_eq!(error.kind(), ErrorKind::Connectivity);
        assert!(error.message().contains("certificate"), "{error}");
        let help = error.help().expect("help");
        assert!(help.contains("`--tls-ca FILE`"), "{help}");
    }
}

#[tokio::test]
async fn a_revoked_certificate_is_refused() {
    let authority = Authority::new();
    let url = authority.serve(false).await;
    let tls = |serials| {
        trusting(&authority.roots())
            .revoked(authority.revoked(serials))
            .expect("a list")
    };
    connect(&url, tls(&[SERVER + 1])).await.expect("a session");
    let error = connect(&url, tls(&[SERVER]))
        .await
        .expect_err("a revoked certificate");
    assert_eq!(error.kind(), ErrorKind::Connectivity);
    assert!(
        error.message().to_lowercase().contains("revoked"),
        "{error}"
    );
}

#[tokio::test]
async fn a_client_identifies_itself_with_a_certificate() {
    let authority = Authority::new();
    let url = authority.serve(true).await;
    let (certificate, key) = authority.client();
    let tls = trusting(&authority.roots())
        .identity(certificate, key)
        .expect("an identity");
    connect(&url, tls).await.expect("a session");
    let error = connect(&url, trusting(&authority.roots())).await;
    let error = error.expect_err("no certificate");
    assert_eq!(error.kind(), ErrorKind::Connectivity);
    let help = error.help().expect("help");
    assert!(help.contains("`--tls-cert FILE"), "{error}");
}

#[tokio::test]
async fn the_least_version_is_kept() {
    let authority = Authority::new();
    let url = authority.serve(false).await;
    let tls = |version| trusting(&authority.roots()).least_version(version);
    connect(&url, tls(TlsVersion::Tls12))
        .await
        .expect("a session");
    let error = connect(&url, tls(TlsVersion::Tls13))
        .await
        .expect_err("TLS 1.2");
    assert_eq!(error.kind(), ErrorKind::Connectivity);
}

#[tokio::test]
async fn any_certificate_can_be_accepted() {
    let url = Authority::new().serve(false).await;
    let tls = Tls::default().accept_invalid_certificates();
    connect(&url, tls).await.expect("a session");
}

#[test]
fn files_without_certificates_are_named() {
    let authority = Authority::new();
    let empty = authority.write("empty.pem", "");
    let missing = authority.folder.path().join("missing.pem");
    for (result, text) in [
        (
            Tls::default().roots(&empty),
            "empty.pem` has no valid certificate in PEM",
        ),
        (
            Tls::default().revoked(&empty),
            "empty.pem` has no valid list of revoked certificates in PEM",
        ),
        (
            Tls::default().identity(&empty, &empty),
            "empty.pem` has no valid certificate with a key in PEM",
        ),
        (Tls::default().roots(&missing), "cannot read `"),
    ] {
        let error: TargetError = result.expect_err("no file");
        assert!(error.to_string().contains(text), "{error}");
    }
}
