//! A calculator: several tools, floats, structured results, errors.

use std::fmt;

use mcp_servlet::prelude::*;

/// Adds two numbers.
#[tool(title = "Add", read_only, idempotent, open_world = false)]
fn add(
    /// left operand
    a: f64,
    /// right operand
    b: f64,
) -> f64 {
    a + b
}

/// Divides two numbers.
#[tool(title = "Divide", read_only, idempotent, open_world = false)]
fn divide(
    /// the number to divide
    dividend: f64,
    /// the number to divide by, not zero
    divisor: f64,
) -> Result<f64, CalculatorError> {
    if divisor == 0.0 {
        return Err(CalculatorError::DivisionByZero);
    }
    Ok(dividend / divisor)
}

/// What is known of a list of numbers.
#[derive(Debug, PartialEq, Serialize, Schema)]
struct Statistics {
    /// how many numbers there are
    count: usize,
    /// their sum
    sum: f64,
    /// their arithmetic mean
    mean: f64,
    /// the smallest
    min: f64,
    /// the largest
    max: f64,
}

/// Summarizes a list of numbers: count, sum, mean, smallest and largest.
#[tool(title = "Statistics", read_only, idempotent, open_world = false)]
fn statistics(
    /// the numbers, at least one
    numbers: Vec<f64>,
) -> Result<Json<Statistics>, CalculatorError> {
    if numbers.is_empty() {
        return Err(CalculatorError::NoNumbers);
    }
    #[allow(clippy::cast_precision_loss, reason = "no list has 2^53 numbers")]
    let count = numbers.len() as f64;
    let sum = numbers.iter().sum::<f64>();
    if !sum.is_finite() {
        return Err(CalculatorError::TooLarge);
    }
    Ok(Json(Statistics {
        count: numbers.len(),
        sum,
        mean: sum / count,
        min: numbers.iter().copied().fold(f64::INFINITY, f64::min),
        max: numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }))
}

/// Finds the greatest common divisor of two whole numbers.
#[tool(
    title = "Greatest common divisor",
    read_only,
    idempotent,
    open_world = false
)]
fn gcd(
    /// one number
    #[arg(min = 1)]
    a: u64,
    /// the other number
    #[arg(min = 1)]
    b: u64,
) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Why there is no result.
#[derive(Debug, PartialEq)]
enum CalculatorError {
    DivisionByZero,
    NoNumbers,
    TooLarge,
}

impl fmt::Display for CalculatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DivisionByZero => "cannot divide by zero",
            Self::NoNumbers => "there are no numbers to summarize",
            Self::TooLarge => "the sum is too large for 64-bit floating point",
        })
    }
}

impl std::error::Error for CalculatorError {}

mcp_servlet::export!(static SERVLET = {
    instructions: "Exact only as far as 64-bit floating point goes.",
    tools: [add, divide, statistics, gcd],
});

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{CalculatorError, SERVLET, divide};

    fn text(tool: &str, arguments: Value) -> String {
        let result = SERVLET.call(tool, arguments).unwrap();
        result.text()
    }

    #[test]
    fn adds_floats_without_losing_digits() {
        assert_eq!(
            text("add", json!({ "a": 0.1, "b": 0.2 })),
            "0.30000000000000004"
        );
        assert_eq!(text("add", json!({ "a": 1, "b": 2 })), "3");
    }

    #[test]
    fn refuses_to_divide_by_zero() {
        assert_eq!(divide(1.0, 0.0), Err(CalculatorError::DivisionByZero));
        let result = SERVLET
            .call("divide", json!({ "dividend": 1, "divisor": 0 }))
            .unwrap();
        assert_eq!(result.is_error, Some(true));
        assert_eq!(result.text(), "cannot divide by zero");
    }

    #[test]
    fn refuses_sums_that_are_too_large() {
        assert_eq!(
            text("statistics", json!({ "numbers": [1e308, 1e308] })),
            "the sum is too large for 64-bit floating point"
        );
    }

    #[test]
    fn gives_statistics_as_structured_content_and_as_text() {
        let result = SERVLET
            .call("statistics", json!({ "numbers": [1, 2, 4.5] }))
            .unwrap();
        let expected = json!({ "count": 3, "sum": 7.5, "mean": 2.5, "min": 1.0, "max": 4.5 });
        let text = result.text();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
        let structured = result.structured_content.unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(structured.get()).unwrap(),
            expected
        );
    }

    #[test]
    fn explains_invalid_arguments_to_the_model() {
        assert_eq!(
            text("statistics", json!({ "numbers": [1, "two"] })),
            "invalid arguments: `/numbers/1` must match {\"type\":\"number\"}, got \"two\"\n\
             valid arguments: {\"numbers\":[1.5]}"
        );
        assert_eq!(
            text("gcd", json!({ "a": 0, "b": 3 })),
            "invalid arguments: `/a` must match \
             {\"type\":\"integer\",\"description\":\"one number\",\"minimum\":1}, got 0: out of range\n\
             valid arguments: {\"a\":1,\"b\":1}"
        );
        assert_eq!(
            text("add", json!({ "a": 1, "b": 2, "c": 3 })),
            "invalid arguments: `/c` is unknown; known are `a`, `b`\nvalid arguments: {\"a\":1.5,\"b\":1.5}"
        );
    }
}
