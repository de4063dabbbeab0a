//! The parts of a certificate as JSON.

use std::net::{Ipv4Addr, Ipv6Addr};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use mcp_servlet_common::hex;
use mcp_servlet_schema::JsonObject;
use serde_json::{Value, json};
use x509_parser::{
    asn1_rs::Oid,
    certificate::X509Certificate,
    extensions::{ExtendedKeyUsage, GeneralName},
    time::ASN1Time,
    x509::{SubjectPublicKeyInfo, X509Name},
};

use super::distinguished_name;

/// The length of the lines of a file in PEM.
const PEM_LINE: usize = 64;

/// The names of key usages, in the order of their bits (RFC 5280, 4.2.1.3).
const KEY_USAGES: [&str; 9] = [
    "digitalSignature",
    "nonRepudiation",
    "keyEncipherment",
    "dataEncipherment",
    "keyAgreement",
    "keyCertSign",
    "cRLSign",
    "encipherOnly",
    "decipherOnly",
];

/// The names of common algorithms. Others are object identifiers.
const ALGORITHMS: [(&str, &str); 12] = [
    ("1.2.840.10045.2.1", "EC"),
    ("1.2.840.10045.4.3.2", "ecdsa-with-SHA256"),
    ("1.2.840.10045.4.3.3", "ecdsa-with-SHA384"),
    ("1.2.840.10045.4.3.4", "ecdsa-with-SHA512"),
    ("1.2.840.113549.1.1.1", "RSA"),
    ("1.2.840.113549.1.1.10", "rsassaPss"),
    ("1.2.840.113549.1.1.11", "sha256WithRSAEncryption"),
    ("1.2.840.113549.1.1.12", "sha384WithRSAEncryption"),
    ("1.2.840.113549.1.1.13", "sha512WithRSAEncryption"),
    ("1.3.101.112", ED25519),
    ("1.3.101.113", "ED448"),
    ("1.3.101.110", "X25519"),
];
const ED25519: &str = "ED25519";

/// Adds what a certificate says.
pub(super) fn add(details: &mut JsonObject, certificate: &X509Certificate<'_>) {
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            details.insert(name.to_owned(), value);
        }
    };
    let (subject, issuer) = (certificate.subject(), certificate.issuer());
    set("subject", distinguished_name::text(subject).into());
    set("common_name", common_name(subject));
    set("issuer", distinguished_name::text(issuer).into());
    set("issuer_common_name", common_name(issuer));
    set("sans", alternative_names(certificate).into());
    let raw_serial = certificate.raw_serial();
    // DER puts a zero before a number whose first bit is set.
    let serial = raw_serial.strip_prefix(&[0]).unwrap_or(raw_serial);
    set("serial", hex(serial).into());
    let validity = certificate.validity();
    set("not_before", time(&validity.not_before).into());
    set("not_after", time(&validity.not_after).into());
    if let Ok(Some(usage)) = certificate.key_usage() {
        set("key_usage", key_usages(usage.value.flags).into());
    }
    if let Ok(Some(usage)) = certificate.extended_key_usage() {
        set(
            "extended_key_usage",
            extended_key_usages(usage.value).into(),
        );
    }
    if let Ok(Some(constraints)) = certificate.basic_constraints() {
        let constraints = constraints.value;
        let mut json = json!({ "ca": constraints.ca });
        if let Some(length) = constraints.path_len_constraint {
            json["path_length"] = length.into();
        }
        set("basic_constraints", json);
    }
    let extensions = certificate.extensions().iter().map(|one| {
        json!({
            "oid": one.oid.to_id_string(),
            "critical": one.critical,
            "value": BASE64_STANDARD.encode(one.value),
        })
    });
    set("extensions", extensions.collect());
    set("public_key", public_key(certificate.public_key()));
    let algorithm = &certificate.signature_algorithm.algorithm;
    set(
        "signature_algorithm",
        algorithm_name(&algorithm.to_id_string()).into(),
    );
    set("version", certificate.version().0.saturating_add(1).into());
}

