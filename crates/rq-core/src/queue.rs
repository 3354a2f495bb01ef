//! The queue: its operations, and looking at it.
//!
//! An operation takes the time and gives its outcome; what changed goes as an effect into the
//! caller's buffer, which stays empty when nothing did. To add an operation: a method here, an
//! effect in `effect`, its application in `apply`, and what is kept in `snapshot`.

use crate::counters::Counters;
use crate::effect;
use crate::error::Error;
use crate::group::Group;
use crate::id::Id;
use crate::outcome::{Delivery, Held, Info, Meta, Pending, Produced, Pushed, State, Waiting};
use crate::producer::{Producer, Producers};
use crate::record::Record;
use crate::segment::GONE;
use crate::store::{Hint, Store, Stored};

/// Times are stored in 48 bits.
pub(crate) const TIME_END: u64 = Id::MILLISECONDS_END;

/// A reliable queue.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    pub(crate) store: Store,
    pub(crate) group: Group,
    /// The last ID made; no ID is made at or below it.
    pub(crate) last_id: Id,
    /// The latest time of a delivery. Deliveries never go back in time, whatever the caller's
    /// clock does: the delivered list is ordered by time.
    pub(crate) clock: u64,
    pub(crate) counters: Counters,
    /// Producers that number their pushes.
    pub(crate) producers: Producers,
    /// What a snapshot that is being loaded has still to bring.
    pub(crate) expected: Option<Expected>,
}

/// What a snapshot has still to bring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) messages: u64,
    pub(crate) deliveries: u64,
    pub(crate) producers: u64,
}

impl Queue {
    /// A queue without messages, whose IDs are above `floor`.
    #[must_use]
    pub fn new(floor: Id) -> Self {
        Self {
            last_id: floor,
            ..Self::default()
        }
    }

    /// Makes a queue that holds nothing as a new one is, but for some memory that it keeps to use
    /// again.
    pub fn renew(&mut self, floor: Id) {
        if self.is_empty() {
            self.store.renew();
            self.group.renew();
            self.last_id = floor;
            self.clock = 0;
            self.counters = Counters::default();
            self.producers = Producers::default();
            self.expected = None;
        }
    }

    /// The time of a delivery at `now`.
    fn time(&self, now: u64) -> u64 {
        now.min(TIME_END - 1).max(self.clock)
    }

    // ---- operations ----

