//! Output for people and programs. All output of this command goes through this module.
//!
//! Names, descriptions, messages and files may come from hostile servlets, schemas and servers.
//! Control characters in them could rewrite the screen, and invisible characters could hide
//! what a model reads, so they are printed as escapes such as `\u{1b}`.
//!
//! On a terminal, output has colors, unless `NO_COLOR` is set or `TERM` is `dumb`, and long lines are wrapped.

use std::{
    borrow::Cow,
    env,
    fmt::{self, Write as _},
    io::{self, IsTerminal as _, Write},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use mcp_catalog::hidden_indices;
use terminal_size::{Height, Width, terminal_size_of};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

use crate::logging::json_line;

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

/// Escapes a message of rustc, which can quote foreign text. Only its colors are kept.
fn compiler_message(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut shown = visible(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        match part.split_once('m') {
            Some((codes, rest)) if is_color(codes) => {
                shown.extend(["\x1b[", codes, "m", &*visible(rest)]);
            }
            _ => shown.extend(["\\u{1b}[", &*visible(part)]),
        }
    }
    shown
}

/// Whether these codes only select a color or bold text, or end them. Others could hide text.
fn is_color(codes: &str) -> bool {
    let is_one = |code: &str| matches!(code, "" | "0" | "1" | "22");
    let of_palette = |code: &str| matches!(code.as_bytes(), [b'3' | b'9', b'0'..=b'7'] | b"39");
    match codes.strip_prefix("38;5;") {
        Some(color) => color.parse::<u8>().is_ok(),
        None => codes
            .split(';')
            .all(|code| is_one(code) || of_palette(code)),
    }
}

/// A path as a word of a command line that people copy.
pub(crate) fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |one: char| {
        one.is_alphanumeric() || "/._-+:@%,=".contains(one) || (cfg!(windows) && one == '\\')
    };
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    // Shells on Windows have no other quotes in common.
    if cfg!(windows) {
        return format!("\"{text}\"");
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A stream that makes all text [`visible`].
pub(crate) struct Visible<W: Write> {
    inner: W,
    escapes: Escapes,
    has_colors: bool,
    /// The width at which lines are wrapped.
    columns: Option<usize>,
    /// The text since the last line break, if lines are wrapped.
    line: String,
}

/// How a part of the output looks on a terminal with colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// A heading, or the name of an item.
    Name,
    /// Less important text, such as types.
    Faint,
    /// Something that is wrong.
    Problem,
    /// What makes a command fail.
    Error,
    /// What to do.
    Help,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Name => "1",
            Self::Faint => "2",
            Self::Problem => "33",
            Self::Error => "1;31",
            Self::Help => "1;36",
        }
    }
}

/// What lines for people begin with, and how it looks.
const LABELS: [(&str, Style); 3] = [
    ("error:", Style::Error),
    ("warning:", Style::Problem),
    ("help:", Style::Help),
];

impl<W: Write> Visible<W> {
    fn new(inner: W, escapes: Escapes) -> Self {
        Self {
            inner,
            escapes,
            has_colors: false,
            columns: None,
            line: String::new(),
        }
    }

    /// Writes text of one line in a style. The text itself cannot have one.
    pub(crate) fn styled(&mut self, style: Style, text: &str) -> io::Result<()> {
        let text = one_line(text);
        if self.has_colors {
            self.put(&format!("\x1b[{}m{text}\x1b[0m", style.code()))
        } else {
            self.put(&text)
        }
    }

    /// Writes a line. A label at its beginning has the label's style.
    fn labelled(&mut self, line: &str) -> io::Result<()> {
        let start = line.len() - line.trim_start().len();
        let (margin, text) = line.split_at(start);
        write!(self, "{margin}")?;
        let label = LABELS.iter().find(|(label, _)| text.starts_with(label));
        match label {
            Some((label, style)) => {
                self.styled(*style, label)?;
                writeln!(self, "{}", &text[label.len()..])
            }
            None => writeln!(self, "{text}"),
        }
    }

    /// Writes text that is already escaped.
    fn put(&mut self, text: &str) -> io::Result<()> {
        let Some(columns) = self.columns else {
            return self.inner.write_all(text.as_bytes());
        };
        self.line.push_str(text);
        while let Some(end) = self.line.find('\n') {
            let rest = self.line.split_off(end + 1);
            let line = std::mem::replace(&mut self.line, rest);
            writeln!(self.inner, "{}", wrapped(line.trim_end(), columns))?;
        }
        Ok(())
    }

