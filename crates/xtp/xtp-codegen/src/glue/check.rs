//! Checks payloads that their content type cannot carry, and names that a WebAssembly module reserves.

use crate::diagnostic::{Code, Report};
use crate::document::{ContentType, Scalar};
use crate::ir::{Function, Item, Kind, Module, Parameter, Type};
use crate::names::is_listed;

/// Names that linkers and hosts do not take for functions of the plugin.
const RESERVED: [&str; 4] = ["memory", "_start", "_initialize", "__wasm_call_ctors"];

/// Functions of the compiler's own library, which it calls in every plugin. An export with such a name would replace
/// the function, with another type.
const LIBRARY: [&str; 6] = ["bcmp", "memcmp", "memcpy", "memmove", "memset", "strlen"];

/// Mathematical functions of that library. Each also exists for numbers of other widths; see [`is_mathematics`].
const MATHEMATICS: &str = "\
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 \
    fabs fdim floor fma fmax fmaximum fmaximum_num fmin fminimum fminimum_num fmod hypot ldexp \
    log log10 log1p log2 pow rint round roundeven sin sinh sqrt tan tanh tgamma";

/// Reports every export and import that a plugin cannot have.
pub(crate) fn check_glue(module: &Module, decode_byte: bool, report: &mut Report) {
    for export in &module.exports {
        name(export, report);
    }
    for function in module.exports.iter().chain(&module.imports) {
        for parameter in function.parameters() {
            payload(module, parameter, decode_byte, report);
        }
    }
}

fn name(export: &Function, report: &mut Report) {
    let name = export.name.wire.as_str();
    let message = if RESERVED.contains(&name) {
        format!("WebAssembly reserves the name `{name}`")
    } else if name == "main" {
        "the compiler gives every `main` the type of C's, which no host calls".to_owned()
    } else if LIBRARY.contains(&name) || is_mathematics(name) {
        format!("`{name}` is a function of the compiler's own library, which this would replace")
    } else {
        return;
    };
    let problem = report.error(Code::ReservedName, &export.at, message);
    problem.help("no plugin can export a function of this name: choose another");
}

/// Whether it is one of these functions: `log`, `logf`, `floorf16` and so on.
fn is_mathematics(name: &str) -> bool {
    let is_plain = |name: &str| is_listed(MATHEMATICS, name);
    let mut suffixes = ["f", "f16", "f128"].into_iter();
    is_plain(name)
        || suffixes.any(|suffix| name.strip_suffix(suffix).is_some_and(is_plain))
        || ["lgamma_r", "lgammaf_r"].contains(&name)
}

fn payload(module: &Module, parameter: &Parameter, decode_byte: bool, report: &mut Report) {
    let content_type = match parameter.content_type {
        ContentType::Json => return,
        ContentType::Text => "text/plain; charset=utf-8",
        ContentType::Binary => "application/x-binary",
    };
    let what = what(module, &parameter.value);
    if decode_byte && is_byte(module, &parameter.value) {
        let message = format!(
            "the payload of `{content_type}` is base64 text, which would be read as the bytes themselves"
        );
        let problem = report.error(Code::Payload, &parameter.at, message);
        problem.help("use `contentType: application/json`, or `type: buffer`");
        return;
    }
    let fits = match parameter.content_type {
        ContentType::Text => matches!(what, What::Bytes | What::Text | What::Number | What::Word),
        _ => matches!(what, What::Bytes | What::Text),
    };
    if !fits {
        let message = format!("`{content_type}` cannot carry {}", what.words());
        let problem = report.error(Code::Payload, &parameter.at, message);
        problem.help("use `contentType: application/json`");
    }
}

/// The kind of a payload, as far as content types distinguish it.
#[derive(Clone, Copy)]
enum What {
    Bytes,
    Text,
    /// A number or a boolean.
    Number,
    /// An enum.
    Word,
    Date,
    List,
    Object,
    Any,
}

impl What {
    fn words(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Text => "a string",
            Self::Number => "a number or a boolean",
            Self::Word => "an enum",
            Self::Date => "a date",
            Self::List => "an array",
            Self::Object => "an object",
            Self::Any => "any JSON",
        }
    }
}

/// Whether the type is `type: string` with `format: byte`.
fn is_byte(module: &Module, item: &Item) -> bool {
    match &item.ty {
        Type::Scalar(scalar) => *scalar == Scalar::Byte,
        Type::Named(id) => match &module.get(*id).kind {
            Kind::Alias(item) => is_byte(module, item),
            _ => false,
        },
        _ => false,
    }
}

fn what(module: &Module, item: &Item) -> What {
    match &item.ty {
        Type::Scalar(scalar) => match scalar {
            Scalar::String | Scalar::Byte => What::Text,
            Scalar::Buffer => What::Bytes,
            Scalar::DateTime => What::Date,
            Scalar::Boolean | Scalar::Integer(_) | Scalar::Float | Scalar::Double => What::Number,
        },
        Type::List(_) => What::List,
        Type::FreeForm | Type::Map(_) => What::Object,
        Type::Any => What::Any,
        Type::Named(id) => match &module.get(*id).kind {
            Kind::Enum(_) => What::Word,
            // A newtype contains itself, so only JSON can carry it.
            Kind::Struct(_) | Kind::Union(_) | Kind::Newtype(_) => What::Object,
            Kind::Alias(item) => what(module, item),
        },
    }
}
