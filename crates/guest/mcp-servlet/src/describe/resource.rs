//! Resources and families of resources: their descriptions, and how the dispatcher reads them.

pub(crate) mod template;

pub use self::template::Template;
use self::template::order;
use crate::describe::exported::{Item, Kind, Run, Runs, kind};
use crate::describe::presentation::Presentation;
use crate::returns::placeholder;
use crate::returns::resource::ResourceResult;
use crate::returns::resource_list::ListResources;

impl Kind for kind::resource {
    type Def = ResourceDef;
    type Entry = ResourceEntry;
    type Output = ResourceResult;
    const PLACEHOLDER: Item<Self> = Item {
        def: ResourceDef {
            uri: "",
            name: "",
            title: "",
            description: "",
            mime_type: "",
            size: None,
            audience: &[],
            priority: "",
            last_modified: "",
            presentation: Presentation::NONE,
        },
        entry: ResourceEntry {
            uri: "",
            mime_type: "",
            template: None,
            list: None,
            read: |_, _| placeholder(),
        },
    };
}

/// The description of a resource, or of a family of resources.
#[derive(Debug, Clone, Copy)]
pub struct ResourceDef {
    /// The URI, or the URI template.
    pub uri: &'static str,
    /// The name for programs.
    pub name: &'static str,
    /// The name that people see, empty for none.
    pub title: &'static str,
    /// The description of the resource, for the model, empty for none.
    pub description: &'static str,
    /// The media type, empty for none.
    pub mime_type: &'static str,
    /// The size in bytes, if it is known.
    pub size: Option<usize>,
    /// For whom it is, each `user` or `assistant`; empty for everyone.
    pub audience: &'static [&'static str],
    /// The importance: a JSON number from 0 to 1, empty for none.
    pub priority: &'static str,
    /// The time of the last change, as in RFC 3339, empty for unknown.
    pub last_modified: &'static str,
    /// How clients show it.
    pub presentation: Presentation,
}

impl ResourceDef {
    /// The resource, or the family that a template describes and a function lists, with the ways to read it.
    pub const fn item(
        self,
        template: Option<Template>,
        list: Option<ListResources>,
        runs: Runs<kind::resource>,
    ) -> Item<kind::resource> {
        Item {
            def: self,
            entry: ResourceEntry {
                uri: self.uri,
                mime_type: self.mime_type,
                template,
                list,
                read: runs.plain(),
            },
        }
    }
}

/// A resource, or a family of resources, as the dispatcher sees it.
#[derive(Debug, Clone, Copy)]
pub struct ResourceEntry {
    /// The URI, or the URI template.
    pub(crate) uri: &'static str,
    pub(crate) mime_type: &'static str,
    pub(crate) template: Option<Template>,
    /// Lists the resources of the family.
    pub(crate) list: Option<ListResources>,
    /// Its arguments are the values of the template's variables.
    pub(crate) read: Run<ResourceResult>,
}

impl ResourceEntry {
    /// The entries in the order in which they are compared with a URI: fixed URIs, and then the most specific template.
    pub const fn in_order<const N: usize>(entries: [Self; N]) -> [Self; N] {
        let (mut entries, mut next) = (entries, 1);
        while next < N {
            let mut at = next;
            while at > 0 && entries[at].is_before(&entries[at - 1]) {
                let entry = entries[at];
                entries[at] = entries[at - 1];
                entries[at - 1] = entry;
                at -= 1;
            }
            next += 1;
        }
        entries
    }

    /// The values of the variables as written in `uri`, if it is the URI of this resource or family.
    pub(crate) fn values<'u>(&self, uri: &'u str) -> Option<Vec<Option<&'u str>>> {
        match &self.template {
            None => (self.uri == uri).then(Vec::new),
            Some(template) => template.values(uri),
        }
    }

    /// Whether a URI is compared with this entry first.
    const fn is_before(&self, other: &Self) -> bool {
        match (&self.template, &other.template) {
            (None, Some(_)) => true,
            (Some(one), Some(other)) => order::is_more_specific(one, other),
            (_, None) => false,
        }
    }
}
