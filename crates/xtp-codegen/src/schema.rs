//! The way from text to Rust, phase by phase.

use crate::diagnostic::{Code, Diagnostics, Report};
use crate::ir::TypeDef;
use crate::options::Options;
use crate::polish::Paths;
use crate::read::Cursor;
use crate::span::{At, Origin, Pointer, Span};
use crate::{check, format, json_schema, lower, node, overlay, polish, read, types};

/// The texts that make up one schema.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    schema: (Origin, &'a str),
    overlay: Option<(Origin, &'a str)>,
}

impl<'a> Input<'a> {
    /// A schema, YAML or JSON, by the name that messages call it.
    pub fn new(name: &str, text: &'a str) -> Self {
        Self {
            schema: (Origin::new(name), text),
            overlay: None,
        }
    }

    /// Adds the overlay, which says what XTP cannot say.
    ///
    /// It is a map from addresses to fragments of JSON Schema, which replace the types of the
    /// properties addressed. The only fragment understood so far is `{}`, any JSON value:
    ///
    /// ```yaml
    /// version: v1-draft
    /// overlay:
    ///   CallToolResult.structuredContent: {}
    /// ```
    #[must_use]
    pub fn overlay(mut self, name: &str, text: &'a str) -> Self {
        self.overlay = Some((Origin::new(name), text));
        self
    }
}

/// A schema that keeps all rules.
#[derive(Clone, Debug)]
pub struct Schema {
    origin: Origin,
    types: Vec<TypeDef>,
}

impl Schema {
    /// Reads and checks a schema.
    ///
    /// # Errors
    /// With all problems that the texts have.
    pub fn parse(input: &Input<'_>) -> Result<Self, Diagnostics> {
        let (origin, text) = &input.schema;
        let root = node::load(text, origin)?;
        let mut report = Report::new(origin);
        let mut document = read::read(&Cursor::root(&root), &mut report);
        let mut beside = None;
        if let Some((origin, text)) = &input.overlay {
            let root = node::load(text, origin)?;
            let mut report = Report::new(origin);
            overlay::apply(&Cursor::root(&root), &mut report, &mut document);
            beside = Some(report);
        }
        check::check(&document, &mut report);
        if let Some(beside) = beside {
            report.append(beside);
        }
        report.finish()?;
        Ok(Self {
            origin: origin.clone(),
            types: lower::lower(&document),
        })
    }

    /// Generates Rust types, one for each schema and in the same order.
    ///
    /// # Errors
    /// If an option is not Rust.
    pub fn to_rust(&self, options: &Options) -> Result<String, Diagnostics> {
        let [free_form, any] = options.types()?;
        let definitions = json_schema::definitions(&self.types);
        let raw = types::generate(definitions).map_err(|error| self.internal(&error))?;
        let mut paths = Paths::new(&self.types, free_form, any);
        let items = polish::polish(raw, &self.types, &mut paths, options.conversions)
            .map_err(|error| self.internal(&error))?;
        Ok(format::format(&options.header, items))
    }

    /// Words a failure that is the generator's own fault.
    fn internal(&self, error: &dyn std::error::Error) -> Diagnostics {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.extend([": ".to_owned(), cause.to_string()]);
            source = cause.source();
        }
        let at = At {
            span: Span {
                line: 1,
                column: 1,
                ..Span::default()
            },
            pointer: Pointer::root(),
        };
        let mut report = Report::new(&self.origin);
        report
            .error(Code::Internal, &at, message)
            .help("the schema is fine; please report it together with this message");
        report.into_diagnostics()
    }
}

/// Generates Rust types from a schema in one step.
///
/// # Errors
/// With all problems that the texts have.
pub fn generate(input: &Input<'_>, options: &Options) -> Result<String, Diagnostics> {
    Schema::parse(input)?.to_rust(options)
}