    /// Writes the line that has no end yet.
    fn finish_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        self.inner.write_all(line.as_bytes())
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.put(&escape(&text, self.escapes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.finish_line()?;
        self.inner.flush()
    }
}

impl<W: Write> Drop for Visible<W> {
    fn drop(&mut self) {
        let _ = self.finish_line();
    }
}

/// Wraps a line. The other lines are indented, so that foreign text cannot look like a message of this command.
fn wrapped(line: &str, columns: usize) -> String {
    let indent = " ".repeat(hanging_indent(line, columns));
    let options = Options::new(columns)
        .subsequent_indent(&indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::fill(line, options)
}

/// The column at which the rest of a long line begins: that of the last column of a table, or else the indentation.
fn hanging_indent(line: &str, columns: usize) -> usize {
    let text = line.trim_start();
    let margin = line.len() - text.len();
    let last_column = text
        .rfind("  ")
        .map(|gap| {
            let cell = margin + gap + 2;
            textwrap::core::display_width(&line[..cell])
        })
        .filter(|column| *column <= columns / 2);
    last_column.unwrap_or(margin).max(2)
}

/// Standard output. If its reader closes it, the rest of the output is lost, and the command goes on to its exit code.
pub(crate) struct Stdout(io::StdoutLock<'static>);

/// Whether a write failed because the reader of standard output has closed it.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

impl Stdout {
    fn lock() -> Self {
        clear_status();
        Self(io::stdout().lock())
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        without_reader(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        without_reader(self.0.flush(), ())
    }
}

/// The result of a write. `lost` replaces the error that there is no reader.
fn without_reader<T>(written: io::Result<T>, lost: T) -> io::Result<T> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            IS_CLOSED.store(true, Ordering::Relaxed);
            Ok(lost)
        }
        written => written,
    }
}

/// Whether the reader of standard output has closed it. A command without an end then ends.
pub(crate) fn is_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}

/// Whether the last line on the terminal is a status line, which the next output replaces.
static HAS_STATUS: AtomicBool = AtomicBool::new(false);

/// The width of a terminal that does not tell its own.
const DEFAULT_COLUMNS: usize = 80;

/// The smallest width at which lines are wrapped.
const MIN_COLUMNS: usize = 40;

fn columns(size: Option<(Width, Height)>) -> usize {
    let columns = size.map_or(DEFAULT_COLUMNS, |(Width(columns), _)| columns.into());
    columns.max(MIN_COLUMNS)
}

/// Prints the progress of something: on a terminal in a line that the next output replaces,
/// otherwise on a line of its own.
pub(crate) fn status(text: &str) {
    if !is_watched() || is_dumb() {
        return note(format_args!("{}", one_line(text)));
    }
    let mut stderr = io::stderr().lock();
    HAS_STATUS.store(true, Ordering::Relaxed);
    // A line that wraps cannot be replaced.
    let width = columns(terminal_size_of(io::stderr())) - 1;
    let _ = write!(stderr, "\r{}\x1b[K", fitting(&one_line(text), width));
    let _ = stderr.flush();
}

