//! Splits the arguments of a call, by a table.

use mcp_servlet_json::Reader;

use super::{Arguments, Failure, Field};

/// How the arguments of a tool reach its function.
///
/// It holds the code that splits them, so that a servlet links only the code that its tools use.
#[derive(Debug, Clone, Copy)]
pub struct Parameters {
    pub(crate) table: Table,
    pub(crate) take: for<'a> fn(&mut Reader<'a>, Table) -> Result<Arguments<'a>, Failure<'a>>,
}

impl Parameters {
    /// As single arguments, by name.
    pub const fn fields(fields: &'static [Field]) -> Self {
        Self {
            table: Table {
                fields,
                names: None,
            },
            take: take_fields,
        }
    }

    /// All as one value. `names` are the known names, if the type rejects others.
    pub const fn whole(names: Option<&'static [&'static str]>) -> Self {
        Self {
            table: Table { fields: &[], names },
            take: take_whole,
        }
    }

    /// Whether one value takes all arguments.
    pub(crate) const fn are_whole(&self) -> bool {
        self.table.fields.is_empty()
    }
}

/// The table for splitting arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table {
    pub(crate) fields: &'static [Field],
    pub(crate) names: Option<&'static [&'static str]>,
}

/// Takes the object at the reader as one value.
fn take_whole<'a>(reader: &mut Reader<'a>, table: Table) -> Result<Arguments<'a>, Failure<'a>> {
    let whole = reader.skip()?;
    let mut names = Reader::from(whole);
    names.begin_object()?;
    while let Some(name) = names.next_key()? {
        if table.names.is_some_and(|known| !known.contains(&&*name)) {
            return Err(Failure::Unknown(name));
        }
        names.skip()?;
    }
    Ok(Arguments {
        fields: &[],
        texts: Vec::new(),
        whole,
    })
}

/// Splits the object at the reader into one JSON text per field.
fn take_fields<'a>(
    reader: &mut Reader<'a>,
    Table { fields, .. }: Table,
) -> Result<Arguments<'a>, Failure<'a>> {
    let mut texts = vec![None; fields.len()];
    reader.begin_object()?;
    while let Some(name) = reader.next_key()? {
        let text = reader.skip()?;
        match texts
            .iter_mut()
            .zip(fields)
            .find(|(_, field)| field.name == name)
        {
            Some((place, _)) => *place = Some(text),
            None => return Err(Failure::Unknown(name)),
        }
    }
    let arguments = Arguments {
        fields,
        texts,
        whole: "",
    };
    if arguments.missing().next().is_some() {
        return Err(Failure::Missing(arguments));
    }
    Ok(arguments)
}

/// The arguments in a JSON object, one for each field.
pub(crate) fn fields_of<'a>(
    object: &'a str,
    fields: &'static [Field],
) -> Result<Arguments<'a>, Failure<'a>> {
    let table = Table {
        fields,
        names: None,
    };
    take_fields(&mut Reader::from(object), table)
}
