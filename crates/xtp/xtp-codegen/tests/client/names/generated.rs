// @generated from the catalog of `option` 0 .1 by xtp-codegen. Do not edit.
// The tool `new` is `new_2`, because its name is taken.
// The tool `get_user` is `get_user_2` and `GetUser2`, because its name is taken.
// The tool `c` is `C2`, because its name is taken.
// The tool `C` is `c_2` and `C3`, because its name is taken.
// The tool `resources` is `resources_2` and `Resources2`, because its name is taken.
// The tool `x` is `x_2` and `X2`, because its name is taken.
// The resource `x:2` is `x_2`, because its name is taken.
// The prompt `get_user` is `GetUser3`, because its name is taken.
// The prompt `x` is `X3`, because its name is taken.

/// A client of `option`.
#[derive(Clone, Debug)]
pub struct Option_<C> {
    caller: C,
}

/// What the catalog had, to find out whether the server has changed.
pub const ENTRIES: &[::mcp_caller::Entry] = &[
    ::mcp_caller::Entry::tool(
        "new",
        "66fec5fba834d30fc4293db9eef3616211f5ae058f8de9fc3e149af43fc27712",
    ),
    ::mcp_caller::Entry::tool(
        "getUser",
        "884798b6ea8763e7ab354766f96f9f14bbadfc07a803b7686b043687896f15ab",
    ),
    ::mcp_caller::Entry::tool(
        "get_user",
        "960800a603df222e0cb8d460adc9a0c7a7f9a0630da4a26b2ff725cd278b7c41",
    ),
    ::mcp_caller::Entry::tool(
        "c",
        "3d61ee045fd63bc55f8bbf649e7a5f51773846ec4a113676d6406ac60ecc9a5d",
    ),
    ::mcp_caller::Entry::tool(
        "C",
        "c2997be62b16605ddd071273ccdb8a617e4b02659a455fde61aeb343f060eaf3",
    ),
    ::mcp_caller::Entry::tool(
        "resources",
        "b242bc154a96796ba64095cba697602a799a443d9e52ad3ed6077bfb5b950d25",
    ),
    ::mcp_caller::Entry::tool(
        "string",
        "c06c572f3d2892fcb4befe4ddb9ff16cc865b128e86364c421e1535c55a664a3",
    ),
    ::mcp_caller::Entry::tool(
        "获取天气",
        "226a219da70cb7fa35561e65263ef282db4d4c39d050f0ad97d291b8e8c3d159",
    ),
    ::mcp_caller::Entry::tool(
        "½",
        "768f01cd695fb5f55da0ec9e2c7ef542ea0527572ddb7af1da67115757aad959",
    ),
    ::mcp_caller::Entry::tool(
        "async",
        "c1821c5f99f97d3fe38f48ef5b315952a8a83274ff4d98f5455f56a351952135",
    ),
    ::mcp_caller::Entry::tool(
        "2fa",
        "7c8ab1a716d3e5d60bd410447cdd63a4f772446a436302e02463f46693c59564",
    ),
    ::mcp_caller::Entry::tool(
        "a`b\n// c",
        "ff827e9f28f18aa96d012f2cd78b05a82bfbaf5e3f7afb57feaabb52d2f8039e",
    ),
    ::mcp_caller::Entry::tool(
        "x",
        "d8121ff95a6c1f2b2c915f12cdc9206c342941521789b9f4a8f80eece7d8d62b",
    ),
    ::mcp_caller::Entry::tool(
        "present",
        "aecc07ff2366c2bb82bd8ab3fcf6da815ddb3fe86b125099e55b253412efd45a",
    ),
    ::mcp_caller::Entry::resource(
        "a://b/c",
        "7b7ceca57f96fba55c5e02c949db48a8620510e5d18949f3e9866e8936e1de0a",
    ),
    ::mcp_caller::Entry::resource(
        "x:1",
        "7dddbcae158e956d1af6d950a7f14e528a3fe3f7d84fcbeb1bc7d222b957909a",
    ),
    ::mcp_caller::Entry::resource(
        "x:2",
        "569beb87d7fcd667f47a21e44c73df29c824a6ee7a3955f50e56c2170c422a86",
    ),
    ::mcp_caller::Entry::resource_template(
        "a://{type}/{a.b}{?a.b}",
        "7a0e599398b8652bbdf813add558f0f859539e9427b78d10fb34c1bd040a2333",
    ),
    ::mcp_caller::Entry::prompt(
        "get_user",
        "dee18e240e7eff7fa7440c59f1137fa375b47b012309f8052271739cd770c3ef",
    ),
    ::mcp_caller::Entry::prompt(
        "x",
        "0229d37e33daae149bf40543a5ce1db4459d10f830d5139279aa2bfd5f6485a1",
    ),
];

