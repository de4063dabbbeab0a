//! Functions and types that Rust allows and that look unlike the usual tool.
#![deny(warnings)]
#![allow(deprecated, reason = "most tools here have no descriptions")]
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

use mcp_servlet::prelude::*;

macro_rules! number {
    () => { u8 };
}

macro_rules! tools {
    ($($item:item)*) => { $(#[tool] $item)* };
}

macro_rules! typed {
    ($name:ident, $context:ty, $ty:ty, $default:literal, $doc:literal) => {
        #[doc = $doc]
        #[tool]
        fn $name(_context: $context, #[doc = $doc] #[arg(default = $default)] value: $ty) -> $ty {
            value
        }
    };
}

tools! {
    /// Made by a macro.
    fn made(
        /// its argument
        #[arg(min = 1)]
        value: u8,
    ) -> u8 {
        value
    }
}

typed!(typed, &Context, u8, 3, "Typed by a macro.");

/// Has a bound on an argument that may be absent.
#[tool]
const fn bounded(#[arg(min = 1, max = 9)] digit: Option<u8>, #[arg(min = -1.5)] float: Option<f32>,) -> bool
where
    u8: Copy,
{
    digit.is_some() && float.is_some()
}

#[doc = include_str!("../Cargo.toml")]
#[tool]
#[allow(unused_variables, unused_mut, clippy::all)]
#[must_use]
fn attributes(#[allow(unused_variables)] mut list: Vec<number!()>, _: &Context) -> Cow<'static, str> {
    Cow::Borrowed("")
}

#[tool]
fn defaults(
    #[arg(default = HashMap::<String, u8>::new())] map: HashMap<String, u8>,
    #[arg(default = 'x', example = 'y')] letter: char,
    #[arg(default = { let a = 1; a + 1 })] sum: u8,
    #[arg(default = 0xff)] hex: u32,
) -> String {
    format!("{}{letter}{sum}{hex}", map.len())
}

#[derive(Default, Deserialize, Serialize, Schema)]
struct Unit;

mod other {
    use super::*;

    #[derive(Default, Deserialize, Serialize, Schema)]
    pub(crate) struct Item {
        pub(crate) id: u8,
    }
}

#[derive(Deserialize, Serialize, Schema)]
struct Item {
    item: other::Item,
}

#[derive(Serialize, Schema)]
struct Borrowed<'a, T: ?Sized + Serialize, const N: usize = 1>
where
    T: 'a,
{
    text: &'a str,
    value: &'a T,
    #[serde(skip)]
    marker: PhantomData<[u8; N]>,
}

#[derive(Serialize, Schema)]
#[serde(transparent)]
struct Wrapped<T> {
    inner: Option<T>,
    marker: PhantomData<u8>,
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(try_from = "String", into = "String")]
#[derive(Clone)]
struct Code(u8, u8);

impl From<Code> for String {
    fn from(code: Code) -> Self {
        format!("{}-{}", code.0, code.1)
    }
}

impl TryFrom<String> for Code {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let (a, b) = text.split_once('-').ok_or("a code has a dash")?;
        Ok(Self(a.parse().map_err(|_| "no number")?, b.parse().map_err(|_| "no number")?))
    }
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all(serialize = "camelCase", deserialize = "camelCase"))]
struct Same {
    #[serde(default = "zero", alias = "older")]
    new_name: u8,
    #[serde(rename(serialize = "type", deserialize = "type"))]
    kind: String,
    r#match: Option<Box<u8>>,
    #[serde(with = "two", default)]
    #[schema(json = r#"{"type":"string"}"#, example = "ab")]
    two: u8,
}

/// Limits next to an alias and in a variant without a tag, where they can be checked.
#[derive(Deserialize, Schema)]
#[serde(untagged)]
enum Several<T> {
    One(T),
    #[serde(alias = "all")]
    Many(Vec<String>),
    Range {
        #[schema(max = 5)]
        end: u8,
    },
}

fn zero() -> u8 {
    0
}

mod two {
    pub(crate) fn serialize<S: serde::Serializer>(_: &u8, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("two")
    }

    pub(crate) fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
        serde::Deserialize::deserialize(deserializer).map(|text: String| text.len() as u8)
    }
}

#[tool]
fn types(unit: Unit, item: Item, code: Code, same: Same, _several: Several<u8>) -> Json<BTreeMap<String, u8>> {
    let _ = (unit, item.item.id, code, same.new_name, same.kind, same.r#match, same.two);
    Json(BTreeMap::new())
}

#[tool]
fn borrowed() -> Json<Borrowed<'static, [u8]>> {
    Json(Borrowed { text: "", value: &[], marker: PhantomData })
}

#[tool]
fn wrapped() -> Json<Wrapped<u8>> {
    Json(Wrapped { inner: None, marker: PhantomData })
}

mcp_servlet::export!(static SERVLET = {
    tools: [made, typed, bounded, attributes, defaults, types, borrowed, wrapped],
});

fn main() {
    let tools = SERVLET.client().describe().unwrap().tools.unwrap();
    assert_eq!(tools.len(), 8);
    assert_eq!(tools[1].description, "Typed by a macro.");
    assert!(tools[3].description.starts_with("[package]"));
}
