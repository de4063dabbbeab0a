//! Places for connections: which ones are answered, which ones wait, and which one makes room.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use mcp_servlet_common::lock;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::super::peer::{Peer, Refusals, Refused};
use crate::server::metrics::{ConnectionLabel, Connections, OneOf};

/// The places of a listener.
pub(super) struct Places {
    most: usize,
    held: Mutex<Held>,
    refusals: Arc<Refusals>,
    counts: Connections,
}

/// Connections by number, so that the oldest one is the first.
#[derive(Default)]
struct Held {
    next: u64,
    open: BTreeMap<u64, Open>,
    waiting: BTreeMap<u64, Waiting>,
    /// How many connections only have a stream of events.
    streams: usize,
}

struct Open {
    peer: Peer,
    end: CancellationToken,
    _counted: OneOf,
}

struct Waiting {
    peer: Peer,
    place: oneshot::Sender<Place>,
    _counted: OneOf,
}

/// The place of one connection, until it is dropped.
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    /// Cancelled when the connection must make room.
    pub(super) end: CancellationToken,
    /// There once the connection only has a stream of events.
    stream: Option<OneOf>,
}

impl Places {
    pub(super) fn new(most: usize, refusals: Arc<Refusals>, counts: Connections) -> Arc<Self> {
        Arc::new(Self {
            most,
            held: Mutex::default(),
            refusals,
            counts,
        })
    }

    /// Counts a connection in this state.
    fn count(&self, state: &'static str) -> OneOf {
        OneOf::of(self.counts.get_or_create_owned(&ConnectionLabel { state }))
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        lock(&self.held)
    }

    /// A place for a new connection, as soon as there is one. As many connections may wait as there are places. If more want
    /// to, the receiver of one of them gets nothing.
    pub(super) fn ask(self: &Arc<Self>, peer: Peer) -> oneshot::Receiver<Place> {
        let (place, receiver) = oneshot::channel();
        let mut held = self.held();
        held.next += 1;
        let number = held.next;
        let waiting = Waiting {
            peer,
            place,
            _counted: self.count("waiting"),
        };
        held.waiting.insert(number, waiting);
        if held.open.len() >= self.most {
            self.refusals.add(Refused::Waiting, peer);
            self.make_room(&mut held, peer, number);
        }
        self.fill(held);
        receiver
    }

    /// Ends the oldest connection of the address that holds most, if that is more than `peer` holds.
    fn make_room(&self, held: &mut Held, peer: Peer, number: u64) {
        if let Some(rival) = peer.rival(held.open.values().map(|open| open.peer)) {
            let mut ending = held.open.values().filter(|open| open.peer == rival);
            if let Some(open) = ending.find(|open| !open.end.is_cancelled()) {
                open.end.cancel();
                self.refusals.add(Refused::Connection, rival);
            }
        }
        if held.waiting.len() <= self.most {
            return;
        }
        let waiting = held.waiting.values().map(|waiting| waiting.peer);
        let rival = peer.rival(waiting).unwrap_or(peer);
        let last = held
            .waiting
            .iter()
            .rfind(|(_, waiting)| waiting.peer == rival)
            .map_or(number, |(number, _)| *number);
        held.waiting.remove(&last);
        self.refusals.add(Refused::Connection, rival);
    }

    /// Gives free places to those that wait: first to the addresses that hold the fewest.
    fn fill(self: &Arc<Self>, mut held: MutexGuard<'_, Held>) {
        let mut given = Vec::new();
        while held.open.len() < self.most
            && let Some(number) = held.first()
            && let Some(Waiting { peer, place, .. }) = held.waiting.remove(&number)
        {
            let end = CancellationToken::new();
            let open = Open {
                peer,
                end: end.clone(),
                _counted: self.count("open"),
            };
            held.open.insert(number, open);
            let own = Place {
                places: Arc::clone(self),
                number,
                end,
                stream: None,
            };
            given.push((place, own));
        }
        // Unlock first: the place of a connection that has ended is dropped here.
        drop(held);
        for (place, own) in given {
            let _ = place.send(own);
        }
    }
}

impl Held {
    /// The number of the connection that is next.
    fn first(&self) -> Option<u64> {
        let held = self.open.values().filter(|open| open.peer.has_share());
        let count = |peer| held.clone().filter(|open| open.peer == peer).count();
        let (number, _) = match self.waiting.len() {
            0 | 1 => self.waiting.first_key_value()?,
            _ => {
                let mut counts = std::collections::HashMap::new();
                let waiting = self.waiting.iter();
                waiting.min_by_key(|(number, waiting)| {
                    let peer = waiting.peer;
                    (*counts.entry(peer).or_insert_with(|| count(peer)), **number)
                })?
            }
        };
        Some(*number)
    }
}

impl Place {
    /// Frees the place, because the connection has a stream of events and nothing else from now on. As many connections can
    /// have one as there are places.
    pub(super) fn become_stream(&mut self) {
        let mut held = self.places.held();
        if self.stream.is_some() || held.streams >= self.places.most {
            return;
        }
        self.stream = Some(self.places.count("stream"));
        held.streams += 1;
        held.open.remove(&self.number);
        self.places.fill(held);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.places.held();
        if self.stream.is_some() {
            held.streams -= 1;
        }
        held.open.remove(&self.number);
        self.places.fill(held);
    }
}
