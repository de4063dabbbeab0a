//! Steps over JSON: from one position in the text to the next.
//!
//! The steps share no state, so they work in registers and need little code.

pub(crate) use crate::bytes::{byte, run};
use crate::error::{Error, ErrorKind};

/// The position after the step.
pub(crate) type Step = Result<usize, Error>;

/// Steps over white space. Usually there is none.
#[inline]
pub(crate) fn space(input: &[u8], at: usize) -> usize {
    if byte(input, at) > b' ' {
        return at;
    }
    blanks(input, at)
}

#[cold]
#[inline(never)]
fn blanks(input: &[u8], mut at: usize) -> usize {
    while matches!(byte(input, at), b' ' | b'\t' | b'\n' | b'\r') {
        at += 1;
    }
    at
}

/// Steps over the value at a position, and checks everything except the encoding.
pub(crate) fn value(input: &[u8], at: usize, depth: u8) -> Step {
    match byte(input, at) {
        b'"' => string(input, at, false),
        b'[' | b'{' => nested(input, at, depth),
        b'-' | b'0'..=b'9' => number(input, at),
        b'n' => word(input, at, b"null"),
        b't' => word(input, at, b"true"),
        b'f' => word(input, at, b"false"),
        _ => Err(expected(input, at, "a value")),
    }
}

/// Steps over the array or object at a position. The depth limit bounds the recursion.
fn nested(input: &[u8], at: usize, depth: u8) -> Step {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(Error::new(ErrorKind::DepthLimit, at));
    };
    let object = byte(input, at) == b'{';
    let close = if object { b'}' } else { b']' };
    let mut at = space(input, at + 1);
    if byte(input, at) == close {
        return Ok(at + 1);
    }
    loop {
        if object {
            at = key(input, at, false)?;
        }
        at = space(input, value(input, at, depth)?);
        match byte(input, at) {
            b',' => at = space(input, at + 1),
            end if end == close => return Ok(at + 1),
            _ => return Err(unclosed(input, at, object)),
        }
    }
}

/// Steps over the key at a position, and its colon.
pub(crate) fn key(input: &[u8], at: usize, lenient: bool) -> Step {
    if byte(input, at) != b'"' {
        return Err(expected(input, at, "a key"));
    }
    colon(input, string(input, at, lenient)?)
}

/// Steps over the colon after a key, and the white space around it.
pub(crate) fn colon(input: &[u8], at: usize) -> Step {
    let at = space(input, at);
    if byte(input, at) != b':' {
        return Err(expected(input, at, "`:`"));
    }
    Ok(space(input, at + 1))
}

/// Steps over the string at a position. If `lenient`, half a surrogate pair is a valid escape.
pub(crate) fn string(input: &[u8], at: usize, lenient: bool) -> Step {
    let mut at = run(input, at + 1);
    while byte(input, at) != b'"' {
        let (after, _) = escape(input, at, lenient)?;
        at = run(input, after);
    }
    Ok(at + 1)
}

/// Steps over the escape at a position, and returns its character.
pub(crate) fn escape(input: &[u8], at: usize, lenient: bool) -> Result<(usize, char), Error> {
    if byte(input, at) != b'\\' {
        return Err(broken(input, at, ErrorKind::ControlCharacter));
    }
    let char = match byte(input, at + 1) {
        byte @ (b'"' | b'\\' | b'/') => char::from(byte),
        b'b' => '\x08',
        b'f' => '\x0c',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(input, at, lenient),
        _ => return Err(broken(input, at + 1, ErrorKind::InvalidEscape)),
    };
    Ok((at + 2, char))
}

#[cold]
fn unicode(input: &[u8], start: usize, lenient: bool) -> Result<(usize, char), Error> {
    let (mut at, high) = hex(input, start + 2)?;
    if lenient {
        return Ok((at, '\0'));
    }
    let mut code = high;
    if (0xD800..0xDC00).contains(&high) && input.get(at..at + 2) == Some(b"\\u") {
        let (after, low) = hex(input, at + 2)?;
        if (0xDC00..0xE000).contains(&low) {
            code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            at = after;
        }
    }
    let char = char::from_u32(code).ok_or_else(|| Error::new(ErrorKind::LoneSurrogate, start))?;
    Ok((at, char))
}

/// Steps over four hexadecimal digits.
fn hex(input: &[u8], start: usize) -> Result<(usize, u32), Error> {
    let mut unit = 0;
    for at in start..start + 4 {
        let Some(digit) = char::from(byte(input, at)).to_digit(16) else {
            return Err(broken(input, at, ErrorKind::InvalidEscape));
        };
        unit = unit << 4 | digit;
    }
    Ok((start + 4, unit))
}

/// Steps over the number at a position.
pub(crate) fn number(input: &[u8], at: usize) -> Step {
    let mut at = at + usize::from(byte(input, at) == b'-');
    if byte(input, at) == b'0' {
        at += 1;
        if byte(input, at).is_ascii_digit() {
            return Err(broken(input, at, ErrorKind::InvalidNumber));
        }
    } else {
        at = digits(input, at)?;
    }
    if byte(input, at) == b'.' {
        at = digits(input, at + 1)?;
    }
    if matches!(byte(input, at), b'e' | b'E') {
        at += 1;
        at = digits(
            input,
            at + usize::from(matches!(byte(input, at), b'+' | b'-')),
        )?;
    }
    Ok(at)
}

/// Steps over digits, at least one.
fn digits(input: &[u8], start: usize) -> Step {
    let mut at = start;
    while byte(input, at).is_ascii_digit() {
        at += 1;
    }
    if at == start {
        return Err(broken(input, at, ErrorKind::InvalidNumber));
    }
    Ok(at)
}

/// Steps over a literal such as `true`.
#[inline(never)]
pub(crate) fn word(input: &[u8], mut at: usize, word: &[u8]) -> Step {
    for &letter in word {
        if byte(input, at) != letter {
            return Err(expected(input, at, "a value"));
        }
        at += 1;
    }
    Ok(at)
}

/// The error for an array or object that continues with neither a comma nor its closing bracket.
#[cold]
#[inline(never)]
pub(crate) fn unclosed(input: &[u8], at: usize, object: bool) -> Error {
    expected(input, at, if object { "`,` or `}`" } else { "`,` or `]`" })
}

#[cold]
#[inline(never)]
pub(crate) fn expected(input: &[u8], at: usize, what: &'static str) -> Error {
    broken(input, at, ErrorKind::Expected(what))
}

/// The error for an unexpected byte at a position, or for the end of the text.
#[cold]
#[inline(never)]
pub(crate) fn broken(input: &[u8], at: usize, kind: ErrorKind<'static>) -> Error {
    let end = at >= input.len();
    Error::new(if end { ErrorKind::UnexpectedEnd } else { kind }, at)
}