/// The certificate in PEM.
pub(super) fn pem(der: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(der);
    let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
    for line in text.as_bytes().chunks(PEM_LINE) {
        pem.push_str(&String::from_utf8_lossy(line));
        pem.push('\n');
    }
    pem + "-----END CERTIFICATE-----\n"
}

fn common_name(name: &X509Name<'_>) -> Value {
    let mut names = name.iter_common_name();
    let name = names.next().and_then(|name| name.as_str().ok());
    name.into()
}

fn alternative_names(certificate: &X509Certificate<'_>) -> Vec<Value> {
    let Ok(Some(names)) = certificate.subject_alternative_name() else {
        return Vec::new();
    };
    let names = names.value.general_names.iter();
    names
        .map(|name| {
            let (kind, value) = alternative_name(name);
            json!({ "type": kind, "value": value })
        })
        .collect()
}

fn alternative_name(name: &GeneralName<'_>) -> (&'static str, String) {
    match name {
        GeneralName::DNSName(name) => ("dns", (*name).to_owned()),
        GeneralName::URI(name) => ("uri", (*name).to_owned()),
        GeneralName::RFC822Name(name) => ("email", (*name).to_owned()),
        GeneralName::IPAddress(bytes) => ("ip", address(bytes)),
        GeneralName::DirectoryName(name) => ("directory", distinguished_name::text(name)),
        GeneralName::RegisteredID(id) => ("registered_id", id.to_id_string()),
        GeneralName::OtherName(id, value) => {
            let value = BASE64_STANDARD.encode(value);
            ("other", format!("{};{value}", id.to_id_string()))
        }
        GeneralName::X400Address(any) => ("x400", BASE64_STANDARD.encode(any.data)),
        GeneralName::EDIPartyName(any) => ("edi", BASE64_STANDARD.encode(any.data)),
        GeneralName::Invalid(_, bytes) => ("invalid", BASE64_STANDARD.encode(bytes)),
    }
}

fn address(bytes: &[u8]) -> String {
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        return Ipv4Addr::from(bytes).to_string();
    }
    match <[u8; 16]>::try_from(bytes) {
        Ok(bytes) => Ipv6Addr::from(bytes).to_string(),
        Err(_) => hex(bytes),
    }
}

/// A time in the form of RFC 3339.
fn time(time: &ASN1Time) -> String {
    let time = time.to_datetime();
    let (year, month, day) = (time.year(), u8::from(time.month()), time.day());
    let (hour, minute, second) = time.to_hms();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

fn key_usages(flags: u16) -> Vec<&'static str> {
    let all = KEY_USAGES.into_iter().enumerate();
    let set = all.filter(|(bit, _)| flags >> bit & 1 == 1);
    set.map(|(_, name)| name).collect()
}

fn extended_key_usages(usage: &ExtendedKeyUsage<'_>) -> Vec<String> {
    let known = [
        (usage.any, "anyExtendedKeyUsage"),
        (usage.server_auth, "serverAuth"),
        (usage.client_auth, "clientAuth"),
        (usage.code_signing, "codeSigning"),
        (usage.email_protection, "emailProtection"),
        (usage.time_stamping, "timeStamping"),
        (usage.ocsp_signing, "OCSPSigning"),
    ]
    .into_iter()
    .filter(|(is_set, _)| *is_set)
    .map(|(_, name)| name.to_owned());
    let others = usage.other.iter().map(Oid::to_id_string);
    known.chain(others).collect()
}

fn public_key(key: &SubjectPublicKeyInfo<'_>) -> Value {
    let algorithm = algorithm_name(&key.algorithm.algorithm.to_id_string());
    let bits = match key.parsed().map_or(0, |key| key.key_size()) {
        0 if algorithm == ED25519 => 256,
        // Whole bytes: the only curve whose size is not a multiple of 8 is P-521.
        528 => 521,
        bits => bits,
    };
    let mut json = json!({ "algorithm": algorithm });
    if bits > 0 {
        json["bits"] = bits.into();
    }
    json
}

fn algorithm_name(id: &str) -> String {
    let known = ALGORITHMS.iter().find(|(known, _)| *known == id);
    known.map_or_else(|| id.to_owned(), |(_, name)| (*name).to_owned())
}
