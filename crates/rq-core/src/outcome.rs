//! What operations and looks give.

use crate::counters::Counters;
use crate::id::Id;
use crate::message::Fields;

/// The outcome of a push by a producer: elements stored before, then elements stored now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Produced {
    /// For each element that was stored before its ID, where it was in the producer's latest
    /// push.
    pub known: Vec<Option<Id>>,
    /// The elements behind those, where there are any.
    pub pushed: Option<Pushed>,
    /// Messages that were dropped to make room.
    pub dropped: u64,
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
    /// The ID to which the floor for new queues must be raised, 0-0 for none; see [`Id::raises`].
    pub floor: Id,
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
    /// What is known of it.
    pub meta: Meta<'a>,
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

/// A dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dead<'a> {
    /// Its ID.
    pub id: Id,
    /// Its payload.
    pub payload: &'a [u8],
    /// Milliseconds of its death.
    pub died: u64,
    /// How often it was delivered.
    pub deliveries: u32,
    /// How many of the deliveries failed.
    pub failures: u32,
    /// Why it died.
    pub reason: &'a [u8],
    /// The last consumer that held it; empty for none.
    pub consumer: &'a [u8],
}

/// A message that is to be delivered later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheduled<'a> {
    /// Its ID.
    pub id: Id,
    /// Its payload.
    pub payload: &'a [u8],
    /// Milliseconds at which it is due.
    pub due: u64,
}

/// A consumer that holds messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Messages that it holds.
    pub pending: u64,
    /// Milliseconds since it was last seen.
    pub idle: u64,
    /// Milliseconds at which it was last seen.
    pub last_seen: u64,
}

/// What became of a message that was to be settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It was done.
    Done,
    /// The message exists, but is not held, or not by this delivery.
    Stale,
    /// There is no such message.
    Unknown,
}

impl Settled {
    /// Its name, in replies.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Settled::Done => "OK",
            Settled::Stale => "STALE",
            Settled::Unknown => "UNKNOWN",
        }
    }
}

/// What became of a message so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is to be delivered later.
    Scheduled,
    /// It is to be delivered.
    Waiting,
    /// It was delivered and not settled.
    Delivered,
    /// It was taken out of the way.
    Dead,
}

impl State {
    /// Its name, in replies.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            State::Scheduled => "scheduled",
            State::Waiting => "waiting",
            State::Delivered => "delivered",
            State::Dead => "dead",
        }
    }
}

/// What is known of a message beside its payload. Fields are added, never changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta<'a> {
    /// Where it stands.
    pub state: State,
    /// How often it was delivered.
    pub deliveries: u32,
    /// How many of the deliveries failed.
    pub failures: u32,
    /// Milliseconds of its push.
    pub enqueued: u64,
    /// Milliseconds of its last delivery, 0 before the first.
    pub last_delivery: u64,
    /// Milliseconds at which its lease ends; 0 for no end, and when it is not delivered.
    pub deadline: u64,
    /// Who holds it, or held it when it died; empty for nobody by name.
    pub consumer: &'a [u8],
    /// Milliseconds of its death; 0 when it is not dead.
    pub died: u64,
    /// Why it died; empty when it is not dead.
    pub reason: &'a [u8],
    /// What travels with it.
    pub fields: Fields<'a>,
}

/// A message, whatever its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held<'a> {
    /// Its ID.
    pub id: Id,
    /// Its payload.
    pub payload: &'a [u8],
    /// What is known of it.
    pub meta: Meta<'a>,
}

impl Held<'_> {
    /// Bytes of payload and headers.
    pub(crate) fn bytes(&self) -> u64 {
        self.payload.len() as u64 + self.meta.fields.headers.bytes()
    }
}

/// Which pushes and pops are refused for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Paused {
    /// Pushes are refused.
    pub push: bool,
    /// Pops find nothing.
    pub pop: bool,
}

/// A queue in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Messages waiting.
    pub waiting: u64,
    /// Messages delivered and not acknowledged.
    pub delivered: u64,
    /// Messages that are due later.
    pub scheduled: u64,
    /// Dead letters.
    pub dead_letters: u64,
    /// Consumers that hold messages, by name.
    pub consumers: u64,
    /// Bytes of payloads and headers of messages held, dead ones not counted.
    pub bytes: u64,
    /// What is refused for now.
    pub paused: Paused,
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