/// The longest prefix that fits into a status line. Characters outside ASCII may take two columns.
fn fitting(text: &str, width: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find(|(_, one)| {
        taken += if one.is_ascii() { 1 } else { 2 };
        taken > width
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
pub(crate) fn out() -> Visible<Stdout> {
    let mut out = Visible::new(Stdout::lock(), Escapes::Text);
    let stdout = io::stdout();
    if stdout.is_terminal() {
        out.has_colors = wants_colors();
        out.columns = Some(columns(terminal_size_of(&stdout)));
    }
    out
}

/// Standard output, for one JSON value, whose lines are not wrapped. Escaping does not change the value.
pub(crate) fn json() -> Visible<Stdout> {
    Visible::new(Stdout::lock(), Escapes::Json)
}

/// Standard error.
pub(crate) fn err() -> Visible<io::StderrLock<'static>> {
    clear_status();
    let mut err = Visible::new(io::stderr().lock(), Escapes::Text);
    if is_watched() {
        err.has_colors = wants_colors();
        err.columns = Some(columns(terminal_size_of(io::stderr())));
    }
    err
}

/// Whether lines for people are written as JSON, like those of the log.
static NOTES_ARE_JSON: AtomicBool = AtomicBool::new(false);

/// Writes lines for people as JSON from now on.
pub(crate) fn note_as_json() {
    NOTES_ARE_JSON.store(true, Ordering::Relaxed);
}

/// Writes a line to standard error. If standard error is closed, the line is lost.
pub(crate) fn note(line: fmt::Arguments<'_>) {
    if NOTES_ARE_JSON.load(Ordering::Relaxed) {
        let line = json_line(&line.to_string());
        let _ = writeln!(io::stderr().lock(), "{line}");
        return;
    }
    let _ = err().labelled(&line.to_string());
}

/// Writes a message of rustc to standard error, with its colors. It ends with an empty line.
pub(crate) fn note_of_compiler(message: &str) {
    clear_status();
    let message = compiler_message(message);
    let _ = write!(io::stderr().lock(), "{message}");
}

/// Writes the beginning of a line to standard error, which the user completes.
pub(crate) fn question(text: &str) {
    let mut stderr = err();
    let _ = write!(stderr, "{text}");
    let _ = stderr.flush();
}

/// Asks a question that is answered by yes or no. None if there is no terminal to answer at.
pub(crate) fn agrees(text: &str) -> Option<bool> {
    if !io::stdin().is_terminal() || !is_watched() {
        return None;
    }
    question(&format!("{text} [y/N] "));
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line);
    Some(read.is_ok() && is_yes(&line))
}

/// Whether an answer means yes.
pub(crate) fn is_yes(answer: &str) -> bool {
    let answer = answer.trim();
    ["y", "yes"]
        .iter()
        .any(|yes| answer.eq_ignore_ascii_case(yes))
}

/// Standard output, for a document or a result that may be copied, or redirected to a file. It is escaped only on a terminal, and
/// its lines are not wrapped.
pub(crate) fn document() -> Box<dyn Write> {
    let stdout = Stdout::lock();
    if io::stdout().is_terminal() {
        return Box::new(Visible::new(stdout, Escapes::Text));
    }
    Box::new(stdout)
}

/// Writes a diagnostic to standard error, in color on a terminal unless `NO_COLOR` is set. Colors are
/// control characters, so a text that contains other control characters is written without color.
pub(crate) fn picture(paint: impl Fn(bool) -> String) {
    let plain = paint(false);
    let shown = visible(&plain);
    let colors = has_colors();
    let text = match shown {
        Cow::Borrowed(_) if colors => paint(true).into(),
        shown => shown,
    };
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Whether a terminal has colors, and the user has not turned them off. An empty `NO_COLOR` has no effect.
fn wants_colors() -> bool {
    !is_dumb() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Whether the terminal shows escape sequences instead of obeying them.
fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|name| name == "dumb")
}

/// Whether standard error is a terminal with colors.
pub(crate) fn has_colors() -> bool {
    is_watched() && wants_colors()
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

    #[cfg(unix)]
    #[test]
    fn words_of_command_lines_are_quoted_if_a_shell_would_split_them() {
        for (path, expected) in [
            ("a/b-1.wasm", "a/b-1.wasm"),
            ("my plugins/é.wasm", "'my plugins/é.wasm'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(shell_word(Path::new(path)), expected);
        }
    }

    #[test]
    fn foreign_text_has_no_style_of_its_own() {
        let shown = |has_colors| {
            let mut written = Vec::new();
            let mut out = Visible::new(&mut written, Escapes::Text);
            out.has_colors = has_colors;
            out.styled(Style::Name, "a\x1b[31m\nb")
                .expect("memory takes everything");
            drop(out);
            String::from_utf8(written).expect("text")
        };
        assert_eq!(shown(false), "a\\u{1b}[31m\\nb");
        assert_eq!(shown(true), "\x1b[1ma\\u{1b}[31m\\nb\x1b[0m");
    }

    #[test]
    fn status_is_cut_to_one_line() {
        assert_eq!(fitting("3 of 7", 79), "3 of 7");
        assert_eq!(fitting(&"x".repeat(100), 79), "x".repeat(79));
        assert_eq!(fitting(&"漢".repeat(100), 79), "漢".repeat(39));
    }

    #[test]
    fn only_colors_of_the_compiler_are_kept() {
        let message = "\x1b[1m\x1b[38;5;9merror[E0308]\x1b[0m\x1b[1m: mismatched\x1b[0m";
        assert_eq!(compiler_message(message), message);
        for (foreign, shown) in [
            ("\x1b[2J", "\\u{1b}[2J"),
            ("\x1b[8mhidden", "\\u{1b}[8mhidden"),
            ("\x1b[38;5;999mx", "\\u{1b}[38;5;999mx"),
            ("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}"),
            ("\x1b[31mred\x1b[0m \x1b[", "\x1b[31mred\x1b[0m \\u{1b}["),
            ("\x1b[1m\x1bc", "\x1b[1m\\u{1b}c"),
        ] {
            assert_eq!(compiler_message(foreign), shown);
        }
    }

    #[test]
    fn long_lines_are_wrapped_below_their_last_column() {
        let shown = |text: &str| {
            let mut written = Vec::new();
            let mut out = Visible::new(&mut written, Escapes::Text);
            out.columns = Some(40);
            write!(out, "{text}").expect("memory takes everything");
            drop(out);
            String::from_utf8(written).expect("text")
        };
        assert_eq!(shown("short\nlast"), "short\nlast");
        assert_eq!(
            shown("  one two three four five six seven eight nine\n"),
            "  one two three four five six seven\n  eight nine\n"
        );
        assert_eq!(
            shown("    name  string  the name of the person to greet\n"),
            "    name  string  the name of the person\n                  to greet\n"
        );
        assert_eq!(
            shown("error: one two three four five six seven eight\n"),
            "error: one two three four five six seven\n  eight\n"
        );
        let word = "x".repeat(50);
        assert_eq!(shown(&format!("a {word}\n")), format!("a\n  {word}\n"));
    }

    #[test]
    fn labels_have_colors() {
        let shown = |text: &str| {
            let mut written = Vec::new();
            let mut out = Visible::new(&mut written, Escapes::Text);
            out.has_colors = true;
            out.labelled(text).expect("memory takes everything");
            drop(out);
            String::from_utf8(written).expect("text")
        };
        assert_eq!(shown("error: no"), "\x1b[1;31merror:\x1b[0m no\n");
        assert_eq!(shown("  help: do"), "  \x1b[1;36mhelp:\x1b[0m do\n");
        assert_eq!(shown("built x"), "built x\n");
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
