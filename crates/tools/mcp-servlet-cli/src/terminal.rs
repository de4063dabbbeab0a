//! Output for people and programs. All output of this command goes through this module.
//!
//! Names, descriptions, messages and files may come from hostile servlets, schemas and servers.
//! Control characters in them could rewrite the screen, and invisible characters could hide
//! what a model reads, so they are printed as escapes such as `\u{1b}`.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
    io::{self, IsTerminal as _, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use mcp_catalog::hidden_indices;

/// Escapes text of several lines. Only line breaks and tabs are kept.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escape(text, Escapes::Text)
}

/// Escapes text that must stay on one line, such as a name in a table.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    escape(text, Escapes::Line)
}

/// Escapes JSON text. The value stays the same.
pub(crate) fn visible_json(text: &str) -> Cow<'_, str> {
    escape(text, Escapes::Json)
}

/// Which characters are escaped, and how.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// All except line breaks and tabs, as Rust escapes.
    Text,
    /// All, as Rust escapes.
    Line,
    /// Characters that JSON allows in strings but that terminals act on, as JSON escapes. The value
    /// stays the same.
    Json,
}

fn escape(text: &str, escapes: Escapes) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let stays = |at: usize, one: char| match one {
        '\n' | '\t' => escapes != Escapes::Line,
        // A carriage return without a line feed would let text overwrite its own line.
        '\r' if escapes != Escapes::Line => bytes.get(at + 1) == Some(&b'\n'),
        one => !one.is_control(),
    };
    let mut hidden = hidden_indices(text).peekable();
    let is_plain = hidden.peek().is_none();
    if is_plain && text.char_indices().all(|(at, one)| stays(at, one)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for (at, one) in text.char_indices() {
        let is_hidden = hidden.next_if(|(hidden, _)| *hidden == at).is_some();
        let written = match escapes {
            _ if stays(at, one) && !is_hidden => shown.write_char(one),
            Escapes::Json => write_json(&mut shown, one),
            // `escape_debug` leaves some of them as they are.
            _ if is_hidden && !one.is_control() => write!(shown, "{}", one.escape_unicode()),
            Escapes::Text | Escapes::Line => write!(shown, "{}", one.escape_debug()),
        };
        written.expect("memory takes everything");
    }
    Cow::Owned(shown)
}

/// Writes an escape of JSON, which has two halves beyond 16 bits.
fn write_json(shown: &mut String, one: char) -> fmt::Result {
    let mut units = [0; 2];
    let mut units = one.encode_utf16(&mut units).iter();
    units.try_for_each(|unit| write!(shown, "\\u{unit:04x}"))
}

/// A stream that makes all text [`visible`].
pub(crate) struct Visible<W> {
    inner: W,
    escapes: Escapes,
    has_colors: bool,
}

/// How a part of a table looks on a terminal with colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// A heading, or the name of an item.
    Name,
    /// Less important text, such as types.
    Faint,
    /// Something that is wrong.
    Problem,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Name => "1",
            Self::Faint => "2",
            Self::Problem => "33",
        }
    }
}

impl<W: Write> Visible<W> {
    /// Writes text of one line in a style. The text itself cannot have one.
    pub(crate) fn styled(&mut self, style: Style, text: &str) -> io::Result<()> {
        let text = one_line(text);
        if self.has_colors {
            write!(self.inner, "\x1b[{}m{text}\x1b[0m", style.code())
        } else {
            self.inner.write_all(text.as_bytes())
        }
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.inner
            .write_all(escape(&text, self.escapes).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Whether the last line on the terminal is a status line, which the next output replaces.
static HAS_STATUS: AtomicBool = AtomicBool::new(false);

/// The maximum width of a status line: a line that wraps cannot be replaced, and terminals have at
/// least 80 columns.
const STATUS_WIDTH: usize = 79;

/// Prints the progress of something: on a terminal in a line that the next output replaces,
/// otherwise on a line of its own.
pub(crate) fn status(text: &str) {
    if !is_watched() {
        return note(format_args!("{}", one_line(text)));
    }
    let mut stderr = io::stderr().lock();
    HAS_STATUS.store(true, Ordering::Relaxed);
    let _ = write!(stderr, "\r{}\x1b[K", fitting(&one_line(text)));
    let _ = stderr.flush();
}

/// The longest prefix that fits into a status line. Characters outside ASCII may take two columns.
fn fitting(text: &str) -> &str {
    let mut width = 0;
    let end = text.char_indices().find(|(_, one)| {
        width += if one.is_ascii() { 1 } else { 2 };
        width > STATUS_WIDTH
    });
    end.map_or(text, |(end, _)| &text[..end])
}

/// Erases the status line before other output.
fn clear_status() {
    if HAS_STATUS.swap(false, Ordering::Relaxed) {
        let _ = io::stderr().lock().write_all(b"\r\x1b[K");
    }
}

/// Unescaped standard error, for colored log lines that already went through [`one_line`].
pub(crate) fn log() -> io::Stderr {
    clear_status();
    io::stderr()
}

/// Standard output, for people.
pub(crate) fn out() -> Visible<io::StdoutLock<'static>> {
    clear_status();
    Visible {
        inner: io::stdout().lock(),
        escapes: Escapes::Text,
        has_colors: io::stdout().is_terminal() && wants_colors(),
    }
}

/// Standard output, for one JSON value. Escaping does not change the value.
pub(crate) fn json() -> Visible<io::StdoutLock<'static>> {
    clear_status();
    Visible {
        inner: io::stdout().lock(),
        escapes: Escapes::Json,
        has_colors: false,
    }
}

/// Standard error.
pub(crate) fn err() -> Visible<io::StderrLock<'static>> {
    clear_status();
    Visible {
        inner: io::stderr().lock(),
        escapes: Escapes::Text,
        has_colors: false,
    }
}

