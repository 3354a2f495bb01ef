//! What operations and looks give.

use crate::counters::Counters;
use crate::id::Id;

/// The outcome of a push by a producer: elements stored before, then elements stored now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Produced {
    /// For each element that was stored before its ID, where it was in the producer's latest
    /// push.
    pub known: Vec<Option<Id>>,
    /// The elements behind those, where there are any.
    pub pushed: Option<Pushed>,
}

impl Produced {
    /// The ID of each element in their order, none where it is not remembered.
    pub fn ids(&self) -> impl Iterator<Item = Option<Id>> + '_ {
        let pushed = self.pushed.iter().flat_map(Pushed::ids);
        self.known.iter().copied().chain(pushed.map(Some))
    }

    /// Number of elements.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.known.len() as u64 + self.pushed.map_or(0, |pushed| pushed.count)
    }
}

/// The IDs of one push: consecutive, in the order of its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pushed {
    /// ID of the first element.
    pub first: Id,
    /// Number of elements.
    pub count: u64,
    /// Whether the floor for new queues must be raised to [`Pushed::last`]; see [`Id::raises`].
    pub raises: bool,
}

impl Pushed {
    /// ID of the last element.
    #[must_use]
    pub fn last(&self) -> Id {
        self.first.plus(self.count.saturating_sub(1))
    }

    /// The IDs, in the order of the elements.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = Id> + use<> {
        let first = self.first;
        (0..usize::try_from(self.count).unwrap_or(usize::MAX)).map(move |n| first.plus(n as u64))
    }
}

/// A message as it is given to a consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// Its ID.
    pub id: Id,
    /// Its payload.
    pub payload: &'a [u8],
    /// How often it was delivered, this time included.
    pub deliveries: u32,
    /// Milliseconds of this delivery.
    pub time: u64,
}

impl Delivery<'_> {
    /// What is known of the message.
    #[must_use]
    pub fn meta(&self) -> Meta {
        Meta {
            state: State::Delivered,
            deliveries: self.deliveries,
            enqueued: self.id.milliseconds,
            last_delivery: self.time,
        }
    }
}

/// A waiting message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting<'a> {
    /// Its ID.
    pub id: Id,
    /// Its payload.
    pub payload: &'a [u8],
}

/// A delivered message that was not acknowledged yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending<'a> {
    /// Its ID.
    pub id: Id,
    /// Its payload.
    pub payload: &'a [u8],
    /// Milliseconds of its last delivery.
    pub last_delivery: u64,
    /// Milliseconds since then.
    pub elapsed: u64,
    /// How often it was delivered.
    pub deliveries: u32,
}

/// What became of a message so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It was never delivered.
    Waiting,
    /// It was delivered and not acknowledged.
    Delivered,
}

impl State {
    /// Its name, in replies.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Delivered => "delivered",
        }
    }
}

/// What is known of a message beside its payload. Fields are added, never changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// Where it stands.
    pub state: State,
    /// How often it was delivered.
    pub deliveries: u32,
    /// Milliseconds of its push.
    pub enqueued: u64,
    /// Milliseconds of its last delivery, 0 before the first.
    pub last_delivery: u64,
}

/// A message, whatever its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held<'a> {
    /// Its ID.
    pub id: Id,
    /// Its payload.
    pub payload: &'a [u8],
    /// What is known of it.
    pub meta: Meta,
}

/// A queue in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Messages waiting.
    pub waiting: u64,
    /// Messages delivered and not acknowledged.
    pub delivered: u64,
    /// What happened so far.
    pub counters: Counters,
    /// Bytes allocated for the queue.
    pub memory: usize,
    /// ID of the oldest message held.
    pub first_id: Option<Id>,
    /// The last ID made.
    pub last_id: Id,
    /// Milliseconds since the oldest message held was pushed.
    pub age: u64,
}
