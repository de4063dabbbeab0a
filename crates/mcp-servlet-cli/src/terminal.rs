//! Output for people and programs: the only way in which this command writes to its standard streams.
//!
//! Names, descriptions, messages and files come from servlets, schemas and servers that may be hostile. Control characters
//! in them could rewrite what is on the screen, so they are shown as `\u{1b}` wherever they come from.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
    io::{self, IsTerminal as _, Write},
    sync::atomic::{AtomicBool, Ordering},
};

/// Shows text of several lines: everything but ends of lines and tabs that a terminal would act on is escaped.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escape(text, Escapes::Text)
}

/// Shows text that belongs on one line, such as a name in a table.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    escape(text, Escapes::Line)
}

/// What is escaped, and how.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// All but ends of lines and tabs, as Rust writes them.
    Text,
    /// All, as Rust writes them.
    Line,
    /// What JSON allows in strings but terminals act on, as JSON writes it: the value stays the same.
    Json,
}

/// Whether terminals act on a character instead of showing it: control characters, and those that change the direction of
/// text or end a line.
fn is_active(one: char) -> bool {
    one.is_control()
        || matches!(one,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escape(text: &str, escapes: Escapes) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let stays = |at: usize, one: char| match one {
        '\n' | '\t' => escapes != Escapes::Line,
        // A return alone goes back to the start of the line.
        '\r' if escapes != Escapes::Line => bytes.get(at + 1) == Some(&b'\n'),
        one => !is_active(one),
    };
    if text.char_indices().all(|(at, one)| stays(at, one)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for (at, one) in text.char_indices() {
        let written = match escapes {
            _ if stays(at, one) => shown.write_char(one),
            Escapes::Json => write!(shown, "\\u{:04x}", u32::from(one)),
            Escapes::Text | Escapes::Line => write!(shown, "{}", one.escape_debug()),
        };
        written.expect("memory takes everything");
    }
    Cow::Owned(shown)
}

/// A stream on which everything is [`visible`].
pub(crate) struct Visible<W> {
    inner: W,
    escapes: Escapes,
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

/// Whether the last line on the terminal is a status: everything that is written takes its place.
static HAS_STATUS: AtomicBool = AtomicBool::new(false);

/// How wide a status may be: a line that wraps cannot be replaced, and terminals have at least 80 columns.
const STATUS_WIDTH: usize = 79;

/// Shows how far something is: on a terminal in a line that is replaced by whatever comes next, else in a line of its own.
pub(crate) fn status(text: &str) {
    if !is_watched() {
        return note(format_args!("{}", one_line(text)));
    }
    let mut stderr = io::stderr().lock();
    HAS_STATUS.store(true, Ordering::Relaxed);
    let _ = write!(stderr, "\r{}\x1b[K", fitting(&one_line(text)));
    let _ = stderr.flush();
}

/// As much of a text as fits into a status. Characters outside ASCII may take two columns.
fn fitting(text: &str) -> &str {
    let mut width = 0;
    let end = text.char_indices().find(|(_, one)| {
        width += if one.is_ascii() { 1 } else { 2 };
        width > STATUS_WIDTH
    });
    end.map_or(text, |(end, _)| &text[..end])
}

/// Takes a status off the terminal, before something else is written.
fn clear_status() {
    if HAS_STATUS.swap(false, Ordering::Relaxed) {
        let _ = io::stderr().lock().write_all(b"\r\x1b[K");
    }
}

/// Standard error as it is, for lines that were made [`one_line`] already, with colors.
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
    }
}

/// Standard output, for one JSON value: what it means stays the same.
pub(crate) fn json() -> Visible<io::StdoutLock<'static>> {
    clear_status();
    Visible {
        inner: io::stdout().lock(),
        escapes: Escapes::Json,
    }
}

/// Standard error.
pub(crate) fn err() -> Visible<io::StderrLock<'static>> {
    clear_status();
    Visible {
        inner: io::stderr().lock(),
        escapes: Escapes::Text,
    }
}

/// Writes a line to standard error. If nobody reads it, there is nobody to tell.
pub(crate) fn note(line: fmt::Arguments<'_>) {
    let _ = writeln!(err(), "{line}");
}

/// Standard output, for a document that may be redirected into a file: what it is only matters to a terminal.
pub(crate) fn document() -> Box<dyn Write> {
    let stdout = io::stdout().lock();
    if stdout.is_terminal() {
        return Box::new(out());
    }
    Box::new(stdout)
}

/// Writes a picture to standard error, with colors for a person who wants some. Colors are control characters, so a
/// picture with other ones has none.
pub(crate) fn picture(paint: impl Fn(bool) -> String) {
    let plain = paint(false);
    let shown = visible(&plain);
    let colors = is_watched() && std::env::var_os("NO_COLOR").is_none();
    let text = match shown {
        Cow::Borrowed(_) if colors => paint(true).into(),
        shown => shown,
    };
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Whether a person watches standard error.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_act_on() {
        for (text, shown) in [
            ("plain é 漢 👩‍👩‍👧\n\tx\r\n", "plain é 漢 👩‍👩‍👧\n\tx\r\n"),
            ("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}"),
            ("\x1b[2J", "\\u{1b}[2J"),
            ("a\rb", "a\\rb"),
            ("\u{9b}2J\u{7f}\0", "\\u{9b}2J\\u{7f}\\0"),
            ("a\u{202e}b\u{2028}", "a\\u{202e}b\\u{2028}"),
        ] {
            assert_eq!(visible(text), shown);
        }
        assert_eq!(one_line("a\nb\tc"), "a\\nb\\tc");
    }

    #[test]
    fn a_status_fits_into_a_line() {
        assert_eq!(fitting("3 of 7"), "3 of 7");
        assert_eq!(fitting(&"x".repeat(100)), "x".repeat(79));
        assert_eq!(fitting(&"漢".repeat(100)), "漢".repeat(39));
    }

    #[test]
    fn json_means_the_same() {
        let value = serde_json::json!({ "a\u{9b}": "b\u{7f}\u{202e}\n\u{1b}é" });
        let text = value.to_string();
        let shown = escape(&text, Escapes::Json);
        assert!(!shown.contains(is_active), "{shown:?}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"),
            value
        );
    }
}
