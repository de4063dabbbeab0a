//! Configuration values from environment variables.

use crate::failure::{Failure, Kind};

/// A configuration key whose value is in an environment variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    /// The configuration key.
    pub(crate) key: String,
    /// The name of the environment variable.
    pub(crate) name: String,
}

impl Variable {
    /// Parses `KEY=VARIABLE`. The key may contain `=`.
    ///
    /// # Errors
    /// A message without the name, which may be a secret that the user meant for `--config`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (key, name) = text.rsplit_once('=').ok_or("expected KEY=VARIABLE")?;
        Ok(Self {
            key: key.to_owned(),
            name: variable_name(name)?,
        })
    }

    /// The value of the variable.
    ///
    /// # Errors
    /// [`Failure`] if it is not set or not UTF-8.
    pub(crate) fn value(&self) -> Result<String, Failure> {
        let Self { key, name } = self;
        std::env::var(name).map_err(|error| {
            let problem = match error {
                std::env::VarError::NotPresent => "is not set",
                std::env::VarError::NotUnicode(_) => "is not UTF-8",
            };
            let message = format!("the environment variable `{name}` {problem}");
            let help = format!("`--config-env` takes the value of `{key}` from it");
            Failure::with_help(Kind::Usage, message, help)
        })
    }

    /// The option that takes the value from the variable.
    pub(crate) fn option(&self) -> String {
        format!("--config-env={}={}", self.key, self.name)
    }
}

/// Parses the name of an environment variable.
///
/// # Errors
/// A message without the text, which may be the secret itself.
pub(crate) fn variable_name(text: &str) -> Result<String, String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts_right = !text.starts_with(|c: char| c.is_ascii_digit());
    if text.is_empty() || !starts_right || !text.chars().all(is_name) {
        let message = "expected the name of an environment variable: letters, digits and `_`";
        return Err(message.to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_letters_digits_and_underscores() {
        let right = Variable::parse("api-key=_KEY_2").expect("a variable");
        assert_eq!((&*right.key, &*right.name), ("api-key", "_KEY_2"));
        assert_eq!(right.option(), "--config-env=api-key=_KEY_2");
        let odd = Variable::parse("a=b=C").expect("a variable");
        assert_eq!((&*odd.key, &*odd.name), ("a=b", "C"));
        for wrong in ["key", "key=", "key=2", "key=s3cr3t-value", "key=${KEY}"] {
            let error = Variable::parse(wrong).expect_err(wrong);
            assert!(!error.contains("s3cr3t"), "{error}");
        }
    }
}