impl<C: ::mcp_caller::Caller> Option_<C> {
    /// A client that calls through `caller`.
    #[must_use]
    pub const fn new(caller: C) -> Self {
        Self { caller }
    }

    /// Has the name of the constructor, of \[a link] and of `code`.
    /// - a list
    /// that goes on \<T>
    ///
    /// ```text
    /// let x
    /// ```
    ///
    /// Tool `new`.
    #[must_use]
    pub fn new_2(&self) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("new", &::mcp_caller::NoArguments {})
    }

    /// Tool `getUser`.
    #[must_use]
    pub fn get_user(&self, arguments: &GetUser) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("getUser", arguments)
    }

    /// Tool `get_user`.
    #[must_use]
    pub fn get_user_2(&self, arguments: &GetUser2) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("get_user", arguments)
    }

    /// Tool `c`.
    #[must_use]
    pub fn c(&self, arguments: &C2) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("c", arguments)
    }

    /// Tool `C`.
    #[must_use]
    pub fn c_2(&self, arguments: &C3) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("C", arguments)
    }

    /// Tool `resources`.
    #[must_use]
    pub fn resources_2(&self, arguments: &Resources2) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("resources", arguments)
    }

    /// Tool `string`.
    #[must_use]
    pub fn string(&self, arguments: &String_) -> C::Answer<'_, StringOutput> {
        self.caller.call("string", arguments, ::mcp_caller::Wrap::No)
    }

    /// Tool `获取天气`.
    #[must_use]
    pub fn 获取天气(&self, arguments: &获取天气) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("获取天气", arguments)
    }

    /// Tool `½`.
    #[must_use]
    pub fn x(&self) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("½", &::mcp_caller::NoArguments {})
    }

    /// Tool `async`.
    #[must_use]
    pub fn async_(&self) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("async", &::mcp_caller::NoArguments {})
    }

    /// Tool `2fa`.
    #[must_use]
    pub fn x2fa(&self) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("2fa", &::mcp_caller::NoArguments {})
    }

    /// Tool `` a`b // c ``.
    #[must_use]
    pub fn a_b_c(&self) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("a`b\n// c", &::mcp_caller::NoArguments {})
    }

    /// Tool `x`.
    #[must_use]
    pub fn x_2(&self) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("x", &::mcp_caller::NoArguments {})
    }

    /// Tool `present`.
    #[must_use]
    pub fn present(&self) -> C::Answer<'_, PresentOutput> {
        self.caller
            .call("present", &::mcp_caller::NoArguments {}, ::mcp_caller::Wrap::No)
    }

    /// The prompts.
    #[must_use]
    pub const fn prompts(&self) -> Prompts<'_, C> {
        let caller = &self.caller;
        Prompts { caller }
    }

    /// The resources.
    #[must_use]
    pub const fn resources(&self) -> Resources<'_, C> {
        let caller = &self.caller;
        Resources { caller }
    }
}

/// The prompts of [`Option_`].
#[derive(Clone, Copy, Debug)]
pub struct Prompts<'c, C> {
    caller: &'c C,
}

impl<'c, C: ::mcp_caller::Caller> Prompts<'c, C> {
    /// Prompt `get_user`.
    #[must_use]
    pub fn get_user(&self, arguments: &GetUser3) -> C::Answer<'c, C::Messages> {
        self.caller.prompt("get_user", arguments)
    }

    /// Prompt `x`.
    #[must_use]
    pub fn x(&self) -> C::Answer<'c, C::Messages> {
        self.caller.prompt("x", &::mcp_caller::NoArguments {})
    }
}

/// The resources of [`Option_`].
#[derive(Clone, Copy, Debug)]
pub struct Resources<'c, C> {
    caller: &'c C,
}

