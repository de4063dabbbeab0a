//! Problems in the definition of a virtual tool, and where they are.

use std::{fmt, ops::Range};

/// A part of the way to a value in the table of a virtual tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacePart {
    /// The member of a table.
    Key(String),
    /// The item of a list, counted from 0.
    Item(usize),
}

/// The place of a value in the table of a virtual tool, such as `catches[0].error.code`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place(pub Vec<PlacePart>);

impl Place {
    /// The place of a member of the table.
    pub fn of(key: &str) -> Self {
        Self::default().key(key)
    }

    /// The place of a member of this table.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.with(PlacePart::Key(key.to_owned()))
    }

    /// The place of an item of this list.
    #[must_use]
    pub fn item(&self, number: usize) -> Self {
        self.with(PlacePart::Item(number))
    }

    /// Whether it is this place or a part of it.
    pub(crate) fn is_within(&self, place: &Self) -> bool {
        self.0.starts_with(&place.0)
    }

    fn with(&self, part: PlacePart) -> Self {
        let mut parts = self.0.clone();
        parts.push(part);
        Self(parts)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, part) in self.0.iter().enumerate() {
            match part {
                PlacePart::Key(key) if number == 0 => f.write_str(key)?,
                PlacePart::Key(key) => write!(f, ".{key}")?,
                PlacePart::Item(item) => write!(f, "[{item}]")?,
            }
        }
        Ok(())
    }
}

/// A problem in the definition of a virtual tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The value that is wrong.
    pub place: Place,
    /// The bytes of the string that are wrong; `None` for the whole value.
    pub range: Option<Range<usize>>,
    /// What is wrong. It never shows a constant or an environment variable.
    pub message: String,
    /// What belongs to it at other places. Readers of a file want to know their lines.
    pub parts: Vec<(String, Place)>,
}

impl Problem {
    /// A problem with a whole value.
    pub fn new(place: Place, message: impl Into<String>) -> Self {
        Self {
            place,
            range: None,
            message: message.into(),
            parts: Vec::new(),
        }
    }

    /// A problem with a part of a string.
    pub fn within(place: Place, range: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            place,
            range: Some(range),
            message: message.into(),
            parts: Vec::new(),
        }
    }

    /// The message, with its parts. `position` writes where each part is.
    pub fn in_words(&self, position: impl Fn(&Place) -> String) -> String {
        let parts: Vec<_> = self
            .parts
            .iter()
            .map(|(part, place)| format!("{part}{}", position(place)))
            .collect();
        match parts.as_slice() {
            [] => self.message.clone(),
            parts => format!("{}: {}", self.message, parts.join(", ")),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.in_words(|_| String::new());
        write!(f, "{}: {message}", self.place)
    }
}

/// Names in backticks: `a`, `b` and `c`.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}