/// Writes a line to standard error. If standard error is closed, the line is lost.
pub(crate) fn note(line: fmt::Arguments<'_>) {
    let _ = writeln!(err(), "{line}");
}

/// Writes the beginning of a line to standard error, which the user completes.
pub(crate) fn question(text: &str) {
    let mut stderr = err();
    let _ = write!(stderr, "{text}");
    let _ = stderr.flush();
}

/// Standard output, for a document or a result that may be redirected to a file. It is escaped only on a terminal.
pub(crate) fn document() -> Box<dyn Write> {
    clear_status();
    let stdout = io::stdout().lock();
    if stdout.is_terminal() {
        return Box::new(out());
    }
    Box::new(stdout)
}

/// Writes a diagnostic to standard error, in color on a terminal unless `NO_COLOR` is set. Colors are
/// control characters, so a text that contains other control characters is written without color.
pub(crate) fn picture(paint: impl Fn(bool) -> String) {
    let plain = paint(false);
    let shown = visible(&plain);
    let colors = is_watched() && wants_colors();
    let text = match shown {
        Cow::Borrowed(_) if colors => paint(true).into(),
        shown => shown,
    };
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Whether the user has not turned colors off.
fn wants_colors() -> bool {
    std::env::var_os("NO_COLOR").is_none()
}

/// Whether standard error is a terminal.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_sequences_for_the_terminal() {
        for (text, shown) in [
            ("plain é 漢 👩‍👩‍👧\n\tx\r\n", "plain é 漢 👩‍👩‍👧\n\tx\r\n"),
            ("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}"),
            ("\x1b[2J", "\\u{1b}[2J"),
            ("a\rb", "a\\rb"),
            ("\u{9b}2J\u{7f}\0", "\\u{9b}2J\\u{7f}\\0"),
            ("a\u{202e}b\u{2028}", "a\\u{202e}b\\u{2028}"),
            ("pay\u{200b}pal\u{e0041}", "pay\\u{200b}pal\\u{e0041}"),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(one_line("a\nb\tc"), "a\\nb\\tc");
    }

    #[test]
    fn foreign_text_has_no_style_of_its_own() {
        let shown = |has_colors| {
            let mut out = Visible {
                inner: Vec::new(),
                escapes: Escapes::Text,
                has_colors,
            };
            out.styled(Style::Name, "a\x1b[31m\nb")
                .expect("memory takes everything");
            String::from_utf8(out.inner).expect("text")
        };
        assert_eq!(shown(false), "a\\u{1b}[31m\\nb");
        assert_eq!(shown(true), "\x1b[1ma\\u{1b}[31m\\nb\x1b[0m");
    }

    #[test]
    fn status_is_cut_to_one_line() {
        assert_eq!(fitting("3 of 7"), "3 of 7");
        assert_eq!(fitting(&"x".repeat(100)), "x".repeat(79));
        assert_eq!(fitting(&"漢".repeat(100)), "漢".repeat(39));
    }

    #[test]
    fn json_means_the_same() {
        let value = serde_json::json!({ "a\u{9b}": "b\u{7f}\u{202e}\n\u{1b}é\u{200b}\u{e0041}" });
        let text = value.to_string();
        let shown = escape(&text, Escapes::Json);
        assert!(!shown.contains(char::is_control), "{shown:?}");
        assert_eq!(hidden_indices(&shown).count(), 0, "{shown:?}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"),
            value
        );
    }
}
