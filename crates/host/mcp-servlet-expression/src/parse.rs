//! Parses the text of an expression, and explains what is wrong with it.

use std::sync::{Arc, LazyLock};

use cel::{
    Env, ParseError, ParseErrors,
    common::ast::{IdedExpr, SourceInfo},
};

use super::Mistake;

/// The maximum length of an expression in bytes.
const MAX_LENGTH: usize = 4096;

/// The functions of all expressions.
pub(super) static ENV: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut env = Env::stdlib();
    env.add_extension(cel::extensions::strings)
        .expect("the extension is added once");
    Arc::new(env)
});

pub(super) fn parse(text: &str) -> Result<(IdedExpr, SourceInfo), Mistake> {
    let whole = |message: String| Mistake {
        range: 0..text.len(),
        message,
    };
    if text.len() > MAX_LENGTH {
        let found = text.len();
        return Err(whole(format!(
            "an expression can have at most {MAX_LENGTH} bytes, found {found}"
        )));
    }
    if text.trim().is_empty() {
        return Err(whole("expected an expression, found nothing".to_owned()));
    }
    let parser = ENV.parser().enable_ident_escape_syntax(true);
    parser
        .parse_with_source_info(text)
        .map_err(|errors| mistake(text, &errors))
}

/// The first error, without the tokens that the parser expected: there are dozens.
fn mistake(text: &str, errors: &ParseErrors) -> Mistake {
    let Some(error) = errors.errors.first() else {
        return Mistake {
            range: 0..text.len(),
            message: "invalid expression".to_owned(),
        };
    };
    let at = offset(text, error.pos);
    if let Some(mistake) = question_mark(text) {
        return mistake;
    }
    if error.msg.contains("reserved identifier: if") {
        return Mistake {
            range: at..at + 2,
            message: "invalid expression: there is no `if`; write `condition ? a : b`".to_owned(),
        };
    }
    if error.msg.contains("`_?_:_`")
        && let Some(mistake) = condition(text)
    {
        return mistake;
    }
    let is_end = |error: &ParseError| error.msg.contains("'<EOF>'");
    if errors.errors.iter().any(is_end)
        && let Some(mistake) = open_bracket(text)
    {
        return mistake;
    }
    let found = error.msg.split('\'').nth(1).unwrap_or_default();
    let before = text[..at].trim_end();
    let last = before
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default();
    let (range, message) = if found == "<EOF>" || at >= text.trim_end().len() {
        let start = before.len().min(text.len());
        (
            start..text.len(),
            format!("invalid expression: expected a value after `{last}`"),
        )
    } else if error.msg.contains("Syntax error")
        || error.msg.contains("input")
        || error.msg.contains("token")
    {
        let found = text[at..].split_whitespace().next().unwrap_or_default();
        (
            at..at + found.len(),
            format!("invalid expression: unexpected `{found}`"),
        )
    } else {
        let token = token(&text[at..]);
        (
            at..at + token.len(),
            parser_error_in_words(&error.msg, token),
        )
    };
    Mistake { range, message }
}

/// An error of the parser in our own words.
fn parser_error_in_words(message: &str, token: &str) -> String {
    if message.contains("literal") {
        format!("invalid expression: `{token}` does not fit into 64 bits")
    } else if message.contains("has()") {
        format!(
            "invalid expression: `has` takes a member, such as `has(result.x)`, found `{token}`"
        )
    } else if message.contains("simple name") {
        format!(
            "invalid expression: expected a name, as in `list.map(item, item.x)`, found `{token}`"
        )
    } else {
        format!("invalid expression at `{token}`")
    }
}

/// The word or the character at the beginning of a text.
pub(super) fn token(text: &str) -> &str {
    let is_word = |one: char| one.is_alphanumeric() || "_.".contains(one);
    let end = text.find(|one| !is_word(one)).unwrap_or(text.len());
    let first = text.chars().next().map_or(0, char::len_utf8);
    &text[..end.max(first)]
}

/// A question mark behind a member, as in other languages. Here it is in front of it.
fn question_mark(text: &str) -> Option<Mistake> {
    let is_path = |one: char| one.is_alphanumeric() || "_.".contains(one);
    text.match_indices('?').find_map(|(at, _)| {
        let start = text[..at].rfind(|one| !is_path(one)).map_or(0, |before| {
            before + text[before..].chars().next().map_or(1, char::len_utf8)
        });
        let (parent, member) = text[start..at].rsplit_once('.')?;
        let after = text[at + 1..].trim_start();
        let ends = after.is_empty() || after.starts_with(['.', ')', ']', '}', ',', '?']);
        let is_member = ends && !parent.is_empty() && !member.is_empty();
        is_member.then(|| Mistake {
            range: start..at + 1,
            message: format!(
                "invalid expression: write `{parent}.?{member}` for a member that may be absent"
            ),
        })
    })
}

/// The operators `??` and `?:` of other languages, or a `?` without its `:`.
fn condition(text: &str) -> Option<Mistake> {
    let mut marks = code(text).filter(|(_, one)| *one == '?');
    // `a.?b` and `a[?b]` are members that may be absent.
    let (at, _) = marks.find(|(at, _)| !text[..*at].ends_with(['.', '[']))?;
    let operator = ["??", "?:"]
        .iter()
        .find(|one| text[at..].starts_with(**one));
    let (length, message) = match operator {
        Some(operator) => (
            operator.len(),
            format!("there is no operator `{operator}`; write `result.?x.orValue(1)`"),
        ),
        None => (1, "`?` needs `:`, as in `condition ? a : b`".to_owned()),
    };
    Some(Mistake {
        range: at..at + length,
        message: format!("invalid expression: {message}"),
    })
}

/// The last bracket that is not closed, unless the text ends where a value has to follow.
fn open_bracket(text: &str) -> Option<Mistake> {
    let mut open = Vec::new();
    for (at, one) in code(text) {
        match one {
            '(' | '[' | '{' => open.push((at, one)),
            ')' | ']' | '}' => {
                open.pop();
            }
            _ => {}
        }
    }
    let (at, bracket) = open.pop()?;
    let is_complete = |one: char| one.is_alphanumeric() || "_'\"()[]{}".contains(one);
    text.trim_end().ends_with(is_complete).then(|| Mistake {
        range: at..at + 1,
        message: format!("invalid expression: `{bracket}` is not closed"),
    })
}

/// The characters outside of strings, and where they are.
fn code(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut quote, mut is_escaped) = (None, false);
    text.char_indices().filter(move |(_, one)| match quote {
        Some(_) if is_escaped => {
            is_escaped = false;
            false
        }
        Some(open) => {
            is_escaped = *one == '\\';
            if *one == open {
                quote = None;
            }
            false
        }
        None if matches!(one, '"' | '\'') => {
            quote = Some(*one);
            false
        }
        None => true,
    })
}

/// The byte at a line and a column of an error; lines count from 1, columns from 1.
fn offset(text: &str, (line, column): (isize, isize)) -> usize {
    let mut start = 0;
    for (number, content) in text.split_inclusive('\n').enumerate() {
        if number + 1 == usize::try_from(line).unwrap_or(1) {
            let column = usize::try_from(column - 1).unwrap_or(0);
            let mut starts = content.char_indices().map(|(at, _)| at);
            return start + starts.nth(column).unwrap_or(content.len());
        }
        start += content.len();
    }
    text.len()
}
