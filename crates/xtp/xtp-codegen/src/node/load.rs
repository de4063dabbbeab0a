//! Reads text into nodes. Only this file and `aliases.rs` name the YAML library.

use saphyr::{MarkedYaml, Marker, Scalar, ScanError, YamlData};

use crate::diagnostic::{Code, Diagnostics, Report};
use crate::node::{Entry, Key, Node, Number, Value, aliases, merge, without_surrogates};
use crate::span::{At, Origin, Pointer, Span};

/// The deepest indentation that is accepted. It limits how deep a document can nest, and so the stack.
const MAX_INDENT: usize = 200;

/// Reads a source that has one document.
///
/// # Errors
/// If the source is not YAML, has several documents, or contains something that JSON cannot express.
pub(crate) fn load(text: &str, origin: &Origin) -> Result<Node, Diagnostics> {
    let mut report = Report::plain(origin);
    let root = load_into(text, &mut report);
    report.finish()?;
    Ok(root.unwrap_or(Node {
        span: Span::default(),
        value: Value::Null,
    }))
}

fn load_into(text: &str, report: &mut Report) -> Option<Node> {
    let text = &*without_surrogates(text);
    let places = Places::new(text);
    if let Some(at) = too_deep(text) {
        report
            .error(Code::TooDeep, &at, "the document is nested too deeply")
            .help(format!("indent by at most {MAX_INDENT} columns"));
        return None;
    }
    let mut documents = match aliases::documents(text) {
        Ok(documents) => documents,
        Err(aliases::Error::Scan(error)) => {
            report_scan_error(&error, &places, report);
            return None;
        }
        Err(aliases::Error::Bomb { alias, what }) => {
            let at = places.at_root(Some(alias));
            report.error(Code::Aliases, &at, what);
            return None;
        }
    };
    if documents.len() != 1 {
        let at = places.at_root(documents.get(1).map(|second| second.span.start));
        let count = documents.len();
        report.error(
            Code::DocumentCount,
            &at,
            format!("expected one document, found {count}"),
        );
        return None;
    }
    let mut converter = Converter {
        places: &places,
        report,
    };
    documents
        .pop()
        .map(|root| converter.node(&root, &Pointer::root()))
}

fn report_scan_error(error: &ScanError, places: &Places<'_>, report: &mut Report) {
    let at = places.at_root(Some(*error.marker()));
    let info = error.info();
    // The library has no kinds of errors, only messages.
    if info.contains("duplicated key") {
        report
            .error(Code::DuplicateKey, &at, "this key appears twice in one map")
            .help("remove one of the two entries");
    } else {
        report.error(Code::Syntax, &at, info);
    }
}

/// Finds the first line whose structure is indented too far. Only spaces and the indicators of
/// nested collections, each followed by a space, can precede a node, so their number limits the
/// depth. The library itself limits brackets.
fn too_deep(text: &str) -> Option<At> {
    let mut offset = 0;
    for (index, line) in text.split('\n').enumerate() {
        let structure = structure(line);
        if structure > MAX_INDENT {
            let span = Span {
                offset,
                len: structure,
                line: index + 1,
                column: 1,
            };
            return Some(at_root(span));
        }
        offset += line.len() + 1;
    }
    None
}

/// The number of characters before the first node of a line.
fn structure(line: &str) -> usize {
    let mut rest = line;
    loop {
        let stripped = rest.trim_start_matches([' ', '\t', '\r']);
        match stripped.strip_prefix(['-', '?', ':']) {
            Some(next) if next.is_empty() || next.starts_with([' ', '\t', '\r']) => rest = next,
            _ => return line.len() - stripped.len(),
        }
    }
}

/// The position before the first node.
fn at_root(span: Span) -> At {
    let pointer = Pointer::root();
    At { span, pointer }
}

/// Converts the library's positions, in characters, into byte offsets.
struct Places<'a> {
    text: &'a str,
    /// Byte offset of each character, and of the end.
    offsets: Vec<usize>,
}

