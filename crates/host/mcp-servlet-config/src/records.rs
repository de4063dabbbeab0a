//! The audit log and the traces: what a file says about them, checked.

use std::path::Path;

use mcp_servlet_access::Secret;
use mcp_servlet_call::Limit;
use mcp_servlet_server::{
    RecordOptions, StateKeys, TraceOptions,
    audit::{ArgumentsAs, AuditOptions, AuditTarget, DigestKey, MaskPath},
    header_name,
};
use toml::Spanned;
use url::Url;

use super::{
    Mode, Reader,
    file::{ArgumentsAre, AuditSection, File, TracesSection},
};

/// How many renamed files are kept.
const DEFAULT_KEPT_FILES: u32 = 10;
/// The smallest size at which a file is renamed: a line has up to 8 KiB.
const MIN_ROTATE: u64 = 64 << 10;
/// How short a secret may be, in bytes.
const MIN_SECRET: usize = 16;

impl Reader<'_> {
    /// What is recorded of requests.
    pub(super) fn records(&mut self, file: &File, keys: Option<&StateKeys>) -> RecordOptions {
        let audit = file.audit.as_ref();
        let mut records = RecordOptions::default();
        records.audit = audit.map(|section| self.audit(section.get_ref(), keys));
        let traces = file.traces.as_ref();
        let service = file.server.name.as_deref().unwrap_or("mcp-servlet");
        records.traces = traces.and_then(|section| self.traces(section.get_ref(), service));
        records
    }

    fn audit(&mut self, section: &AuditSection, keys: Option<&StateKeys>) -> AuditOptions {
        let to = match section.to.get_ref().as_str() {
            "stderr" => AuditTarget::Stderr,
            path => AuditTarget::File(self.folder.join(path)),
        };
        if let AuditTarget::File(path) = &to {
            self.audit_folder(&section.to, path);
        } else {
            let rotate = section.rotate.as_ref().map(Spanned::span);
            let keys = [rotate, section.keep.as_ref().map(Spanned::span)];
            for key in keys.into_iter().flatten() {
                self.problem(
                    key,
                    "`rotate` and `keep` need a file, but `to` is `stderr`".to_owned(),
                );
            }
        }
        let rotate = section
            .rotate
            .as_ref()
            .and_then(|given| match given.get_ref() {
                Limit::At(size) if *size < MIN_ROTATE => {
                    self.problem(
                        given.span(),
                        "expected at least 64KiB, or `none`".to_owned(),
                    );
                    None
                }
                Limit::At(size) => Some(*size),
                _ => None,
            });
        if let Some(keep) = section.keep.as_ref().filter(|_| section.rotate.is_none()) {
            let message = "`keep` needs `rotate`";
            self.problem(keep.span(), message.to_owned());
        }
        let keep = section.keep.as_ref();
        AuditOptions {
            to,
            rotate,
            keep: keep.map_or(DEFAULT_KEPT_FILES, |keep| {
                u32::try_from(keep.get_ref().0).unwrap_or(DEFAULT_KEPT_FILES)
            }),
            full: section.full.into(),
            arguments: self.arguments_of_audit(section, keys),
            lists: section.lists,
        }
    }

    /// Reports a folder that does not exist.
    fn audit_folder(&mut self, given: &Spanned<String>, path: &Path) {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        if self.mode == Mode::Check
            && let Some(folder) = folder.filter(|folder| !folder.is_dir())
        {
            let message = format!("there is no directory `{}`", folder.display());
            self.problem(given.span(), message);
        }
    }

    fn arguments_of_audit(
        &mut self,
        section: &AuditSection,
        keys: Option<&StateKeys>,
    ) -> ArgumentsAs {
        let (mask, secret) = (&section.mask, &section.secret);
        if let Some(mask) = mask
            .as_ref()
            .filter(|_| section.arguments != ArgumentsAre::Text)
        {
            let message = "`mask` is for `arguments = \"text\"`";
            self.problem(mask.span(), message.to_owned());
        }
        if let Some(secret) = secret
            .as_ref()
            .filter(|_| section.arguments != ArgumentsAre::Digest)
        {
            let message = "`secret` is for `arguments = \"digest\"`";
            self.problem(secret.span(), message.to_owned());
        }
        match section.arguments {
            ArgumentsAre::None => ArgumentsAs::None,
            ArgumentsAre::Digest => ArgumentsAs::Digest(match (secret, keys) {
                (Some(secret), _) => self.digest_key(secret),
                (None, Some(keys)) => keys.digest_key(),
                (None, None) => DigestKey::random(),
            }),
            ArgumentsAre::Text => {
                let paths = mask.iter().flat_map(Spanned::get_ref);
                let mut masks = Vec::new();
                for path in paths {
                    let read = MaskPath::new(path.get_ref());
                    if read.is_none() {
                        let found = path.get_ref();
                        let message = format!(
                            "expected a path such as `to.iban` or `items[].sku`, found `{found}`"
                        );
                        self.problem(path.span(), message);
                    }
                    masks.extend(read);
                }
                ArgumentsAs::Text(masks)
            }
        }
    }

    fn digest_key(&mut self, given: &Spanned<String>) -> DigestKey {
        let Some(secret) = self.expanded(given) else {
            return DigestKey::random();
        };
        if secret.len() < MIN_SECRET && matches!(self.mode, Mode::Check | Mode::Load) {
            let message = format!("expected a secret of at least {MIN_SECRET} bytes");
            self.problem(given.span(), message);
        }
        DigestKey::derived(secret.as_bytes())
    }

    fn traces(&mut self, section: &TracesSection, service: &str) -> Option<TraceOptions> {
        let url = self.https(&section.otlp)?;
        if url.trim_end_matches('/').ends_with("/v1/traces") {
            let message = "leave `/v1/traces` out: the server adds it";
            self.problem(section.otlp.span(), message.to_owned());
        }
        let mut headers = Vec::new();
        for (name, value) in &section.headers {
            if let Err(problem) = header_name(name) {
                self.problem(value.span(), problem);
            }
            let expanded = self.expanded(value);
            headers.extend(expanded.map(|value| (name.clone(), Secret(value))));
        }
        let sample = section.sample.as_ref();
        let share = sample.map_or(1.0, |sample| *sample.get_ref());
        if let Some(sample) = sample.filter(|_| !(0.0..=1.0).contains(&share)) {
            let message = format!("expected a share from 0 to 1, such as 0.1, found {share}");
            self.problem(sample.span(), message);
        }
        Some(TraceOptions {
            collector: Url::parse(&url).ok()?,
            headers,
            ca: section.tls.ca.as_ref().map(|ca| self.ca(ca)),
            sample: share,
            trust: section.trust.into(),
            service: section
                .service
                .clone()
                .unwrap_or_else(|| service.to_owned()),
        })
    }
}
