//! Content blocks from what authors have: text and raw bytes.

use crate::{Content, ContentType, ResourceContents};

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
        Self {
            mime_type: Some(mime_type.into()),
            ..Self::binary(ContentType::Audio, bytes)
        }
    }

    /// The contents of a resource, inside the result.
    pub fn resource(contents: ResourceContents) -> Self {
        Self {
            resource: Some(contents),
            ..Self::new(ContentType::Resource)
        }
    }

    /// A link to a resource that the client may read.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: Some(uri.into()),
            name: Some(name.into()),
            ..Self::new(ContentType::ResourceLink)
        }
    }

    fn binary(r#type: ContentType, bytes: &[u8]) -> Self {
        Self {
            data: Some(base64(bytes)),
            ..Self::new(r#type)
        }
    }
}

impl ResourceContents {
    /// A resource that is text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::new(uri)
        }
    }

    /// A resource that is bytes.
    pub fn blob(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self {
            blob: Some(base64(bytes)),
            ..Self::new(uri)
        }
    }
}

/// Base64 with the standard alphabet and padding, as MCP wants it (RFC 4648 §4).
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
    use super::base64;

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
