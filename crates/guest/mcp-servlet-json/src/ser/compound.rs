//! Serializes arrays and objects: one type for all of serde's compound types.

use serde::Serialize;
use serde::ser;

use super::Serializer;
use super::key::KeySerializer;
use crate::error::Error;
use crate::write::write_string;

/// An array or an object whose opening bracket is written.
#[derive(Debug)]
pub struct Compound<'a> {
    pub(super) out: &'a mut String,
    /// What to write at the end.
    pub(super) close: &'static str,
    /// Nothing is written after the opening bracket.
    pub(super) first: bool,
}

impl Compound<'_> {
    fn comma(&mut self) {
        if !std::mem::take(&mut self.first) {
            self.out.push(',');
        }
    }

    fn name(&mut self, name: &str) {
        self.comma();
        write_string(self.out, name);
        self.out.push(':');
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.comma();
        value.serialize(Serializer::new(self.out))
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        self.name(name);
        value.serialize(Serializer::new(self.out))
    }

    fn close(self) {
        self.out.push_str(self.close);
    }
}

macro_rules! impl_elements {
    ($($name:ident $method:ident,)*) => {$(
        impl ser::$name for Compound<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.element(value)
            }

            fn end(self) -> Result<(), Error> {
                self.close();
                Ok(())
            }
        }
    )*};
}

macro_rules! impl_fields {
    ($($name:ident,)*) => {$(
        impl ser::$name for Compound<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
                self.field(key, value)
            }

            fn end(self) -> Result<(), Error> {
                self.close();
                Ok(())
            }
        }
    )*};
}

impl_elements! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
}

impl_fields! {
    SerializeStruct,
    SerializeStructVariant,
}

impl ser::SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.comma();
        key.serialize(KeySerializer(self.out))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.push(':');
        value.serialize(Serializer::new(self.out))
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}
