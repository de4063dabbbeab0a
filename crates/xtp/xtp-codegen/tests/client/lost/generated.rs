// @generated from the catalog of `lost` 0.1.0 by xtp-codegen. Do not edit.

/// A client of `lost`.
#[derive(Clone, Debug)]
pub struct Lost<C> {
    caller: C,
}

/// What the catalog had, to find out whether the server has changed.
pub const ENTRIES: &[::mcp_caller::Entry] = &[
    ::mcp_caller::Entry::tool(
        "left_out",
        "acda92f446216c9bea77c3440e372a20e0a6e308dbf05ede7ebce31c2007e86d",
    ),
    ::mcp_caller::Entry::tool(
        "any",
        "ad4353e124e2fbd58c846af6cb6f9d05606a35b281fd1b38cc4b57468ec97b19",
    ),
    ::mcp_caller::Entry::tool(
        "no_object",
        "ac89049ebc94e1aa51834adc9f40ce8af536de35081f5032eb97ec8d26ee17d2",
    ),
    ::mcp_caller::Entry::tool(
        "no_schema",
        "37615433a2e58b4012904519e5c9a04722c6c5aaf71785a25260a52772a59fc8",
    ),
];

impl<C: ::mcp_caller::Caller> Lost<C> {
    /// A client that calls through `caller`.
    #[must_use]
    pub const fn new(caller: C) -> Self {
        Self { caller }
    }

    /// Tool `left_out`.
    #[must_use]
    pub fn left_out(&self, arguments: &LeftOut) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("left_out", arguments)
    }

    /// Tool `any`.
    #[must_use]
    pub fn any(&self, arguments: &Any) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("any", arguments)
    }

    /// Tool `no_object`.
    #[must_use]
    pub fn no_object(&self) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("no_object", &::mcp_caller::NoArguments {})
    }

    /// Tool `no_schema`.
    #[must_use]
    pub fn no_schema(&self, arguments: &NoSchema) -> C::Answer<'_, NoSchemaOutput> {
        self.caller.call("no_schema", arguments, ::mcp_caller::Wrap::No)
    }
}

/// Arguments of the tool `left_out`.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Serialize)]
pub struct LeftOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuple: Option<Vec<::mcp_caller::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_tuple: Option<Vec<::mcp_caller::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<::std::collections::BTreeMap<String, ::mcp_caller::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signs: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<Vec<::mcp_caller::Value>>,
}

/// Arguments of the tool `any`.
#[derive(Clone, Debug, Default, PartialEq, ::serde::Serialize)]
pub struct Any {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<::mcp_caller::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<::mcp_caller::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_to_properties: Option<::mcp_caller::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixed: Option<::mcp_caller::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub none: Option<::mcp_caller::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<::mcp_caller::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<::mcp_caller::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub itself: Option<::mcp_caller::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lists: Option<Vec<::mcp_caller::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_schema: Option<::mcp_caller::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_type: Option<::mcp_caller::Value>,
}

/// Arguments of the tool `no_schema`.
pub type NoSchema = ::std::collections::BTreeMap<String, ::mcp_caller::Value>;

/// Result of the tool `no_schema`.
pub type NoSchemaOutput = ::mcp_caller::Value;
