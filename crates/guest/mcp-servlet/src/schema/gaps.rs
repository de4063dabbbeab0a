//! Gaps in the text of a description: schemas that are generated when the servlet describes itself.
//!
//! The description is a constant string. A schema that is not known at compile time leaves a gap in it:
//! the byte 1, the [`Place`] as a letter, a description, the byte 2, another description, the byte 3.
//! JSON contains none of these bytes.

#[cfg(feature = "schemars")]
use super::kind::Gap;
use super::kind::{Generate, Place};

pub(crate) const BEGIN: char = '\u{1}';
pub(crate) const MIDDLE: char = '\u{2}';
pub(crate) const END: char = '\u{3}';

/// The maximum of gaps in a servlet; there is no `Vec` in `const` evaluation.
pub(crate) const MAX_GENERATORS: usize = 128;

/// The generators for the gaps of a text, in order.
#[cfg_attr(
    not(feature = "schemars"),
    allow(unreachable_pub, reason = "only that feature passes it on")
)]
#[derive(Debug, Clone, Copy)]
pub struct Generators([Option<Generate>; MAX_GENERATORS]);

impl Generators {
    pub(crate) const NONE: Self = Self([None; MAX_GENERATORS]);

    pub(crate) const fn with(mut self, index: usize, generate: Generate) -> Self {
        self.0[index] = Some(generate);
        self
    }

    #[cfg(feature = "schemars")]
    pub(crate) const fn is_empty(&self) -> bool {
        self.0[0].is_none()
    }
}

impl Place {
    pub(crate) const fn letter(self) -> u8 {
        match self {
            Self::Arguments => b'a',
            Self::Argument => b'p',
            Self::Result => b'r',
            Self::Part => b'o',
        }
    }

    #[cfg(feature = "schemars")]
    fn from_letter(letter: &str) -> Self {
        match letter {
            "a" => Self::Arguments,
            "p" => Self::Argument,
            "r" => Self::Result,
            _ => Self::Part,
        }
    }
}

/// The text with its gaps filled.
#[cfg(feature = "schemars")]
pub(crate) fn fill(text: &str, generators: &Generators) -> String {
    let mut pieces = text.split(BEGIN);
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for (piece, generate) in pieces.zip(generators.0) {
        let (gap, rest) = piece.split_once(END).unwrap_or_default();
        let (head, fallback) = gap.split_once(MIDDLE).unwrap_or_default();
        let (letter, description) = head.split_at(1);
        let gap = Gap {
            place: Place::from_letter(letter),
            description,
            fallback,
        };
        if let Some(generate) = generate {
            filled.push_str(&generate(&gap));
        }
        filled.push_str(rest);
    }
    filled
}
