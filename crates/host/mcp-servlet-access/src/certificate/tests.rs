//! One certificate that has all parts. `openssl x509 -text -nameopt RFC2253` has written `agent.txt` from it.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};

use super::{Certificate, CertificateName};

const PEM: &str = include_str!("tests/agent.pem");
const TEXT: &str = include_str!("tests/agent.txt");
const SHA256: &str = "467231fe1b72b2f1dd032e5604dc9619946d03fa3026e3dec744d3aeea1910dc";

fn agent() -> Certificate {
    let lines = PEM.lines().filter(|line| !line.starts_with('-'));
    let der = BASE64_STANDARD.decode(lines.collect::<String>());
    Certificate::of_der(&der.expect("base64"))
}

#[test]
fn a_certificate_has_the_parts_that_openssl_shows() {
    let details = Value::from(agent().details().clone());
    let text = |name: &str| details[name].as_str().expect(name).to_owned();
    let lines = [
        format!("Subject: {}\n", text("subject")),
        format!("Issuer: {}\n", text("issuer")),
        format!("(0x{})\n", text("serial")),
        format!("Signature Algorithm: {}\n", text("signature_algorithm")),
        format!("Version: {} ", details["version"]),
        format!("Public-Key: ({} bit)\n", details["public_key"]["bits"]),
    ];
    for line in lines {
        assert!(TEXT.contains(&line), "{TEXT}\nhas no\n{line}");
    }
    let times = (text("not_before"), text("not_after"));
    let expected = ("2026-11-28T08:04:02Z", "2126-11-04T08:04:02Z");
    assert_eq!((&*times.0, &*times.1), expected);
    assert_eq!(
        text("subject"),
        r"CN=build agent 7,OU=Machines,O=Acme\, Inc.,C=DE"
    );
    assert_eq!(text("common_name"), "build agent 7");
    assert_eq!(text("issuer_common_name"), "Acme Root");
    assert_eq!(text("sha256"), SHA256);
    assert_eq!(text("pem"), PEM);
    assert_eq!(details["public_key"]["algorithm"], "EC");
    let usages = json!(["digitalSignature", "keyAgreement", "keyCertSign"]);
    assert_eq!(details["key_usage"], usages);
    let usages = json!(["clientAuth", "emailProtection", "1.3.6.1.4.1.311.20.2.2"]);
    assert_eq!(details["extended_key_usage"], usages);
    let constraints = json!({ "ca": true, "path_length": 2 });
    assert_eq!(details["basic_constraints"], constraints);
}

#[test]
fn alternative_names_and_extensions_are_lists() {
    let details = Value::from(agent().details().clone());
    let names = json!([
        { "type": "dns", "value": "agent.acme.example" },
        { "type": "uri", "value": "spiffe://acme.example/agent/7" },
        { "type": "email", "value": "agent@acme.example" },
        { "type": "ip", "value": "192.0.2.7" },
        { "type": "ip", "value": "2001:db8::7" },
        { "type": "registered_id", "value": "1.2.3.4" },
    ]);
    assert_eq!(details["sans"], names);
    let extensions = details["extensions"].as_array().expect("a list");
    assert_eq!(extensions.len(), 6);
    let constraints = json!({ "oid": "2.5.29.19", "critical": true, "value": "MAYBAf8CAQI=" });
    assert_eq!(extensions[0], constraints);
    assert_eq!(extensions[3]["critical"], false);
}

#[test]
fn all_parts_are_listed() {
    let certificate = agent();
    let names: Vec<_> = certificate.details().keys().map(String::as_str).collect();
    assert_eq!(names, Certificate::DETAILS);
}

#[test]
fn a_caller_is_named_by_one_part() {
    let certificate = agent();
    for (part, name) in [
        (CertificateName::Dns, "agent.acme.example"),
        (CertificateName::Uri, "spiffe://acme.example/agent/7"),
        (CertificateName::Email, "agent@acme.example"),
        (CertificateName::CommonName, "build agent 7"),
        (CertificateName::Sha256, SHA256),
    ] {
        assert_eq!(certificate.name(part).as_deref(), Some(name));
    }
}

#[test]
fn what_cannot_be_read_is_left_out() {
    let certificate = Certificate::of_der(b"no certificate");
    let names: Vec<_> = certificate.details().keys().map(String::as_str).collect();
    assert_eq!(names, ["sha256", "pem"]);
    assert_eq!(certificate.name(CertificateName::CommonName), None);
}
