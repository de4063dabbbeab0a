//! Writes JSON text in `const` evaluation, where nothing can allocate.

use crate::schema::gaps::{self, Generators};
use crate::schema::kind::{Generate, Place};

/// JSON text under construction; what exceeds `N` bytes is only counted.
pub(super) struct Text<const N: usize> {
    pub(super) bytes: [u8; N],
    pub(super) length: usize,
    last: u8,
    /// The generators for the gaps, in order.
    pub(super) generators: Generators,
    pub(super) gaps: usize,
}

impl<const N: usize> Text<N> {
    pub(super) const fn new() -> Self {
        Self {
            bytes: [0; N],
            length: 0,
            last: 0,
            generators: Generators::NONE,
            gaps: 0,
        }
    }

    /// A gap for the members of a schema that is generated when the servlet describes itself.
    pub(super) const fn gap(
        &mut self,
        generate: Generate,
        place: Place,
        description: &str,
        fallback: &str,
    ) {
        assert!(
            self.gaps < gaps::MOST,
            "a servlet has at most 128 arguments and results with `schemars`"
        );
        self.generators = self.generators.with(self.gaps, generate);
        self.gaps += 1;
        self.byte(gaps::BEGIN as u8);
        self.byte(place.letter());
        self.optional_string(description);
        self.byte(gaps::MIDDLE as u8);
        self.optional_string(fallback);
        self.byte(gaps::END as u8);
    }

    const fn optional_string(&mut self, text: &str) {
        if !text.is_empty() {
            self.string(text);
        }
    }

    pub(super) const fn byte(&mut self, byte: u8) {
        if self.length < N {
            self.bytes[self.length] = byte;
        }
        self.length += 1;
        self.last = byte;
    }

    pub(super) const fn raw(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            self.byte(bytes[at]);
            at += 1;
        }
    }

    pub(super) const fn string(&mut self, text: &str) {
        self.byte(b'"');
        self.inside_of_string(text);
        self.byte(b'"');
    }

    /// Text between two quotes.
    pub(super) const fn inside_of_string(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            self.escaped(bytes[at]);
            at += 1;
        }
    }

    const fn escaped(&mut self, byte: u8) {
        match byte {
            b'"' => self.raw("\\\""),
            b'\\' => self.raw("\\\\"),
            b'\n' => self.raw("\\n"),
            b'\t' => self.raw("\\t"),
            b'\r' => self.raw("\\r"),
            0..0x20 => {
                self.raw("\\u00");
                self.byte(b'0' + byte / 16);
                self.byte(b"0123456789abcdef"[(byte % 16) as usize]);
            }
            _ => self.byte(byte),
        }
    }

    /// A comma, unless this is the first item of an object or array.
    pub(super) const fn separate(&mut self) {
        if !matches!(self.last, b'{' | b'[') {
            self.byte(b',');
        }
    }

    pub(super) const fn key(&mut self, name: &str) {
        self.separate();
        self.string(name);
        self.byte(b':');
    }

    /// A member with a string, unless it is empty.
    pub(super) const fn text(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.key(name);
            self.string(value);
        }
    }

    /// A member with a value given as JSON, unless it is empty.
    pub(super) const fn json(&mut self, name: &str, json: &str) {
        if !json.is_empty() {
            self.key(name);
            self.raw(json);
        }
    }

    /// A member with an integer, if there is one.
    pub(super) const fn integer(&mut self, name: &str, value: Option<i64>) {
        if let Some(value) = value {
            self.key(name);
            if value < 0 {
                self.byte(b'-');
            }
            self.digits(value.unsigned_abs());
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "a digit fits")]
    pub(super) const fn digits(&mut self, value: u64) {
        if value >= 10 {
            self.digits(value / 10);
        }
        self.byte(b'0' + (value % 10) as u8);
    }

    /// The members of a JSON object.
    pub(super) const fn members_of(&mut self, object: &str) {
        let inside = object.as_bytes().trim_ascii();
        let mut at = 1;
        while at < inside.len() && inside[at].is_ascii_whitespace() {
            at += 1;
        }
        if at + 1 < inside.len() {
            self.separate();
        }
        while at + 1 < inside.len() {
            self.byte(inside[at]);
            at += 1;
        }
    }
}
