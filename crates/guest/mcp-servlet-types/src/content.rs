//! Constructors of content blocks from text and raw bytes.

use std::time::SystemTime;

use crate::{
    Annotations, Content, ContentFeature, ContentType, Icon, RawJson, ResourceContents, Role,
};

impl Content {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::new(ContentType::Text)
        }
    }

    /// An image from the bytes of its file, such as a PNG with the MIME type `image/png`.
    pub fn image(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self {
            mime_type: Some(mime_type.into()),
            ..Self::binary(ContentType::Image, bytes)
        }
    }

    /// Sound from the bytes of its file, such as a WAV with the MIME type `audio/wav`.
    pub fn audio(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        ContentFeature::Audio.mark();
        Self {
            mime_type: Some(mime_type.into()),
            ..Self::binary(ContentType::Audio, bytes)
        }
    }

    /// The contents of a resource, embedded in the result.
    pub fn resource(contents: ResourceContents) -> Self {
        ContentFeature::Resource.mark();
        Self {
            resource: Some(contents),
            ..Self::new(ContentType::Resource)
        }
    }

    /// A link to a resource that the client may read.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        ContentFeature::ResourceLink.mark();
        Self {
            uri: Some(uri.into()),
            name: Some(name.into()),
            ..Self::new(ContentType::ResourceLink)
        }
    }

    /// A text resource, embedded in the result.
    pub fn text_resource(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::resource(ResourceContents::text(uri, text))
    }

    /// A binary resource, embedded in the result.
    pub fn blob_resource(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self::resource(ResourceContents::blob(uri, bytes))
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        self.if_type(ContentType::Text)?.text.as_deref()
    }

    /// An image in base64, and its media type.
    pub fn as_image(&self) -> Option<(&str, &str)> {
        self.if_type(ContentType::Image)?.data_and_type()
    }

    /// Audio in base64, and its media type.
    pub fn as_audio(&self) -> Option<(&str, &str)> {
        self.if_type(ContentType::Audio)?.data_and_type()
    }

    /// An embedded resource.
    pub fn as_resource(&self) -> Option<&ResourceContents> {
        self.if_type(ContentType::Resource)?.resource.as_ref()
    }

    /// The URI and the name of a linked resource.
    pub fn as_resource_link(&self) -> Option<(&str, &str)> {
        let link = self.if_type(ContentType::ResourceLink)?;
        Some((link.uri.as_deref()?, link.name.as_deref()?))
    }

    /// The same with hints for the client: audience, priority, time of the last change.
    #[must_use]
    pub fn with_annotations(self, annotations: Annotations) -> Self {
        Self {
            annotations: Some(annotations),
            ..self
        }
    }

    /// The same with icons, which clients show next to a resource link.
    #[must_use]
    pub fn with_icons(self, icons: impl IntoIterator<Item = Icon>) -> Self {
        Self {
            icons: Some(icons.into_iter().collect()),
            ..self
        }
    }

    /// The same with `_meta`, a JSON object whose keys clients and servers agreed on.
    #[must_use]
    pub fn with_meta(self, meta: RawJson) -> Self {
        Self {
            meta: Some(meta),
            ..self
        }
    }

    /// The same with the media type of the linked or embedded resource.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        match &mut self.resource {
            Some(resource) => resource.mime_type = Some(mime_type.into()),
            None => self.mime_type = Some(mime_type.into()),
        }
        self
    }

    fn if_type(&self, r#type: ContentType) -> Option<&Self> {
        (self.r#type == r#type).then_some(self)
    }

    fn data_and_type(&self) -> Option<(&str, &str)> {
        Some((self.data.as_deref()?, self.mime_type.as_deref()?))
    }

    fn binary(r#type: ContentType, bytes: &[u8]) -> Self {
        Self {
            data: Some(base64(bytes)),
            ..Self::new(r#type)
        }
    }
}

impl ResourceContents {
    /// A text resource.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::new(uri)
        }
    }

    /// A binary resource.
    pub fn blob(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self {
            blob: Some(base64(bytes)),
            ..Self::new(uri)
        }
    }

    /// The same with a media type.
    #[must_use]
    pub fn with_mime_type(self, mime_type: impl Into<String>) -> Self {
        Self {
            mime_type: Some(mime_type.into()),
            ..self
        }
    }

    /// The same with `_meta`, a JSON object whose keys clients and servers agreed on.
    #[must_use]
    pub fn with_meta(self, meta: RawJson) -> Self {
        Self {
            meta: Some(meta),
            ..self
        }
    }
}

