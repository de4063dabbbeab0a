//! The catalogue of problems.

use std::fmt;

/// The kind of problem that a [`Diagnostic`](crate::Diagnostic) reports.
///
/// The number is stable: `XTP0xx` is about YAML and JSON syntax, `XTP1xx` about the structure of
/// the document, `XTP2xx` about types, `XTP3xx` about names, `XTP9xx` about the
/// generator itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The source is neither YAML nor JSON.
    Syntax,
    /// A key appears twice in one map.
    DuplicateKey,
    /// The source has no document, or several.
    DocumentCount,
    /// The document is nested too deeply.
    TooDeep,
    /// The YAML contains something that JSON cannot express.
    BeyondJson,
    /// Aliases repeat too much.
    Aliases,
    /// A value is of another kind than expected.
    WrongKind,
    /// A key has no meaning where it is used.
    UnknownKey,
    /// A key is missing.
    MissingKey,
    /// The version is not an XTP version.
    Version,
    /// The construct is part of a proposal, in a form that this generator does not support.
    Unsupported,
    /// The published rules lack the construct; the official library has it.
    BeyondPublished,
    /// The official library lacks the construct; this generator has it.
    BeyondLibrary,
    /// The official library refuses something that has no effect, because it takes every map for a type.
    Library,
    /// The type is not an XTP type.
    UnknownType,
    /// The format does not fit the type.
    Format,
    /// Keys exclude each other, or one needs another.
    TypeKeys,
    /// A `$ref` does not point into the schemas.
    RefForm,
    /// A `$ref` names a schema that does not exist.
    RefTarget,
    /// A required property does not exist, or is listed twice.
    Required,
    /// An enum has no values, or one of them twice.
    EnumValues,
    /// The content type is not an XTP content type.
    ContentType,
    /// A schema contains itself, as trees do.
    Cycle,
    /// Every value of the schema would be infinite.
    Endless,
    /// The members of a union cannot be distinguished.
    Union,
    /// A content type cannot carry the type.
    Payload,
    /// A name is not an identifier.
    Identifier,
    /// Two names would be equal in Rust, so one of them gets a number.
    Collision,
    /// A name is a keyword in other languages.
    Keyword,
    /// WebAssembly reserves the name of an export.
    ReservedName,
    /// The generator has a bug.
    Internal,
    /// An option of the generator is not valid Rust, or names a property that does not exist.
    Options,
}

impl Code {
    /// The stable number, such as `XTP205`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "XTP001",
            Self::DuplicateKey => "XTP002",
            Self::DocumentCount => "XTP003",
            Self::TooDeep => "XTP004",
            Self::BeyondJson => "XTP005",
            Self::Aliases => "XTP006",
            Self::WrongKind => "XTP101",
            Self::UnknownKey => "XTP102",
            Self::MissingKey => "XTP103",
            Self::Version => "XTP104",
            Self::Unsupported => "XTP105",
            Self::BeyondPublished => "XTP106",
            Self::BeyondLibrary => "XTP107",
            Self::Library => "XTP108",
            Self::UnknownType => "XTP201",
            Self::Format => "XTP202",
            Self::TypeKeys => "XTP203",
            Self::RefForm => "XTP204",
            Self::RefTarget => "XTP205",
            Self::Required => "XTP206",
            Self::EnumValues => "XTP207",
            Self::ContentType => "XTP208",
            Self::Cycle => "XTP209",
            Self::Endless => "XTP210",
            Self::Union => "XTP211",
            Self::Payload => "XTP212",
            Self::Identifier => "XTP301",
            Self::Collision => "XTP302",
            Self::Keyword => "XTP303",
            Self::ReservedName => "XTP304",
            Self::Internal => "XTP901",
            Self::Options => "XTP902",
        }
    }

    /// The help for a problem of this kind that has no better one.
    pub(crate) const fn advice(self) -> &'static str {
        match self {
            Self::Syntax => {
                "quote text that has `: `, `#` or brackets in it, and indent with blanks"
            }
            Self::DuplicateKey => "remove one of the two entries",
            Self::DocumentCount => "write one document, without `---` between parts",
            Self::TooDeep => "give inner types names under `components.schemas`",
            Self::BeyondJson => "write what JSON could say too: no tags, and strings as keys",
            Self::Aliases => {
                "write what is repeated once, under `components.schemas`, and use `$ref`"
            }
            Self::WrongKind => "write a value of that kind",
            Self::UnknownKey => "remove the key",
            Self::MissingKey => "add the key",
            Self::Version => "write `version: v1-draft`",
            Self::Unsupported => "give the type a name under `components.schemas` and use `$ref`",
            Self::Library => {
                "the official library takes every map for a type; rename the key, or remove it if it has no effect"
            }
            Self::BeyondPublished | Self::BeyondLibrary => "keep it only if no other tool reads it",
            Self::UnknownType | Self::Format => "use a type and a format of XTP",
            Self::TypeKeys => "remove one of the keys",
            Self::RefForm => "write `#/components/schemas/<Name>`",
            Self::RefTarget => "define it under `components.schemas`",
            Self::Required => "list only properties in `required`",
            Self::EnumValues => "list each value once",
            Self::ContentType | Self::Payload => "use `application/json`",
            Self::Cycle | Self::Endless => "remove a property of the cycle",
            Self::Union => "give each member a value of the tag that no other has",
            Self::Identifier | Self::Collision | Self::Keyword | Self::ReservedName => {
                "choose another name"
            }
            Self::Internal => "the schema is fine; please report it together with this message",
            Self::Options => "give the path of a type, such as `::serde_json::Value`",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
