//! YAML documents with bounds on their aliases.
//!
//! The YAML library copies what an alias refers to. A few lines with aliases of aliases could make a document of any
//! size and depth, so both are counted before anything is copied.

use std::collections::BTreeMap;

use saphyr::{MarkedYaml, Marker, ScanError, YamlLoader};
use saphyr_parser::{Event, Parser, Span, SpannedEventReceiver};

/// How many nodes all aliases of a source may add.
const MAX_ALIASED_NODES: usize = 100_000;
/// How deep nodes may nest. Without aliases, the indentation limit and the parser keep them below this.
const MAX_NODE_DEPTH: usize = 512;

/// Why the documents could not be read.
pub(super) enum Error {
    Scan(ScanError),
    /// An alias adds too much.
    Bomb {
        alias: Marker,
        what: &'static str,
    },
}

/// The documents of a source.
pub(super) fn documents(text: &str) -> Result<Vec<MarkedYaml<'_>>, Error> {
    let mut bounds = Bounds::default();
    let mut parser = Parser::new_from_iter(text.chars());
    let parsed = parser.load(&mut bounds, true);
    if let Some((alias, what)) = bounds.exceeded {
        return Err(Error::Bomb { alias, what });
    }
    if let Some(error) = bounds.loader.error().cloned().or(parsed.err()) {
        return Err(Error::Scan(error));
    }
    Ok(bounds.loader.into_documents())
}

/// Passes events to the loader until an alias exceeds a bound.
#[derive(Default)]
struct Bounds<'a> {
    loader: YamlLoader<'a, MarkedYaml<'a>>,
    /// The collections that have begun and not ended.
    open: Vec<Open>,
    anchored: BTreeMap<usize, Extent>,
    copied: usize,
    exceeded: Option<(Marker, &'static str)>,
}

struct Open {
    anchor: usize,
    content: Extent,
}

/// The size of a node and everything in it.
#[derive(Clone, Copy, Default)]
struct Extent {
    nodes: usize,
    depth: usize,
}

impl Bounds<'_> {
    /// Counts a complete node. Only those with an anchor, whose number is not 0, can be repeated.
    fn node(&mut self, anchor: usize, extent: Extent) {
        if anchor > 0 {
            self.anchored.insert(anchor, extent);
        }
        if let Some(parent) = self.open.last_mut() {
            parent.content.nodes += extent.nodes;
            parent.content.depth = parent.content.depth.max(extent.depth);
        }
    }

    fn alias(&mut self, anchor: usize, place: Marker) {
        let extent = self.anchored.get(&anchor).copied().unwrap_or_default();
        self.copied += extent.nodes;
        if self.copied > MAX_ALIASED_NODES {
            self.exceeded = Some((place, "the aliases repeat too much of the document"));
        } else if self.open.len() + extent.depth > MAX_NODE_DEPTH {
            self.exceeded = Some((place, "the aliases nest the document too deeply"));
        }
        self.node(0, extent);
    }
}

impl<'a> SpannedEventReceiver<'a> for Bounds<'a> {
    fn on_event(&mut self, event: Event<'a>, span: Span) {
        if self.exceeded.is_some() {
            return;
        }
        match &event {
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                let (anchor, content) = (*anchor, Extent::default());
                self.open.push(Open { anchor, content });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(Open { anchor, content }) = self.open.pop() {
                    let extent = Extent {
                        nodes: content.nodes + 1,
                        depth: content.depth + 1,
                    };
                    self.node(anchor, extent);
                }
            }
            Event::Scalar(_, _, anchor, _) => self.node(*anchor, Extent { nodes: 1, depth: 0 }),
            Event::Alias(anchor) => self.alias(*anchor, span.start),
            _ => {}
        }
        if self.exceeded.is_none() {
            self.loader.on_event(event, span);
        }
    }
}
