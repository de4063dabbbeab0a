//! Compares both directions with `core`, bit for bit and byte for byte.

use super::{parse_f32, parse_f64, write_f32, write_f64, write_plain_f32, write_plain_f64};

fn written(write: impl FnOnce(&mut String)) -> String {
    let mut out = String::new();
    write(&mut out);
    out
}

#[track_caller]
fn check_f64(value: f64) {
    if value.is_finite() {
        let text = written(|out| write_f64(out, value));
        assert_eq!(text, format!("{value:?}"));
        assert_eq!(parse_f64(&text).to_bits(), value.to_bits(), "{text}");
    }
    assert_eq!(
        written(|out| write_plain_f64(out, value)),
        value.to_string()
    );
}

#[track_caller]
fn check_f32(value: f32) {
    if value.is_finite() {
        let text = written(|out| write_f32(out, value));
        assert_eq!(text, format!("{value:?}"));
        assert_eq!(parse_f32(&text).to_bits(), value.to_bits(), "{text}");
    }
    assert_eq!(
        written(|out| write_plain_f32(out, value)),
        value.to_string()
    );
}

#[track_caller]
fn check_text(text: &str) {
    let double: f64 = text.parse().expect("a number");
    assert_eq!(parse_f64(text).to_bits(), double.to_bits(), "{text}");
    let single: f32 = text.parse().expect("a number");
    assert_eq!(parse_f32(text).to_bits(), single.to_bits(), "{text}");
}