    /// Appends messages. `floor` is the largest ID that was ever given by whoever keeps queues.
    ///
    /// # Errors
    /// [`Error::Exhausted`] when there are not enough IDs left; nothing is stored then.
    pub fn push<'a>(
        &mut self,
        now: u64,
        floor: Id,
        elements: impl ExactSizeIterator<Item = &'a [u8]>,
        effect: &mut Vec<u8>,
    ) -> Result<Pushed, Error> {
        effect.clear();
        let count = elements.len() as u64;
        let first = self.last_id.next(now, count).ok_or(Error::Exhausted)?;
        let mut pushed = Pushed {
            first,
            count,
            raises: false,
        };
        if count > 0 {
            pushed.raises = pushed.last().raises(floor, now);
            self.append(&pushed, elements);
            effect::put_push(effect, &pushed);
        }
        Ok(pushed)
    }

    /// Appends messages of a producer, the first of which has the number `sequence`, the others
    /// the numbers behind. Those up to the producer's highest number are stored already, and are
    /// not stored again.
    ///
    /// # Errors
    /// [`Error::Gap`] when a known producer leaves numbers out, [`Error::Exhausted`] when numbers or
    /// IDs do not suffice; nothing is stored then.
    pub fn produce<'a>(
        &mut self,
        now: u64,
        floor: Id,
        (name, sequence): (&[u8], u64),
        elements: impl ExactSizeIterator<Item = &'a [u8]>,
        effect: &mut Vec<u8>,
    ) -> Result<Produced, Error> {
        effect.clear();
        let count = elements.len() as u64;
        let Some(before) = sequence.checked_sub(1) else {
            return Err(Error::Gap(0));
        };
        let last = before.checked_add(count).ok_or(Error::Exhausted)?;
        let known = match self.producers.get(name) {
            Some(producer) if before > producer.highest => {
                return Err(Error::Gap(producer.highest));
            }
            Some(producer) => (sequence..=last.min(producer.highest))
                .map(|number| producer.id_of(number))
                .collect(),
            None => Vec::new(),
        };
        let fresh = Fresh(elements, known.len());
        let mut produced = Produced {
            known,
            pushed: None,
        };
        if fresh.len() > 0 {
            let (count, time) = (fresh.len() as u64, now.min(TIME_END - 1));
            let first = self.last_id.next(now, count).ok_or(Error::Exhausted)?;
            let mut pushed = Pushed {
                first,
                count,
                raises: false,
            };
            pushed.raises = pushed.last().raises(floor, now);
            let time = (self.producers.get(name)).map_or(time, |producer| time.max(producer.time));
            self.append(&pushed, fresh);
            self.producers.set(
                name,
                Producer {
                    highest: last,
                    first,
                    count,
                    time,
                },
            );
            effect::put_produce(effect, &pushed, name, last, time);
            produced.pushed = Some(pushed);
        }
        Ok(produced)
    }

    /// When there is something to do for [`Queue::expire`].
    #[must_use]
    pub fn next_due(&self) -> Option<u64> {
        self.producers.next_due()
    }

    /// Does what is due by now, at most `limit` of it: forgets producers.
    pub fn expire(&mut self, now: u64, limit: usize, effect: &mut Vec<u8>) {
        effect.clear();
        let due: Vec<Box<[u8]>> = self
            .producers
            .due(now)
            .take(limit)
            .map(Into::into)
            .collect();
        if !due.is_empty() {
            effect::put_forget(effect, due.iter().map(|name| &**name));
            due.iter().for_each(|name| _ = self.producers.remove(name));
        }
    }

    /// Appends messages whose IDs were made.
    pub(crate) fn append<'a>(
        &mut self,
        pushed: &Pushed,
        elements: impl ExactSizeIterator<Item = &'a [u8]>,
    ) {
        self.expected = None;
        for (id, element) in pushed.ids().zip(elements) {
            self.store.append(id, element);
        }
        self.group.appended(pushed.count);
        self.last_id = pushed.last();
        self.counters.sent += pushed.count;
    }

    /// How many messages a pop of at most `count` would deliver.
    #[must_use]
    pub fn available(&self, count: u64) -> u64 {
        self.group.waiting().min(count)
    }

    /// Delivers up to `count` waiting messages, in order, and tells how many.
    pub fn pop(
        &mut self,
        now: u64,
        count: u64,
        effect: &mut Vec<u8>,
        mut visit: impl FnMut(Delivery<'_>),
    ) -> u64 {
        effect.clear();
        let (count, time) = (self.available(count), self.time(now));
        let mut first = None;
        self.deliver(time, count, |delivery| {
            first = first.or(Some(delivery.id));
            visit(delivery);
        });
        if let Some(first) = first {
            effect::put_deliver(effect, time, first, count);
        }
        count
    }

    pub(crate) fn deliver(&mut self, time: u64, count: u64, mut visit: impl FnMut(Delivery<'_>)) {
        if count == 0 {
            return;
        }
        self.expected = None;
        self.clock = time;
        self.counters.received += count;
        self.group.pop(&mut self.store, time, count, |message| {
            visit(Delivery {
                id: message.id,
                payload: message.payload,
                deliveries: 1,
                time,
            });
        });
    }

    /// Lets go of delivered messages. Those that are none are passed over; the others are put
    /// into `acknowledged`.
    pub fn acknowledge(
        &mut self,
        ids: impl Iterator<Item = Id>,
        acknowledged: &mut Vec<Id>,
        effect: &mut Vec<u8>,
    ) {
        effect.clear();
        acknowledged.clear();
        acknowledged.extend(ids.filter(|&id| self.group.acknowledge(&mut self.store, id)));
        if !acknowledged.is_empty() {
            self.expected = None;
            self.counters.deleted += acknowledged.len() as u64;
            effect::put_acknowledge(effect, acknowledged);
        }
    }

    /// How many messages a recovery would deliver: at most `count`, each delivered at least
    /// `elapsed` milliseconds ago.
    #[must_use]
    pub fn recoverable(&self, now: u64, count: u64, elapsed: u64) -> u64 {
        match self.time(now).checked_sub(elapsed) {
            Some(until) => self.group.due(until, count),
            None => 0,
        }
    }

    /// Delivers again up to `count` messages that were delivered at least `elapsed` milliseconds
    /// ago and not acknowledged, the longest delivered first, and tells how many.
    pub fn recover(
        &mut self,
        now: u64,
        count: u64,
        elapsed: u64,
        effect: &mut Vec<u8>,
        mut visit: impl FnMut(Delivery<'_>),
    ) -> u64 {
        effect.clear();
        let (count, time) = (self.recoverable(now, count, elapsed), self.time(now));
        let mut first = None;
        self.redeliver(time, count, |delivery| {
            first = first.or(Some(delivery.id));
            visit(delivery);
        });
        if let Some(first) = first {
            effect::put_redeliver(effect, time, first, count);
        }
        count
    }

    pub(crate) fn redeliver(&mut self, time: u64, count: u64, mut visit: impl FnMut(Delivery<'_>)) {
        if count == 0 {
            return;
        }
        self.expected = None;
        self.clock = time;
        self.counters.received += count;
        self.counters.returned += count;
        self.group
            .redeliver(&self.store, time, count, |message, deliveries| {
                visit(Delivery {
                    id: message.id,
                    payload: message.payload,
                    deliveries,
                    time,
                });
            });
    }

    // ---- looking ----

    /// Messages held.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.store.live()
    }

    /// Whether the queue holds messages.
    #[must_use]
    pub fn has_messages(&self) -> bool {
        self.store.live() > 0
    }

    /// Whether the queue holds nothing, neither messages nor what must be remembered, so that it
    /// need not be kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.store.live() == 0 && self.producers.is_empty()
    }

    /// Messages waiting.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.group.waiting()
    }

    /// Messages delivered and not acknowledged.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.group.delivered()
    }

    /// What happened so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Bytes allocated, this value included.
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.store.heap() + self.group.heap() + self.producers.heap()
    }

    /// How many allocations freeing takes, roughly.
    #[must_use]
    pub fn free_effort(&self) -> usize {
        self.store.segments() * 2 + 1
    }

    /// Waiting messages from a position on, in the order of delivery, with their number. A
    /// negative position counts from the end.
    pub fn inspect_waiting(
        &self,
        start: i64,
        count: u64,
    ) -> impl ExactSizeIterator<Item = Waiting<'_>> {
        let (start, count) = window(self.group.waiting(), start, count);
        let messages = self.group.iter_waiting(&self.store, start);
        Counted(
            messages.map(|m| Waiting {
                id: m.id,
                payload: m.payload,
            }),
            count,
        )
    }

    /// Delivered messages from a position on, in the order of last delivery. A negative position
    /// counts from the end.
    pub fn inspect_pending(
        &self,
        now: u64,
        start: i64,
        count: u64,
    ) -> impl ExactSizeIterator<Item = Pending<'_>> {
        let (start, count) = window(self.group.delivered(), start, count);
        let now = self.time(now);
        let messages = self.group.iter_delivered(&self.store, start);
        let pending = messages.map(move |(m, record)| Pending {
            id: m.id,
            payload: m.payload,
            last_delivery: record.time(),
            elapsed: now.saturating_sub(record.time()),
            deliveries: record.deliveries,
        });
        Counted(pending, count)
    }

    /// Messages from one ID to another, both included, in ID order whatever their state, or in
    /// the reverse order.
    pub fn range(&self, from: Id, to: Id, reverse: bool) -> impl Iterator<Item = Held<'_>> {
        let store = &self.store;
        let start = if !reverse {
            store.seek_id(from)
        } else if let Some(above) = to.successor() {
            (store.seek_id(above)).map_or_else(|| store.last(), |place| store.before(place))
        } else {
            store.last()
        };
        let step = move |&place: &_| {
            if reverse {
                store.before(place)
            } else {
                store.after(place)
            }
        };
        std::iter::successors(start, step)
            .filter_map(move |place| store.get(place))
            .take_while(move |message| from <= message.id && message.id <= to)
            .filter(|message| message.record != GONE)
            .map(|message| self.held(&message))
    }

    /// The message with an ID, whatever its state, where there is one.
    #[must_use]
    pub fn get(&self, id: Id) -> Option<Held<'_>> {
        self.range(id, id, false).next()
    }

    /// The message that is delivered next, or with `back` the one that is delivered last of those that
    /// wait now.
    #[must_use]
    pub fn peek(&self, back: bool) -> Option<Held<'_>> {
        let waiting = self.inspect_waiting(if back { -1 } else { 0 }, 1).next()?;
        self.get(waiting.id)
    }

    fn held<'a>(&self, message: &Stored<'a>) -> Held<'a> {
        let record = self.group.record(message);
        Held {
            id: message.id,
            payload: message.payload,
            meta: Meta {
                state: record.map_or(State::Waiting, |_| State::Delivered),
                deliveries: record.map_or(0, |record| record.deliveries),
                enqueued: message.id.milliseconds,
                last_delivery: record.map_or(0, Record::time),
            },
        }
    }

    /// Up to `parts` - 1 IDs that cut the queue into parts of nearly equal counts: each is the
    /// first of its part. Costs a look at each page, and none at payloads.
    #[must_use]
    pub fn split(&self, parts: u64) -> Vec<Id> {
        self.store.split(parts)
    }

    /// The queue in numbers.
    #[must_use]
    pub fn info(&self, now: u64) -> Info {
        let first = (self.store.seek(0, &mut Hint::default()))
            .map(|first| self.store.live_from(first))
            .and_then(|place| self.store.get(place?));
        let first_id = first.map(|message| message.id);
        Info {
            waiting: self.group.waiting(),
            delivered: self.group.delivered(),
            counters: self.counters,
            memory: self.memory(),
            first_id,
            last_id: self.last_id,
            age: first_id.map_or(0, |id| now.saturating_sub(id.milliseconds)),
        }
    }
}

/// The part of a list of `total` that starts at a position, from the end when negative.
fn window(total: u64, start: i64, count: u64) -> (u64, usize) {
    let start = match u64::try_from(start) {
        Ok(start) => start.min(total),
        Err(_) => total.saturating_sub(start.unsigned_abs()),
    };
    let count = count.min(total - start);
    (start, usize::try_from(count).unwrap_or(usize::MAX))
}

/// An iterator that is known to give at least so many, and is asked for no more.
struct Counted<I>(I, usize);

impl<I: Iterator> Iterator for Counted<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.1 = self.1.checked_sub(1)?;
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.1, Some(self.1))
    }
}

impl<I: Iterator> ExactSizeIterator for Counted<I> {}

/// Elements without the first few.
struct Fresh<I>(I, usize);

impl<I: ExactSizeIterator> Iterator for Fresh<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.nth(std::mem::take(&mut self.1))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.0.len().saturating_sub(self.1);
        (left, Some(left))
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for Fresh<I> {}