impl Annotations {
    /// For the user only: the model need not read it.
    pub fn for_user() -> Self {
        Self::for_audience(Role::User)
    }

    /// For the model only: people need not see it.
    pub fn for_assistant() -> Self {
        Self::for_audience(Role::Assistant)
    }

    fn for_audience(role: Role) -> Self {
        ContentFeature::Audience.mark();
        Self {
            audience: Some(vec![role]),
            ..Self::default()
        }
    }

    /// The same with a priority: 0 is entirely optional, 1 is effectively required.
    ///
    /// MCP allows only numbers from 0 to 1. Numbers outside this range are clamped, and NaN means no priority.
    #[must_use]
    pub fn with_priority(self, priority: f32) -> Self {
        ContentFeature::Priority.mark();
        Self {
            priority: (!priority.is_nan()).then(|| priority.clamp(0.0, 1.0)),
            ..self
        }
    }

    /// The same with the time of the last change, in whole seconds.
    #[must_use]
    pub fn with_last_modified(self, when: SystemTime) -> Self {
        ContentFeature::LastModified.mark();
        Self {
            last_modified: Some(rfc_3339(when)),
            ..self
        }
    }
}

/// A time as in RFC 3339, in UTC, such as `2026-07-28T12:00:00Z`. Times before 1970 become its first second.
fn rfc_3339(when: SystemTime) -> String {
    let seconds = when
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let (year, month, day) = date(seconds / 86_400);
    let time = seconds % 86_400;
    let mut text = String::with_capacity(20);
    for (number, digits, end) in [
        (year, 4, '-'),
        (month, 2, '-'),
        (day, 2, 'T'),
        (time / 3600, 2, ':'),
        (time / 60 % 60, 2, ':'),
        (time % 60, 2, 'Z'),
    ] {
        for place in (0..digits).rev() {
            let digit = number / 10_u64.pow(place) % 10;
            text.extend(char::from_digit(u32::try_from(digit).unwrap_or(0), 10));
        }
        text.push(end);
    }
    text
}

/// Year, month and day for a number of days since 1970-01-01. Counts in years that begin in March.
fn date(day: u64) -> (u64, u64, u64) {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    // Day 0 becomes 0000-03-01, so that a leap day is the last of its year.
    let day = day + 719_468;
    let (era, day) = (day / DAYS_OF_400_YEARS, day % DAYS_OF_400_YEARS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, five months always have 153 days: 31, 30, 31, 30, 31.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (400 * era + year + later, month, day)
}

/// Base64 with the standard alphabet and padding, as MCP requires it (RFC 4648 §4).
pub fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let sextet = bits >> (18 - 6 * place) & 63;
            let is_padding = place > chunk.len();
            text.push(if is_padding {
                '='
            } else {
                char::from(ALPHABET[sextet as usize])
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{base64, rfc_3339};
    use crate::Annotations;

    #[test]
    fn times_are_written_as_in_rfc_3339() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_785_240_000, "2026-07-28T12:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            let when = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(rfc_3339(when), text);
        }
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(rfc_3339(before), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn priority_is_clamped_to_0_and_1() {
        for (given, kept) in [
            (0.5, Some(0.5)),
            (-1.0, Some(0.0)),
            (7.0, Some(1.0)),
            (f32::NAN, None),
        ] {
            assert_eq!(Annotations::for_user().with_priority(given).priority, kept);
        }
    }

    #[test]
    fn encodes_the_test_vectors_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }
}
