//! Writes JSON text in `const` evaluation, where nothing can allocate.

use crate::schema::gaps::{self, Generators};
use crate::schema::kind::{Generate, Place};

/// JSON text under construction; what does not fit in `N` bytes is only counted.
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
            self.gaps < gaps::MAX_GENERATORS,
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
        self.copy(text.as_bytes(), 0, text.len());
    }

    /// Copies the bytes from `from` to `to`. The compiler needs about three times as long for a call for each byte.
    const fn copy(&mut self, bytes: &[u8], from: usize, to: usize) {
        if from == to {
            return;
        }
        let length = self.length + (to - from);
        if length <= N {
            let mut at = from;
            while at < to {
                self.bytes[self.length + at - from] = bytes[at];
                at += 1;
            }
        }
        self.length = length;
        self.last = bytes[to - 1];
    }

    pub(super) const fn string(&mut self, text: &str) {
        self.byte(b'"');
        self.inside_of_string(text);
        self.byte(b'"');
    }

    /// Text between two quotes.
    pub(super) const fn inside_of_string(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let (mut copied, mut at) = (0, 0);
        while at < bytes.len() {
            if matches!(bytes[at], b'"' | b'\\' | 0..0x20) {
                self.copy(bytes, copied, at);
                self.escaped(bytes[at]);
                copied = at + 1;
            }
            at += 1;
        }
        self.copy(bytes, copied, at);
    }

    /// A quote, a backslash or a control character.
    const fn escaped(&mut self, byte: u8) {
        match byte {
            b'"' => self.raw("\\\""),
            b'\\' => self.raw("\\\\"),
            b'\n' => self.raw("\\n"),
            b'\t' => self.raw("\\t"),
            b'\r' => self.raw("\\r"),
            _ => {
                self.raw("\\u00");
                self.byte(b'0' + byte / 16);
                self.byte(b"0123456789abcdef"[(byte % 16) as usize]);
            }
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

    /// The items of a list of strings.
    pub(super) const fn each_string(&mut self, items: &[&str]) {
        let mut at = 0;
        while at < items.len() {
            self.separate();
            self.string(items[at]);
            at += 1;
        }
    }

    /// A member with an integer, if there is one.
    pub(super) const fn integer(&mut self, name: &str, value: Option<i64>) {
        if let Some(value) = value {
            self.key(name);
            self.signed(value);
        }
    }

    pub(super) const fn signed(&mut self, value: i64) {
        if value < 0 {
            self.byte(b'-');
        }
        self.digits(value.unsigned_abs());
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
            self.copy(inside, at, inside.len() - 1);
        }
    }
}
