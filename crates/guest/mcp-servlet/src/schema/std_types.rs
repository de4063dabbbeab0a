//! The schemas of std's types.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroIsize, NonZeroU8, NonZeroU16, NonZeroU32,
    NonZeroU64, NonZeroUsize,
};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use mcp_servlet_json::RawJson;

use super::{Node, Property, Schema};

macro_rules! integers {
    ($($ty:ty),*) => {
        schemas! { $($ty => Node::integer(Some(<$ty>::MIN as i64), Some(<$ty>::MAX as i64)), default "0";)* }
    };
}

integers!(i8, i16, i32, u8, u16, u32);

macro_rules! natural_numbers {
    ($($ty:ty: $max:expr),*) => {
        schemas! { $($ty => Node::integer(Some(1), $max);)* }
    };
}

natural_numbers!(
    NonZeroU8: Some(u8::MAX as i64), NonZeroU16: Some(u16::MAX as i64), NonZeroU32: Some(u32::MAX as i64),
    NonZeroU64: None
);

macro_rules! signed_numbers_but_zero {
    ($($ty:ty: $signed:ty),*) => {
        schemas! {
            $($ty => Node::of_type::<$signed>().with_description("not 0");)*
        }
    };
}

signed_numbers_but_zero!(
    NonZeroI8: i8, NonZeroI16: i16, NonZeroI32: i32, NonZeroI64: i64, NonZeroIsize: isize
);

schemas! {
    Path => Node::string(), default "\"\"";
    PathBuf => Node::string(), default "\"\"";
    // The JSON that serde writes.
    Duration => Node::object(&[
        Property::new::<u64>("secs", "whole seconds"),
        Property::with_node("nanos", "nanoseconds, in addition to the seconds", &Node::integer(Some(0), Some(999_999_999)), false),
    ]);
}

schemas! {
    bool => Node::boolean(), default "false";
    i64 => Node::integer(None, None), default "0";
    u64 => Node::integer(Some(0), None), default "0";
    f32 => Node::number(), default "0.0";
    f64 => Node::number(), default "0.0";
    String => Node::string(), default "\"\"";
    str => Node::string(), default "\"\"";
    char => Node::character();
    () => Node::null(), default "null";
    RawJson => Node::any(), default "null";
}

// In wasm.
#[cfg(target_pointer_width = "32")]
schemas! {
    isize => Node::of_type::<i32>(), default "0";
    usize => Node::of_type::<u32>(), default "0";
    NonZeroUsize => Node::of_type::<NonZeroU32>();
}

#[cfg(not(target_pointer_width = "32"))]
schemas! {
    isize => Node::of_type::<i64>(), default "0";
    usize => Node::of_type::<u64>(), default "0";
    NonZeroUsize => Node::of_type::<NonZeroU64>();
}

impl<T: Schema> Schema for Option<T> {
    const NODE: &'static Node = T::NODE;
    const OPTIONAL: bool = true;
    const NAMES: Option<&'static [&'static str]> = T::NAMES;
    const UNITS: &'static [(&'static str, &'static str)] = &[("None", "")];
}

macro_rules! transparent {
    ($($ty:ident),*) => {
        $(impl<T: Schema + ?Sized> Schema for $ty<T> {
            const NODE: &'static Node = T::NODE;
            const OPTIONAL: bool = T::OPTIONAL;
            const NULLABLE: bool = T::NULLABLE;
            const NAMES: Option<&'static [&'static str]> = T::NAMES;
            const DEFAULT: &'static str = T::DEFAULT;
            const UNITS: &'static [(&'static str, &'static str)] = T::UNITS;
        })*
    };
}

transparent!(Box, Rc, Arc);

impl<T: Schema + ToOwned + ?Sized> Schema for Cow<'_, T> {
    const NODE: &'static Node = T::NODE;
    const OPTIONAL: bool = T::OPTIONAL;
    const NULLABLE: bool = T::NULLABLE;
    const NAMES: Option<&'static [&'static str]> = T::NAMES;
    const DEFAULT: &'static str = T::DEFAULT;
    const UNITS: &'static [(&'static str, &'static str)] = T::UNITS;
}

impl<T: Schema + ?Sized> Schema for &T {
    const NODE: &'static Node = T::NODE;
    const OPTIONAL: bool = T::OPTIONAL;
    const NULLABLE: bool = T::NULLABLE;
    const NAMES: Option<&'static [&'static str]> = T::NAMES;
    const DEFAULT: &'static str = T::DEFAULT;
    const UNITS: &'static [(&'static str, &'static str)] = T::UNITS;
}

impl<T: Schema> Schema for Vec<T> {
    const NODE: &'static Node = &Node::array::<T>();
    const DEFAULT: &'static str = "[]";
}

impl<T: Schema> Schema for VecDeque<T> {
    const NODE: &'static Node = &Node::array::<T>();
    const DEFAULT: &'static str = "[]";
}

impl<T: Schema, const N: usize> Schema for [T; N] {
    const NODE: &'static Node = &Node::array_of::<T>(N);
}

impl<T: Schema> Schema for [T] {
    const NODE: &'static Node = &Node::array::<T>();
    const DEFAULT: &'static str = "[]";
}

impl<T: Schema, S> Schema for HashSet<T, S> {
    const NODE: &'static Node = &Node::set::<T>();
    const DEFAULT: &'static str = "[]";
}

impl<T: Schema> Schema for BTreeSet<T> {
    const NODE: &'static Node = &Node::set::<T>();
    const DEFAULT: &'static str = "[]";
}

impl<K: Schema, T: Schema, S> Schema for HashMap<K, T, S> {
    const NODE: &'static Node = &Node::map_with_keys::<K, T>();
    const DEFAULT: &'static str = "{}";
}

impl<K: Schema, T: Schema> Schema for BTreeMap<K, T> {
    const NODE: &'static Node = &Node::map_with_keys::<K, T>();
    const DEFAULT: &'static str = "{}";
}
