//! The library's checks, node by node in its order.

use saphyr::{Scalar, Yaml};

use super::script::{
    Result, TypeError, entries, get, is_truthy, items, keys, stringify, template, truthy,
};
use super::{Finding, Report, is_identifier};

const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "object", "array", "buffer",
];

/// A walk through a document.
pub(super) struct Walk<'a> {
    root: &'a Yaml<'a>,
    location: Vec<String>,
    /// The way from there to the part of a list or a map that is checked.
    part: Vec<&'static str>,
    pub(super) report: Report,
}

impl<'a> Walk<'a> {
    pub(super) fn new(root: &'a Yaml<'a>) -> Self {
        Self {
            root,
            location: vec!["#".to_owned()],
            part: Vec::new(),
            report: Report::default(),
        }
    }

    /// Runs every check that the library runs before it looks for cycles.
    pub(super) fn document(&mut self) -> Result<()> {
        if let Yaml::Value(Scalar::Null) = self.root {
            return Err(TypeError);
        }
        let version = get(self.root, "version");
        match version.and_then(Yaml::as_str) {
            Some("v0") => self.names(),
            Some("v1-draft") => {
                self.root_names();
                self.node(self.root)?;
                if self.report.errors.is_empty() {
                    self.normalise()?;
                }
                Ok(())
            }
            _ => {
                let message = format!("version property not valid: {}", template(version));
                self.location.push("version".to_owned());
                self.error(message, &[]);
                Ok(())
            }
        }
    }

    /// The library does not check version `v0`; it only uses it.
    fn names(&self) -> Result<()> {
        match get(self.root, "exports") {
            Some(Yaml::Sequence(_)) => Ok(()),
            _ => Err(TypeError),
        }
    }

    /// The library's next step fails if an entry is null.
    fn normalise(&self) -> Result<()> {
        let components = get(self.root, "components");
        let schemas = components.and_then(|components| get(components, "schemas"));
        for map in [
            schemas,
            get(self.root, "exports"),
            get(self.root, "imports"),
        ] {
            let entries = map.map(entries).unwrap_or_default();
            if entries.iter().any(|(_, value)| value.is_null()) {
                return Err(TypeError);
            }
        }
        Ok(())
    }

    fn error(&mut self, message: String, suffix: &[&str]) {
        let place = self.place(suffix);
        self.error_at(message, suffix, place);
    }

    fn error_at(&mut self, message: String, suffix: &[&str], place: Vec<String>) {
        let path = self.path(suffix);
        self.report.errors.push(Finding {
            message,
            path,
            place,
        });
    }

    pub(super) fn place(&self, suffix: &[&str]) -> Vec<String> {
        let location = self.location.iter().skip(1).map(String::as_str);
        let part = self.part.iter().copied();
        let place = location.chain(part).chain(suffix.iter().copied());
        place.map(str::to_owned).collect()
    }

    fn path(&self, suffix: &[&str]) -> String {
        let segments = self.location.iter().map(String::as_str);
        segments
            .chain(suffix.iter().copied())
            .collect::<Vec<_>>()
            .join("/")
    }

    fn schemas(&self) -> Option<&'a Yaml<'a>> {
        truthy(get(self.root, "components")?, "schemas")
    }

    fn root_names(&mut self) {
        for (path, map) in [
            (&["exports"][..], truthy(self.root, "exports")),
            (&["imports"][..], truthy(self.root, "imports")),
            (&["components", "schemas"][..], self.schemas()),
        ] {
            for name in map.map(keys).unwrap_or_default() {
                let suffix = [path, &[&name]].concat();
                self.identifier(&name, &suffix);
            }
        }
    }

    fn identifier(&mut self, name: &str, suffix: &[&str]) {
        if !is_identifier(name) {
            let message =
                format!("Invalid identifier: \"{name}\". Must match /^[a-zA-Z_$][a-zA-Z0-9_$]*$/");
            self.error(message, suffix);
        }
    }

    fn node(&mut self, node: &Yaml<'_>) -> Result<()> {
        if !self.is_map_of_names() {
            self.typed(node)?;
        }
        for (key, value) in entries(node) {
            if value.is_null() || value.is_sequence() || value.is_mapping() {
                self.location.push(key.to_owned());
                self.node(value)?;
                self.location.pop();
            }
        }
        Ok(())
    }

    /// Whether the keys of this map are names that the author chose.
    fn is_map_of_names(&self) -> bool {
        let path = self.path(&[]);
        matches!(
            path.split('/').collect::<Vec<_>>().as_slice(),
            ["#", "exports" | "imports" | "components"]
                | ["#", "components", "schemas"]
                | ["#", "components", "schemas", _, "properties"]
        )
    }