impl<'a> Places<'a> {
    fn new(text: &'a str) -> Self {
        let offsets = text.char_indices().map(|(offset, _)| offset);
        Self {
            text,
            offsets: offsets.chain([text.len()]).collect(),
        }
    }

    fn offset(&self, marker: Marker) -> usize {
        let last = self.offsets.len() - 1;
        self.offsets[marker.index().min(last)]
    }

    fn span(&self, start: Marker, end: Marker) -> Span {
        let offset = self.offset(start);
        Span {
            offset,
            len: self.offset(end).saturating_sub(offset),
            line: start.line().max(1),
            column: start.col() + 1,
        }
    }

    fn at_root(&self, marker: Option<Marker>) -> At {
        let start = marker.unwrap_or_default();
        at_root(self.span(start, start))
    }
}

struct Converter<'a> {
    places: &'a Places<'a>,
    report: &'a mut Report,
}

impl Converter<'_> {
    fn node(&mut self, yaml: &MarkedYaml<'_>, pointer: &Pointer) -> Node {
        let span = self.places.span(yaml.span.start, yaml.span.end);
        let value = match &yaml.data {
            YamlData::Value(scalar) => scalar_value(scalar),
            YamlData::Sequence(items) => self.list(items, pointer),
            YamlData::Mapping(map) => {
                let entries = map
                    .iter()
                    .filter_map(|(key, value)| self.entry(key, value, pointer))
                    .collect();
                Value::Map(merge::merged(entries, pointer, self.report))
            }
            YamlData::Tagged(tag, _) => self.refuse(span, pointer, &format!("the tag `{tag}`")),
            YamlData::Representation(..) | YamlData::Alias(_) | YamlData::BadValue => {
                self.refuse(span, pointer, "a value that cannot be read")
            }
        };
        Node { span, value }
    }

    fn list(&mut self, items: &[MarkedYaml<'_>], pointer: &Pointer) -> Value {
        let items = items.iter().enumerate();
        Value::List(
            items
                .map(|(index, item)| self.node(item, &pointer.child(&index.to_string())))
                .collect(),
        )
    }

    fn entry(
        &mut self,
        key: &MarkedYaml<'_>,
        value: &MarkedYaml<'_>,
        pointer: &Pointer,
    ) -> Option<Entry> {
        let span = self.places.span(key.span.start, key.span.end);
        let YamlData::Value(Scalar::String(text)) = &key.data else {
            self.refuse_key(key, span, pointer);
            return None;
        };
        let key = Key {
            text: text.clone().into_owned(),
            // In quotes it is an ordinary key.
            is_merge: text == "<<" && self.places.text[span.offset..].starts_with("<<"),
            span,
        };
        let value = self.node(value, &pointer.child(&key.text));
        Some(Entry { key, value })
    }

    fn refuse_key(&mut self, key: &MarkedYaml<'_>, span: Span, pointer: &Pointer) {
        let end = span.offset + span.len;
        let source = self.places.text.get(span.offset..end).map_or("", str::trim);
        let pointer = pointer.clone();
        let message = "a key that is not a string has no counterpart in JSON";
        let problem = self
            .report
            .error(Code::BeyondJson, &At { span, pointer }, message);
        if matches!(key.data, YamlData::Value(_)) && !source.is_empty() {
            problem.help(format!("write it in quotes: `\"{source}\"`"));
        }
    }

    fn refuse(&mut self, span: Span, pointer: &Pointer, what: &str) -> Value {
        let pointer = pointer.clone();
        let message = format!("{what} has no counterpart in JSON");
        self.report
            .error(Code::BeyondJson, &At { span, pointer }, message);
        Value::Null
    }
}

fn scalar_value(scalar: &Scalar<'_>) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(value) => Value::Bool(*value),
        Scalar::Integer(value) => Value::Number(Number((*value).into())),
        Scalar::FloatingPoint(value) => match serde_json::Number::from_f64(value.into_inner()) {
            Some(number) => Value::Number(Number(number)),
            // JSON has neither infinity nor NaN and writes null for both.
            None => Value::Null,
        },
        Scalar::String(text) => Value::Text(text.clone().into_owned()),
    }
}