/// Pseudorandom numbers, the same in every run.
fn random() -> impl FnMut() -> u64 {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

/// The number of random cases in a test; the environment variable `FLOAT_CASES` overrides it.
fn cases() -> usize {
    let cases = std::env::var("FLOAT_CASES");
    cases.map_or(3_000, |cases| cases.parse().expect("a number"))
}

#[test]
fn random_bits_are_written_and_read_as_core_does() {
    let mut random = random();
    for _ in 0..cases() {
        let bits = random();
        check_f64(f64::from_bits(bits));
        check_f32(f32::from_bits(bits as u32));
    }
}

#[test]
fn numbers_that_people_write_are_written_and_read_as_core_does() {
    let mut random = random();
    for _ in 0..cases() {
        let number = (random() % 10_u64.pow((random() % 17 + 1) as u32)) as f64;
        let places = 10_f64.powi((random() % 12) as i32);
        check_f64(number / places);
        check_f64(-number * places);
        check_f32((number / places) as f32);
    }
}

#[test]
fn random_texts_are_read_as_core_does() {
    let mut random = random();
    for _ in 0..cases() {
        let digits = random().to_string() + &random().to_string();
        let (whole, fraction) = digits.split_at((random() % 20 + 1) as usize);
        let whole = match whole.trim_start_matches('0') {
            "" => "0",
            digits => digits,
        };
        let exponent = (random() % 700) as i64 - 350;
        check_text(&format!("{whole}.{fraction}e{exponent}"));
        check_text(&format!("-{whole}E{:+}", exponent / 8));
        check_text(&format!("{whole}.{}", &fraction[..=fraction.len() % 7]));
    }
}

/// The neighbours of special values, and the floats around each power of two and of ten.
#[test]
fn floats_at_borders_are_written_and_read_as_core_does() {
    let near = |bits: u64| (bits.saturating_sub(3)..bits + 3).map(f64::from_bits);
    let powers_of_two = (0..2047).flat_map(|exponent| near(exponent << 52));
    let powers_of_ten = (-323..=308).flat_map(|power| {
        let value: f64 = format!("1e{power}").parse().expect("a number");
        near(value.to_bits())
    });
    powers_of_two.chain(powers_of_ten).for_each(check_f64);
    let near = |bits: u32| (bits.saturating_sub(3)..bits + 3).map(f32::from_bits);
    (0..255)
        .flat_map(|exponent| near(exponent << 23))
        .for_each(check_f32);
    for value in [
        0.0,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::EPSILON,
        f64::INFINITY,
        f64::NAN,
    ] {
        check_f64(value);
        check_f64(-value);
    }
    for value in [
        0.0,
        f32::MAX,
        f32::MIN_POSITIVE,
        f32::INFINITY,
        f32::NAN,
        16_777_216.0,
    ] {
        check_f32(value);
        check_f32(-value);
    }
}

/// The exact midpoint between two floats, and the decimals next to it.
#[test]
fn the_middle_between_two_floats_is_read_as_core_does() {
    let mut random = random();
    let check_middle = |value: f64| {
        let above = f64::from_bits(value.to_bits() + 1);
        if !above.is_finite() {
            return;
        }
        // More digits than any midpoint has; `core` prints them exactly.
        let [low, high] = [value, above].map(|value| format!("{value:.1100}"));
        let middle = middle(&low, &high);
        check_text(&middle);
        check_text(&format!("{middle}1"));
        check_text(&format!("{middle}{}1", "0".repeat(900)));
        check_text(&decremented(&middle));
    };
    for _ in 0..cases() / 50 {
        check_middle(f64::from_bits(random() >> 1));
        check_middle(f64::from_bits(random() >> 12));
        check_middle((random() >> (random() % 64)) as f64);
    }
    check_text("2.4703282292062327e-324");
    check_text("2.4703282292062328e-324");
    check_text(
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880",
    );
    check_text("1.7976931348623158e308");
    check_text("1.7976931348623159e308");
    check_text("7.0064923216240853e-46");
    check_text("7.0064923216240854e-46");
    check_text("3.4028235677973366e38");
    check_text("3.4028235677973365e38");
}

/// The midpoint of two decimals with the same number of decimal places.
fn middle(low: &str, high: &str) -> String {
    let length = low.len().max(high.len());
    let [low, high] = [low, high].map(|text| format!("{text:0>length$}"));
    let mut sum = Vec::new();
    let mut carry = 0;
    for (low, high) in low.bytes().zip(high.bytes()).rev() {
        if low == b'.' {
            sum.push(b'.');
            continue;
        }
        let digit = low - b'0' + high - b'0' + carry;
        sum.push(b'0' + digit % 10);
        carry = digit / 10;
    }
    sum.push(b'0' + carry);
    sum.reverse();
    let mut rest = 0;
    let mut half = Vec::new();
    for byte in sum {
        if byte == b'.' {
            half.push(byte);
            continue;
        }
        let digit = rest * 10 + byte - b'0';
        half.push(b'0' + digit / 2);
        rest = digit % 2;
    }
    let half = String::from_utf8(half).expect("digits");
    let trimmed = half.trim_start_matches('0');
    let zero = if trimmed.starts_with('.') { "0" } else { "" };
    format!("{zero}{trimmed}")
}

/// The decimal that is smaller by one in its last nonzero digit.
fn decremented(decimal: &str) -> String {
    let trimmed = decimal.trim_end_matches('0');
    match trimmed.strip_suffix(|byte: char| byte.is_ascii_digit()) {
        Some(start) => {
            let last = trimmed.as_bytes()[trimmed.len() - 1] - 1;
            format!("{start}{}9", char::from(last))
        }
        None => decimal.to_owned(),
    }
}

#[test]
fn exponents_and_lengths_beyond_all_floats_are_zero_or_infinite() {
    for text in [
        "1e400",
        "1e99999999999999999999",
        "0.1e400",
        "123456789e308",
    ] {
        check_text(text);
    }
    for text in [
        "1e-400",
        "-1e-99999999999999999999",
        "0e99999",
        "0.0000e-7",
        "-0",
        "-0.0",
    ] {
        check_text(text);
    }
    let long = "9".repeat(2000);
    check_text(&format!("{long}e-2000"));
    check_text(&format!("0.{}{long}", "0".repeat(300)));
    check_text(&format!("{}{}", long, "e-1700"));
    check_text(&format!("1{}.5e-1000", "0".repeat(1000)));
}