    fn typed(&mut self, node: &Yaml<'_>) -> Result<()> {
        match node {
            Yaml::Mapping(_) => {}
            Yaml::Sequence(_) => return Ok(()),
            _ if !is_truthy(node) => return Ok(()),
            // For any other value, looking for a property is a `TypeError`.
            _ => return Err(TypeError),
        }
        let ty = get(node, "type");
        self.check_type(ty);
        self.check_format(ty, truthy(node, "format"));
        self.check_object(node)?;
        self.check_enum(node)?;
        if let Some(items) = truthy(node, "items") {
            self.typed_part("items", items)?;
        }
        if let Some(values) = truthy(node, "additionalProperties") {
            if ty.and_then(Yaml::as_str) != Some("object") {
                self.error(
                    format!("The parent type must be 'object' when using additionalProperties but your type is {}", stringify(ty)),
                    &[],
                );
            }
            self.typed_part("additionalProperties", values)?;
        }
        self.check_reference(truthy(node, "$ref"))
    }

    fn typed_part(&mut self, key: &'static str, node: &Yaml<'_>) -> Result<()> {
        self.part.push(key);
        self.typed(node)?;
        self.part.pop();
        Ok(())
    }

    fn check_type(&mut self, ty: Option<&Yaml<'_>>) {
        let Some(ty) = ty.filter(|ty| is_truthy(ty)) else {
            return;
        };
        if !ty.as_str().is_some_and(|text| TYPES.contains(&text)) {
            let options = TYPES.map(|ty| format!("'{ty}'")).join(", ");
            let found = stringify(Some(ty));
            self.error(
                format!("Invalid type '{found}'. Options are: [{options}]"),
                &[],
            );
        }
    }

    fn check_format(&mut self, ty: Option<&Yaml<'_>>, format: Option<&Yaml<'_>>) {
        let Some(format) = format else {
            return;
        };
        let formats: &[&str] = match ty.and_then(Yaml::as_str) {
            Some("string") => &["date-time", "byte"],
            Some("number") => &["float", "double"],
            Some("integer") => &[
                "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64",
            ],
            _ => &[],
        };
        if !format.as_str().is_some_and(|text| formats.contains(&text)) {
            let (found, ty) = (stringify(Some(format)), stringify(ty));
            let formats = formats.join(", ");
            let message =
                format!("Invalid format {found} for type {ty}. Valid formats are: [{formats}]");
            self.error(message, &[]);
        }
    }

    fn check_object(&mut self, node: &Yaml<'_>) -> Result<()> {
        let Some(properties) = get(node, "properties") else {
            return Ok(());
        };
        if properties.is_null() {
            return Err(TypeError);
        }
        if keys(properties).is_empty() {
            return Ok(());
        }
        if truthy(node, "additionalProperties").is_some() {
            let message = "We currently do not support objects with both fixed properties and additionalProperties";
            self.error(message.to_owned(), &[]);
        }
        if let Some(required) = truthy(node, "required") {
            for name in items(required)? {
                let name = template(Some(&name));
                if truthy(properties, &name).is_none() {
                    let message = format!("Property {name} is marked as required but not defined");
                    self.error(message, &[]);
                }
            }
        }
        for name in keys(properties) {
            self.identifier(&name, &["properties", &name]);
        }
        Ok(())
    }

    fn check_enum(&mut self, node: &Yaml<'_>) -> Result<()> {
        let Some(values) = truthy(node, "enum") else {
            return Ok(());
        };
        for value in items(values)? {
            let Some(text) = value.as_str() else {
                let shown = template(Some(&value));
                self.error(format!("Enum item must be a string: {shown}"), &[]);
                return Err(TypeError);
            };
            self.identifier(text, &["enum"]);
        }
        Ok(())
    }

    fn check_reference(&mut self, reference: Option<&Yaml<'_>>) -> Result<()> {
        let Some(reference) = reference else {
            return Ok(());
        };
        let text = reference.as_str().ok_or(TypeError)?;
        let mut parts = text.split('/');
        if [parts.next(), parts.next(), parts.next()]
            != [Some("#"), Some("components"), Some("schemas")]
        {
            self.error(format!("Invalid $ref \"{text}\""), &["$ref"]);
            return Ok(());
        }
        let name = parts.next().unwrap_or("undefined");
        if self
            .schemas()
            .and_then(|schemas| truthy(schemas, name))
            .is_none()
        {
            let options = self.schemas().map(keys).unwrap_or_default().join(", ");
            let message = format!(
                "Invalid $ref \"{text}\". Cannot find schema \"{name}\". Options are: [{options}]"
            );
            // A schema with an empty value is a mistake where it is defined.
            let is_defined = self.schemas().is_some_and(|map| get(map, name).is_some());
            let place = if is_defined {
                ["components", "schemas", name].map(str::to_owned).to_vec()
            } else {
                self.place(&["$ref"])
            };
            self.error_at(message, &["$ref"], place);
        }
        Ok(())
    }
}
