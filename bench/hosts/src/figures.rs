//! Statistics of measurements.

/// The quantile for `part`: 0.5 is the median.
pub(crate) fn quantile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the length"
    )]
    let at = ((values.len() - 1) as f64 * part).round() as usize;
    values[at]
}

pub(crate) fn median(values: &mut [f64]) -> f64 {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    #[allow(clippy::float_cmp, reason = "they are the same floats")]
    fn quantiles_are_values_that_were_measured() {
        let mut values = [5.0, 1.0, 4.0, 2.0, 3.0];
        let quantiles = [0.0, 0.5, 0.99].map(|part| quantile(&mut values, part));
        assert_eq!(quantiles, [1.0, 3.0, 5.0]);
    }
}