impl<'c, C: ::mcp_caller::Caller> Resources<'c, C> {
    /// Resource `a://b/c`.
    #[must_use]
    pub fn a_b_c(&self) -> C::Answer<'c, C::Contents> {
        self.caller.read("a://b/c")
    }

    /// Resource `x:1`.
    #[must_use]
    pub fn x(&self) -> C::Answer<'c, C::Contents> {
        self.caller.read("x:1")
    }

    /// Resource `x:2`.
    #[must_use]
    pub fn x_2(&self) -> C::Answer<'c, C::Contents> {
        self.caller.read("x:2")
    }

    /// Template `a://{type}/{a.b}{?a.b}`.
    #[must_use]
    pub fn loop_(&self, type_: &str, a_b: &str) -> C::Answer<'c, C::Contents> {
        let uri = ::mcp_caller::expand(
            "a://{type}/{a.b}{?a.b}",
            &[("type", Some(type_)), ("a.b", Some(a_b))],
        );
        self.caller.read(&uri)
    }
}

/// Arguments of the tool `getUser`.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
pub struct GetUser {
    pub id: ::mcp_caller::Value,
}

/// Arguments of the tool `get_user`.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Serialize)]
pub struct GetUser2 {
    #[serde(rename = "userID", skip_serializing_if = "Option::is_none")]
    pub user_id: Option<::mcp_caller::Value>,
    #[serde(rename = "user_id", skip_serializing_if = "Option::is_none")]
    pub user_id_2: Option<::mcp_caller::Value>,
    #[serde(rename = "user-id", skip_serializing_if = "Option::is_none")]
    pub user_id_3: Option<::mcp_caller::Value>,
    #[serde(rename = "", skip_serializing_if = "Option::is_none")]
    pub x: Option<::mcp_caller::Value>,
    #[serde(rename = "self", skip_serializing_if = "Option::is_none")]
    pub self_: Option<::mcp_caller::Value>,
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub match_: Option<::mcp_caller::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<::mcp_caller::Value>,
    /// All further properties.
    #[serde(flatten)]
    pub extra_2: ::std::collections::BTreeMap<String, ::mcp_caller::Value>,
}

/// Arguments of the tool `c`.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Serialize)]
pub struct C2 {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c: Option<C2C>,
}

#[derive(Clone, Debug, Default, PartialEq, ::serde::Serialize)]
pub struct C2C {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c: Option<String>,
}

/// Arguments of the tool `C`.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Serialize)]
pub struct C3 {
    #[serde(rename = "C", skip_serializing_if = "Option::is_none")]
    pub c: Option<C3C>,
}

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, ::serde::Serialize)]
pub enum C3C {
    /// `ok` in JSON.
    #[serde(rename = "ok")]
    Ok,
    /// `none` in JSON.
    #[serde(rename = "none")]
    None,
    /// `2-d` in JSON.
    #[serde(rename = "2-d")]
    X2D,
}

/// Arguments of the tool `resources`.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Serialize)]
pub struct Resources2 {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Resources2Prompts>,
}

#[derive(Clone, Debug, Default, PartialEq, ::serde::Serialize)]
pub struct Resources2Prompts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<::mcp_caller::Value>,
}

/// Arguments of the tool `string`.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Serialize)]
pub struct String_ {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vec: Option<String>,
}

/// Result of the tool `string`.
#[derive(Clone, Debug, PartialEq, ::serde::Deserialize)]
pub struct StringOutput {
    #[serde(rename = "box")]
    pub box_: Option<StringOutputString>,
}

#[derive(Clone, Debug, PartialEq, ::serde::Deserialize)]
pub struct StringOutputString {
    pub option: Option<Box<StringOutputString>>,
}

/// Arguments of the tool `获取天气`.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Serialize)]
pub struct 获取天气 {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub 城市: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub größe: Option<String>,
}

/// Result of the tool `present`.
#[derive(Clone, Debug, PartialEq, ::serde::Deserialize)]
pub struct PresentOutput {
    #[serde(rename = "\u{202e}\"\\", default, deserialize_with = "present")]
    pub x: Option<::mcp_caller::Value>,
}

/// Arguments of the prompt `get_user`.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Serialize)]
pub struct GetUser3 {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
}

/// Reads a value that is there, be it null.
fn present<'de, D: ::serde::Deserializer<'de>>(
    from: D,
) -> Result<Option<::mcp_caller::Value>, D::Error> {
    ::serde::Deserialize::deserialize(from).map(Some)
}
