//! Kinds of content and annotations that some hosts cannot read, and how tools find out which of them a servlet uses.

/// A kind of content, or a member of its annotations, that the first interfaces of servlets lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentFeature {
    /// A block of the type `audio`.
    Audio,
    /// A block of the type `resource_link`.
    ResourceLink,
    /// A block of the type `resource`.
    Resource,
    /// Annotations with an audience.
    Audience,
    /// Annotations with a priority.
    Priority,
    /// Annotations with the time of the last change.
    LastModified,
}

impl ContentFeature {
    /// Every feature.
    pub const ALL: [Self; 6] = [
        Self::Audio,
        Self::ResourceLink,
        Self::Resource,
        Self::Audience,
        Self::Priority,
        Self::LastModified,
    ];

    /// The text in the data of a module that uses the feature, through the constructors of this crate.
    pub const fn marker(self) -> &'static str {
        match self {
            Self::Audio => "{\"mcp-servlet/content\":\"audio\"}",
            Self::ResourceLink => "{\"mcp-servlet/content\":\"resource_link\"}",
            Self::Resource => "{\"mcp-servlet/content\":\"resource\"}",
            Self::Audience => "{\"mcp-servlet/content\":\"audience\"}",
            Self::Priority => "{\"mcp-servlet/content\":\"priority\"}",
            Self::LastModified => "{\"mcp-servlet/content\":\"last_modified\"}",
        }
    }

    /// Adds the marker to the data of each module that links the caller. `black_box` keeps the compiler from removing it.
    pub(crate) fn mark(self) {
        std::hint::black_box(self.marker().as_ptr());
    }
}
