//! The library's checks, node by node in its order.

use crate::check::is_identifier;
use crate::compat::script::{Result, TypeError, stringify, template};
use crate::compat::{Finding, Report};
use crate::keywords;
use crate::node::{Node, Value};

const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "object", "array", "buffer",
];

/// A walk through a document.
pub(super) struct Walk<'a> {
    root: &'a Node,
    location: Vec<String>,
    pub(super) report: Report,
}

impl<'a> Walk<'a> {
    pub(super) fn new(root: &'a Node) -> Self {
        Self {
            root,
            location: vec!["#".to_owned()],
            report: Report::default(),
        }
    }

    /// Runs every check that the library runs before it looks for cycles.
    pub(super) fn document(&mut self) -> Result<()> {
        if let Value::Null = self.root.value {
            return Err(TypeError);
        }
        let version = self.root.get("version");
        match version.and_then(Node::as_text) {
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
        match self.root.get("exports").map(|exports| &exports.value) {
            Some(Value::List(_)) => Ok(()),
            _ => Err(TypeError),
        }
    }

    /// The library's next step fails if an entry is null.
    fn normalise(&self) -> Result<()> {
        let components = self.root.get("components");
        let schemas = components.and_then(|components| components.get("schemas"));
        for map in [schemas, self.root.get("exports"), self.root.get("imports")] {
            let entries = map.map(Node::entries).unwrap_or_default();
            if entries
                .iter()
                .any(|entry| matches!(entry.value.value, Value::Null))
            {
                return Err(TypeError);
            }
        }
        Ok(())
    }

    fn error(&mut self, message: String, suffix: &[&str]) {
        let path = self.path(suffix);
        self.report.errors.push(Finding { message, path });
    }

    fn path(&self, suffix: &[&str]) -> String {
        let segments = self.location.iter().map(String::as_str);
        segments
            .chain(suffix.iter().copied())
            .collect::<Vec<_>>()
            .join("/")
    }

    fn schemas(&self) -> Option<&'a Node> {
        self.root.get("components")?.truthy("schemas")
    }

    fn root_names(&mut self) {
        for (path, map) in [
            (&["exports"][..], self.root.truthy("exports")),
            (&["imports"][..], self.root.truthy("imports")),
            (&["components", "schemas"][..], self.schemas()),
        ] {
            for name in map.map(Node::keys).unwrap_or_default() {
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
        let languages = keywords::languages(name);
        if !languages.is_empty() {
            let message = format!(
                "Potentially Invalid identifier: \"{name}\". This is a keyword in the following languages and may cause trouble with code generation: {}",
                languages.join(",")
            );
            let path = self.path(suffix);
            self.report.warnings.push(Finding { message, path });
        }
    }

    fn node(&mut self, node: &Node) -> Result<()> {
        if !self.is_map_of_names() {
            self.typed(node)?;
        }
        for entry in node.entries() {
            if let Value::Null | Value::List(_) | Value::Map(_) = entry.value.value {
                self.location.push(entry.key.text.clone());
                self.node(&entry.value)?;
                self.location.pop();
            }
        }
        Ok(())
    }

    /// Whether the keys of this map are names that the author chose.
    fn is_map_of_names(&self) -> bool {
        let path = self.path(&[]);
        let path: Vec<&str> = path.split('/').collect();
        matches!(
            path.as_slice(),
            ["#", "exports" | "imports" | "components"]
                | ["#", "components", "schemas"]
                | ["#", "components", "schemas", _, "properties"]
        )
    }

    fn typed(&mut self, node: &Node) -> Result<()> {
        match &node.value {
            Value::Map(_) => {}
            Value::List(_) => return Ok(()),
            _ if !node.is_truthy() => return Ok(()),
            // For any other value, looking for a property is a `TypeError`.
            _ => return Err(TypeError),
        }
        let ty = node.get("type");
        self.check_type(ty);
        self.check_format(ty, node.truthy("format"));
        self.check_object(node)?;
        self.check_enum(node)?;
        if let Some(items) = node.truthy("items") {
            self.typed(items)?;
        }
        if let Some(values) = node.truthy("additionalProperties") {
            if ty.and_then(Node::as_text) != Some("object") {
                self.error(
                    format!("The parent type must be 'object' when using additionalProperties but your type is {}", stringify(ty)),
                    &[],
                );
            }
            self.typed(values)?;
        }
        self.check_reference(node.truthy("$ref"))
    }

    fn check_type(&mut self, ty: Option<&Node>) {
        let Some(ty) = ty.filter(|ty| ty.is_truthy()) else {
            return;
        };
        if !ty.as_text().is_some_and(|text| TYPES.contains(&text)) {
            let options = TYPES.map(|ty| format!("'{ty}'")).join(", ");
            let found = stringify(Some(ty));
            self.error(
                format!("Invalid type '{found}'. Options are: [{options}]"),
                &[],
            );
        }
    }

    fn check_format(&mut self, ty: Option<&Node>, format: Option<&Node>) {
        let Some(format) = format else {
            return;
        };
        let formats: &[&str] = match ty.and_then(Node::as_text) {
            Some("string") => &["date-time", "byte"],
            Some("number") => &["float", "double"],
            Some("integer") => &[
                "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64",
            ],
            _ => &[],
        };
        if !format.as_text().is_some_and(|text| formats.contains(&text)) {
            let (found, ty) = (stringify(Some(format)), stringify(ty));
            let formats = formats.join(", ");
            let message =
                format!("Invalid format {found} for type {ty}. Valid formats are: [{formats}]");
            self.error(message, &[]);
        }
    }

    fn check_object(&mut self, node: &Node) -> Result<()> {
        let Some(properties) = node.get("properties") else {
            return Ok(());
        };
        if let Value::Null = properties.value {
            return Err(TypeError);
        }
        if properties.keys().is_empty() {
            return Ok(());
        }
        if node.truthy("additionalProperties").is_some() {
            let message = "We currently do not support objects with both fixed properties and additionalProperties";
            self.error(message.to_owned(), &[]);
        }
        if let Some(required) = node.truthy("required") {
            for name in required.items()? {
                let name = template(Some(&name));
                if properties.truthy(&name).is_none() {
                    let message = format!("Property {name} is marked as required but not defined");
                    self.error(message, &[]);
                }
            }
        }
        for name in properties.keys() {
            self.identifier(&name, &["properties", &name]);
        }
        Ok(())
    }

    fn check_enum(&mut self, node: &Node) -> Result<()> {
        let Some(values) = node.truthy("enum") else {
            return Ok(());
        };
        for value in values.items()? {
            let Some(text) = value.as_text() else {
                let shown = template(Some(&value));
                self.error(format!("Enum item must be a string: {shown}"), &[]);
                return Err(TypeError);
            };
            self.identifier(text, &["enum"]);
        }
        Ok(())
    }

    fn check_reference(&mut self, reference: Option<&Node>) -> Result<()> {
        let Some(reference) = reference else {
            return Ok(());
        };
        let text = reference.as_text().ok_or(TypeError)?;
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
            .and_then(|schemas| schemas.truthy(name))
            .is_none()
        {
            let options = self
                .schemas()
                .map(Node::keys)
                .unwrap_or_default()
                .join(", ");
            let message = format!(
                "Invalid $ref \"{text}\". Cannot find schema \"{name}\". Options are: [{options}]"
            );
            self.error(message, &["$ref"]);
        }
        Ok(())
    }
}
