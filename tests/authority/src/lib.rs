//! A certificate authority for tests of TLS.

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType,
    IsCa, KeyIdMethod, KeyPair, KeyUsagePurpose, RevocationReason, RevokedCertParams, SanType,
    SerialNumber, date_time_ymd,
};

/// A certificate authority. Its functions panic if they fail.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// An authority with a key of its own.
    #[expect(clippy::new_without_default, reason = "each has another key")]
    pub fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let params = params("authority of the test");
        Self(CertifiedIssuer::self_signed(params, key).expect("a certificate"))
    }

    /// An authority whose certificate this one has signed, with a serial number.
    #[must_use]
    pub fn intermediate(&self, serial: u8) -> Self {
        let mut params = params("intermediate authority of the test");
        params.serial_number = Some(SerialNumber::from_slice(&[serial]));
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::signed_by(params, key, &self.0).expect("a certificate"))
    }

    /// Its own certificate in PEM.
    pub fn root(&self) -> String {
        self.0.pem()
    }

    /// A certificate for this machine with a serial number, and its key, both in PEM.
    pub fn sign(&self, serial: u8) -> (String, String) {
        let params = CertificateParams::new(["127.0.0.1".to_owned()]);
        self.sign_with(serial, params.expect("an address"))
    }

    /// The same, until the end of this day.
    pub fn sign_until(&self, serial: u8, (year, month, day): (i32, u8, u8)) -> (String, String) {
        let params = CertificateParams::new(["127.0.0.1".to_owned()]);
        let mut params = params.expect("an address");
        params.not_after = date_time_ymd(year, month, day);
        self.sign_with(serial, params)
    }

    /// The same for a client with this URI as its name.
    pub fn sign_for(&self, serial: u8, uri: &str) -> (String, String) {
        let uri = uri.try_into().expect("ASCII");
        let mut params = CertificateParams::default();
        params.subject_alt_names = vec![SanType::URI(uri)];
        self.sign_with(serial, params)
    }

    fn sign_with(&self, serial: u8, mut params: CertificateParams) -> (String, String) {
        params.serial_number = Some(SerialNumber::from_slice(&[serial]));
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    }

    /// A list in PEM that revokes the certificates with these serial numbers.
    pub fn revoked(&self, serials: &[u8]) -> String {
        self.revoked_until(serials, 2124)
    }

    /// The same list, which expires in this year.
    pub fn revoked_until(&self, serials: &[u8], year: i32) -> String {
        let revoked = serials.iter().map(|serial| RevokedCertParams {
            serial_number: SerialNumber::from_slice(&[*serial]),
            revocation_time: date_time_ymd(2024, 1, 1),
            reason_code: Some(RevocationReason::KeyCompromise),
            invalidity_date: None,
        });
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(year, 1, 1),
            crl_number: SerialNumber::from_slice(&[1]),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let list = params.signed_by(&self.0).expect("a list");
        list.pem().expect("PEM")
    }
}

/// The parameters of an authority with this name.
fn params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}
