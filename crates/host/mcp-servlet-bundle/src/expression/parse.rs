//! Parses the text of an expression, and explains what is wrong with it.

use std::sync::{Arc, LazyLock};

use cel::{
    Env, ParseErrors,
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
        (at..text.len(), format!("invalid expression: {}", error.msg))
    };
    Mistake { range, message }
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
