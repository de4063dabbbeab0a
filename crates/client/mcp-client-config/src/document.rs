//! The bytes of a configuration file as a value: JSON with comments and trailing commas, TOML, or YAML.

use std::{borrow::Cow, fmt, path::Path};

use encoding_rs::{Encoding, UTF_8};
use jsonc_parser::{
    CollectOptions, ParseOptions, ast,
    cst::CstRootNode,
    errors::{ParseError, ParseErrorKind},
    parse_to_ast,
};
use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::Value;
use toml_edit::{DocumentMut, TomlError};

/// The fix for a Windows path in JSON.
const DOUBLE_BACKSLASHES: &str = r"write each backslash twice, as in `C:\\tools\\npx.cmd`";

/// A place in a file. Both numbers begin at 1, and a column is a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A file that was read.
pub(crate) struct Document {
    pub(crate) value: Value,
    /// The strings of JSON with an escape such as `\n`, and where the escape is.
    escapes: Vec<(String, Position)>,
}

/// What is wrong with a file, and where.
pub(crate) struct Problem {
    pub(crate) position: Option<Position>,
    pub(crate) text: String,
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Self {
            position: None,
            text,
        }
    }
}

impl Document {
    /// Reads a file by the extension of its path.
    pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Self, Problem> {
        let text = decode(bytes)?;
        let value = match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => parse_toml(&text)?,
            Some("yaml" | "yml") => parse_yaml(&text)?,
            _ => return parse_json(&text),
        };
        let escapes = Vec::new();
        Ok(Self { value, escapes })
    }

    /// Whether a path has a character that no path has, because JSON reads the `\n` of `C:\new` as a line break.
    pub(crate) fn broken_path(&self, paths: &[&str]) -> Option<Problem> {
        let mut escapes = self.escapes.iter();
        let (_, position) = escapes.find(|(text, _)| paths.contains(&&**text))?;
        Some(Problem {
            position: Some(*position),
            text: format!("the backslash begins an escape in a path; {DOUBLE_BACKSLASHES}"),
        })
    }
}

impl Position {
    fn at(text: &str, byte: usize) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or(before);
        Self {
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.line, self.column)
    }
}

/// Windows tools, such as the `>` of PowerShell 5.1, write UTF-16 with a byte order mark.
fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Problem> {
    let (encoding, mark) = Encoding::for_bom(bytes).unwrap_or((UTF_8, 0));
    let text = encoding.decode_without_bom_handling_and_without_replacement(&bytes[mark..]);
    text.ok_or_else(|| {
        let name = encoding.name();
        format!("the file has bytes that are not {name}; save it as UTF-8").into()
    })
}

fn parse_json(text: &str) -> Result<Document, Problem> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options())
        .map_err(|error| json_problem(text, &error))?;
    let mut escapes = Vec::new();
    if let Some(value) = &parsed.value {
        find_escapes(value, text, &mut escapes);
    }
    let value = parsed.value.map_or(Value::Null, Value::from);
    Ok(Document { value, escapes })
}

/// JSON that can be changed.
pub(crate) fn json_tree(text: &str) -> Result<CstRootNode, Problem> {
    CstRootNode::parse(text, &options()).map_err(|error| json_problem(text, &error))
}

fn options() -> ParseOptions {
    ParseOptions {
        // With them, unknown escapes lose their backslash.
        allow_extended_string_escapes: false,
        ..ParseOptions::default()
    }
}

fn json_problem(text: &str, error: &ParseError) -> Problem {
    Problem {
        position: Some(Position::at(text, error.range().start)),
        text: match error.kind() {
            kind @ ParseErrorKind::String(_) if text[error.range().start..].starts_with('\\') => {
                format!("{kind}; {DOUBLE_BACKSLASHES}")
            }
            kind => kind.to_string(),
        },
    }
}

/// Adds the strings in which an escape stands for a character that no path has.
fn find_escapes(value: &ast::Value<'_>, text: &str, escapes: &mut Vec<(String, Position)>) {
    match value {
        ast::Value::StringLit(string) if string.value.contains(is_control) => {
            let literal = &text[string.range.start..string.range.end];
            let mut characters = literal.char_indices();
            while let Some((at, character)) = characters.next() {
                let is_escape = character == '\\';
                if is_escape
                    && characters
                        .next()
                        .is_some_and(|(_, next)| "bfnrt".contains(next))
                {
                    let position = Position::at(text, string.range.start + at);
                    escapes.push((string.value.to_string(), position));
                    return;
                }
            }
        }
        ast::Value::Array(array) => {
            for element in &array.elements {
                find_escapes(element, text, escapes);
            }
        }
        ast::Value::Object(object) => {
            for property in &object.properties {
                find_escapes(&property.value, text, escapes);
            }
        }
        _ => {}
    }
}

fn is_control(character: char) -> bool {
    matches!(character, '\u{8}' | '\u{c}' | '\n' | '\r' | '\t')
}

/// The error does not quote the text, which may have secrets.
pub(crate) fn parse_toml(text: &str) -> Result<Value, Problem> {
    toml::from_str(text).map_err(|error| Problem {
        position: error.span().map(|span| Position::at(text, span.start)),
        text: error.message().to_owned(),
    })
}

/// TOML that can be changed.
pub(crate) fn toml_tree(text: &str) -> Result<DocumentMut, Problem> {
    text.parse().map_err(|error: TomlError| Problem {
        position: error.span().map(|span| Position::at(text, span.start)),
        text: error.message().to_owned(),
    })
}

fn parse_yaml(text: &str) -> Result<Value, Problem> {
    let documents = Yaml::load_from_str(text).map_err(|error| Problem {
        position: Some(Position {
            line: error.marker().line(),
            column: error.marker().col() + 1,
        }),
        text: error.info().to_owned(),
    })?;
    Ok(documents.first().map_or(Value::Null, from_yaml))
}

/// Keys that are not strings and tags of YAML have no place in a configuration, and are left out.
fn from_yaml(node: &Yaml<'_>) -> Value {
    match node {
        Yaml::Value(Scalar::Boolean(value)) => Value::from(*value),
        Yaml::Value(Scalar::Integer(value)) => Value::from(*value),
        Yaml::Value(Scalar::FloatingPoint(value)) => Value::from(value.into_inner()),
        Yaml::Value(Scalar::String(value)) => Value::from(&**value),
        Yaml::Sequence(items) => items.iter().map(from_yaml).collect(),
        Yaml::Mapping(members) => members
            .iter()
            .filter_map(|(key, value)| Some((key.as_str()?.to_owned(), from_yaml(value))))
            .collect(),
        _ => Value::Null,
    }
}
