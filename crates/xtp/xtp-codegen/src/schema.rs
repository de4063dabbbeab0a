//! Generates Rust from a schema, phase by phase.

use crate::diagnostic::{Code, Diagnostics, Report};
use crate::glue::{self, Glue};
use crate::ir::{Item, Module, Type};
use crate::options::{Options, Types};
use crate::read::Cursor;
use crate::rules::{Mode, ReadOptions};
use crate::rust_types::RustTypes;
use crate::span::{At, Origin, Pointer, Span};
use crate::{check, format, lower, node, read, types};

/// The source of a schema, with the rules for reading it.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    schema: (&'a str, &'a str),
    options: ReadOptions,
}

impl<'a> Input<'a> {
    /// A schema in YAML or JSON, with its name for messages.
    pub fn new(name: &'a str, text: &'a str) -> Self {
        Self {
            schema: (name, text),
            options: ReadOptions::default(),
        }
    }

    /// Chooses how strictly the schema is judged.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.options.mode = mode;
        self
    }

    /// Chooses whether the schema may use `oneOf`, which is a proposal and not part of XTP.
    ///
    /// The members of a union are references to schemas. With a `discriminator`, as in `OpenAPI`, a property selects
    /// the member: by the name of the schema, or by a value in `mapping`. Either all members declare that property,
    /// as a required enum of one value, or none does. Without a `discriminator`, a value belongs to the first member
    /// that accepts it; it is an error if members cannot be distinguished in this way.
    ///
    /// ```yaml
    /// Shape:
    ///   oneOf:
    ///     - $ref: "#/components/schemas/Circle"
    ///     - $ref: "#/components/schemas/Square"
    ///   discriminator: {propertyName: kind}
    /// ```
    #[must_use]
    pub fn one_of(mut self, wanted: bool) -> Self {
        self.options.one_of = wanted;
        self
    }

    /// Chooses whether a schema without `required` requires all its properties, as in the official generator for
    /// Rust, instead of none.
    #[must_use]
    pub fn unlisted_required(mut self, wanted: bool) -> Self {
        self.options.unlisted_required = wanted;
        self
    }
}

/// A schema without errors.
#[derive(Clone, Debug)]
pub struct Schema {
    origin: Origin,
    module: Module,
    warnings: Diagnostics,
}

impl Schema {
    /// Reads and checks a schema.
    ///
    /// # Errors
    /// All problems, if one of them is an error.
    pub fn parse(input: &Input<'_>) -> Result<Self, Diagnostics> {
        let (name, text) = input.schema;
        let origin = Origin::new(name, text);
        let root = node::load(text, &origin)?;
        let mut report = Report::new(&origin, input.options);
        let cursor = Cursor::root(&root);
        let document = read::read(&cursor, &mut report);
        check::check_document(&cursor, &document, &mut report);
        let warnings = report.finish()?;
        let module = lower::lower(&document);
        Ok(Self {
            origin,
            module,
            warnings,
        })
    }

    /// Warnings about constructs that other tools may refuse or misunderstand, in the order of the source.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// Generates Rust types: one for each schema in the same order, and one for each inline enum or object after the
    /// type that contains it.
    ///
    /// # Errors
    /// If an option is not valid Rust.
    pub fn to_rust(&self, options: &Options) -> Result<String, Diagnostics> {
        let outside = options.types()?;
        let module = self.module(options)?;
        let rust_types = self.rust_types(&module, &outside)?;
        let items =
            types::items(&module, &rust_types, options).map_err(|error| self.internal(&error))?;
        Ok(format::format(options, items))
    }

    /// Generates a plugin: a trait of its exports with the macro that turns an implementation into wasm exports, the
    /// functions of the host, a mock host for tests, and all types.
    ///
    /// The code needs the crate `mcp-servlet` with its feature `xtp`, and contains no `unsafe`.
    ///
    /// # Errors
    /// If a content type cannot carry its type, if a plugin cannot export a name, or if an option is not valid Rust.
    pub fn to_plugin(&self, options: &Options) -> Result<String, Diagnostics> {
        let outside = self.glue_types(options)?;
        let module = self.module(options)?;
        let rust_types = self.rust_types(&module, &outside)?;
        let glue = Glue::new(&module, &rust_types, options, outside.runtime);
        let text = glue.texts().and_then(|mut texts| {
            let items = types::items(&module, &rust_types, options)?;
            texts.extend(items.into_iter().map(format::item));
            Ok(format::join(options, format::OWN_FILE, texts))
        });
        text.map_err(|error| self.internal(&error))
    }

    /// Generates an implementation of the exports for a type called `plugin`, in which each returns the error that it
    /// is not implemented.
    ///
    /// It needs the items of [`to_plugin`](Self::to_plugin) in scope. With `samples`, each function has the first
    /// code sample in Rust of its export as a comment.
    ///
    /// # Errors
    /// As [`to_plugin`](Self::to_plugin).
    pub fn to_stubs(
        &self,
        plugin: &str,
        samples: bool,
        options: &Options,
    ) -> Result<String, Diagnostics> {
        let outside = self.glue_types(options)?;
        let module = self.module(options)?;
        let rust_types = self.rust_types(&module, &outside)?;
        let glue = Glue::new(&module, &rust_types, options, outside.runtime);
        glue::stubs(&glue, plugin, samples).map_err(|error| self.internal(&error))
    }

    /// The module, in which the properties that the options name are any JSON.
    fn module(&self, options: &Options) -> Result<Module, Diagnostics> {
        let mut module = self.module.clone();
        let mut report = Report::plain(&self.origin);
        for (schema, property) in &options.any_json_properties {
            if let Some(field) = module.field_mut(schema, property) {
                field.value = Item {
                    ty: Type::Any,
                    nullable: true,
                };
            } else {
                let message = format!("the schema has no property `{schema}.{property}`");
                let problem = report.error(Code::Options, &start(), message);
                problem.help("give a property of an entry of `components.schemas`");
            }
        }
        report.finish().map(|_| module)
    }

    fn rust_types(&self, module: &Module, outside: &Types) -> Result<RustTypes, Diagnostics> {
        RustTypes::find(module, outside).map_err(|error| self.internal(&error))
    }

    /// The types outside of the schema, if glue can be generated for it.
    fn glue_types(&self, options: &Options) -> Result<Types, Diagnostics> {
        let mut report = Report::plain(&self.origin);
        glue::check_glue(&self.module, options.decode_byte, &mut report);
        report.finish()?;
        let mut types = options.types()?;
        if !self.module.types.iter().any(|def| def.name.rust == "Bytes") {
            // The generated code imports it.
            types.bytes = syn::parse_quote!(Bytes);
        }
        Ok(types)
    }

    /// The problem for a bug of the generator.
    fn internal(&self, error: &dyn std::error::Error) -> Diagnostics {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.extend([": ".to_owned(), cause.to_string()]);
            source = cause.source();
        }
        let mut report = Report::plain(&self.origin);
        report
            .error(Code::Internal, &start(), message)
            .help("the schema is fine; please report it together with this message");
        report.into_diagnostics()
    }
}

/// The position of a problem that concerns the whole schema.
fn start() -> At {
    At {
        span: Span {
            line: 1,
            column: 1,
            ..Span::default()
        },
        pointer: Pointer::root(),
    }
}

/// Generates Rust types from a schema in one step.
///
/// # Errors
/// All problems, if the schema has an error, or if an option is not valid Rust.
pub fn generate(input: &Input<'_>, options: &Options) -> Result<String, Diagnostics> {
    Schema::parse(input)?.to_rust(options)
}
