//! `config.yaml`: the suffix of templates, the programs that a project needs, and its feature flags.

use saphyr::{LoadableYamlNode as _, Yaml};

use crate::Error;

/// The contents of `config.yaml`; keys of other tools are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// `template-suffix`: files whose names end with `.` and this suffix are rendered by the plugin and lose the
    /// suffix.
    pub template_suffix: String,
    /// `dependencies`: programs that a new project needs.
    pub dependencies: Vec<String>,
    /// `available-feature-flags`: what a user can choose.
    pub feature_flags: Vec<FeatureFlag>,
    /// `skip-empty-files`, an extension of this project: whether to leave out a file that renders to nothing.
    pub skip_empty_files: bool,
}

/// A feature flag that a user can choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureFlag {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
}

impl Config {
    /// Parses `config.yaml`.
    ///
    /// # Errors
    ///
    /// [`Error::Config`], if the text is not YAML, or a key has an invalid value.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let documents = Yaml::load_from_str(text).map_err(|error| problem(error.to_string()))?;
        let [config] = &*documents else {
            return Err(problem("expected one document"));
        };
        let value = config
            .as_mapping_get("template-suffix")
            .ok_or_else(|| problem("`template-suffix` is missing"))?;
        let suffix = text_of(value, "template-suffix")?.trim_start_matches('.');
        if suffix.is_empty() {
            return Err(problem("`template-suffix` is empty"));
        }
        let dependencies = list(config, "dependencies")?.iter();
        let flags = list(config, "available-feature-flags")?.iter();
        let skip = config.as_mapping_get("skip-empty-files");
        Ok(Self {
            template_suffix: suffix.to_owned(),
            dependencies: dependencies
                .map(|item| Ok(text_of(item, "dependencies")?.to_owned()))
                .collect::<Result<_, Error>>()?,
            feature_flags: flags.map(FeatureFlag::read).collect::<Result<_, Error>>()?,
            skip_empty_files: skip.and_then(Yaml::as_bool).unwrap_or(false),
        })
    }
}

impl FeatureFlag {
    fn read(yaml: &Yaml<'_>) -> Result<Self, Error> {
        const KEY: &str = "available-feature-flags";
        let name = yaml
            .as_mapping_get("name")
            .ok_or_else(|| problem(format!("an entry of `{KEY}` has no `name`")))?;
        let description = yaml.as_mapping_get("description").and_then(Yaml::as_str);
        Ok(Self {
            name: text_of(name, KEY)?.to_owned(),
            description: description.unwrap_or_default().to_owned(),
        })
    }
}

fn list<'a, 'text>(config: &'a Yaml<'text>, key: &str) -> Result<&'a [Yaml<'text>], Error> {
    match config.as_mapping_get(key) {
        None => Ok(&[]),
        Some(value) if value.is_null() => Ok(&[]),
        Some(value) => {
            let items = value.as_vec().map(Vec::as_slice);
            items.ok_or_else(|| problem(format!("`{key}` is not a list")))
        }
    }
}

fn text_of<'a>(yaml: &'a Yaml<'_>, key: &str) -> Result<&'a str, Error> {
    yaml.as_str()
        .ok_or_else(|| problem(format!("`{key}` is not text")))
}

fn problem(problem: impl Into<String>) -> Error {
    Error::Config {
        problem: problem.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_published_bundles_say() {
        let config = Config::parse(
            "template-suffix: ejs\n\
             dependencies:\n  - cargo\n\
             available-feature-flags:\n  - name: none\n    description: \"Nothing\"\n",
        );
        let expected = Config {
            template_suffix: "ejs".to_owned(),
            dependencies: vec!["cargo".to_owned()],
            feature_flags: vec![FeatureFlag {
                name: "none".to_owned(),
                description: "Nothing".to_owned(),
            }],
            skip_empty_files: false,
        };
        assert_eq!(config.unwrap(), expected);
    }

    #[test]
    fn error_names_the_problem() {
        for (text, problem) in [
            ("dependencies: [cargo]", "`template-suffix` is missing"),
            ("template-suffix: '.'", "`template-suffix` is empty"),
            ("template-suffix: [ejs]", "`template-suffix` is not text"),
            (
                "template-suffix: ejs\ndependencies: cargo",
                "`dependencies` is not a list",
            ),
            ("", "expected one document"),
        ] {
            let error = Config::parse(text).unwrap_err().to_string();
            assert_eq!(error, format!("the bundle's `config.yaml`: {problem}"));
        }
        assert!(Config::parse("a: b: c").is_err());
    }
}
