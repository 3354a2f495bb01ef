//! Outcomes as reply events.
//!
//! A [`Sink`] turns the events into a protocol: the server's own replies in the module, bytes in
//! an endpoint. The length of every list is known before its first element.

use rq_core::{
    Counters, Dead, Delivery, Held, Holder, Id, IdText, Info, Meta, Paused, Pending, Policy,
    Produced, Queue, Scheduled, Settled, Waiting,
};

/// Where replies go.
pub trait Sink {
    /// A list of so many elements follows.
    fn array(&mut self, length: usize);
    /// A map of so many pairs follows; a flat list where the protocol has no maps.
    fn map(&mut self, pairs: usize);
    /// Bytes.
    fn bytes(&mut self, bytes: &[u8]);
    /// A number.
    fn integer(&mut self, number: u64);
    /// A word that stands for itself.
    fn word(&mut self, word: &'static str);
    /// Nothing: a null, in the place of a list.
    fn null(&mut self);
    /// Nothing: a null, in the place of bytes.
    fn null_bytes(&mut self);
}

/// Where replies go that nobody reads.
pub struct Nowhere;

impl Sink for Nowhere {
    fn array(&mut self, _length: usize) {}
    fn map(&mut self, _pairs: usize) {}
    fn bytes(&mut self, _bytes: &[u8]) {}
    fn integer(&mut self, _number: u64) {}
    fn word(&mut self, _word: &'static str) {}
    fn null(&mut self) {}
    fn null_bytes(&mut self) {}
}

/// The IDs of a push or of an acknowledgement.
pub fn ids(sink: &mut impl Sink, ids: impl ExactSizeIterator<Item = Id>) {
    let mut text = IdText::default();
    sink.array(ids.len());
    for id in ids {
        sink.bytes(text.of(id));
    }
}

/// The IDs of a producer's push; null where an ID is not remembered.
pub fn produced(sink: &mut impl Sink, produced: &Produced) {
    let mut text = IdText::default();
    sink.array(usize::try_from(produced.count()).unwrap_or(usize::MAX));
    for id in produced.ids() {
        match id {
            Some(id) => sink.bytes(text.of(id)),
            None => sink.null_bytes(),
        }
    }
}

/// One row of a pop or a recovery: key, ID, payload, and with meta what is known of the message.
pub fn delivery(
    sink: &mut impl Sink,
    text: &mut IdText,
    key: &[u8],
    delivery: &Delivery<'_>,
    with_meta: bool,
) {
    sink.array(3 + usize::from(with_meta));
    sink.bytes(key);
    sink.bytes(text.of(delivery.id));
    sink.bytes(delivery.payload);
    if with_meta {
        meta(sink, delivery.id, &delivery.meta);
    }
}

/// What is known of a message.
fn meta(sink: &mut impl Sink, id: Id, meta: &Meta<'_>) {
    let dead = meta.died > 0;
    sink.map(if dead { 13 } else { 11 });
    sink.bytes(b"state");
    sink.bytes(meta.state.name().as_bytes());
    number(sink, "deliveries", meta.deliveries.into());
    number(sink, "failures", meta.failures.into());
    number(sink, "enqueued", meta.enqueued);
    number(sink, "last-delivery", meta.last_delivery);
    number(sink, "deadline", meta.deadline);
    sink.bytes(b"receipt");
    match meta.deliveries {
        0 => sink.null_bytes(),
        n => sink.bytes(format!("{id}@{n}").as_bytes()),
    }
    number(sink, "priority", meta.fields.priority.into());
    sink.bytes(b"token");
    optional(sink, meta.fields.token.unwrap_or_default());
    sink.bytes(b"consumer");
    optional(sink, meta.consumer);
    if dead {
        number(sink, "died", meta.died);
        sink.bytes(b"reason");
        sink.bytes(meta.reason);
    }
    sink.bytes(b"headers");
    let headers = meta.fields.headers;
    sink.array(headers.count() * 2);
    for (name, value) in headers.iter() {
        sink.bytes(name);
        sink.bytes(value);
    }
}

/// Bytes, or null where there are none.
fn optional(sink: &mut impl Sink, bytes: &[u8]) {
    match bytes {
        [] => sink.null_bytes(),
        bytes => sink.bytes(bytes),
    }
}

/// What became of each message that was to be settled.
pub fn settled(sink: &mut impl Sink, settled: &[Settled]) {
    sink.array(settled.len());
    for each in settled {
        sink.word(each.name());
    }
}

/// Rows of dead letters: ID, payload, died, deliveries, failures, reason, consumer.
pub fn dead(sink: &mut impl Sink, rows: &[Dead<'_>]) {
    let mut text = IdText::default();
    sink.array(rows.len());
    for row in rows {
        sink.array(7);
        sink.bytes(text.of(row.id));
        sink.bytes(row.payload);
        sink.integer(row.died);
        sink.integer(row.deliveries.into());
        sink.integer(row.failures.into());
        sink.bytes(row.reason);
        optional(sink, row.consumer);
    }
}

/// Rows of messages that are due later: ID, payload, due.
pub fn scheduled(sink: &mut impl Sink, rows: &[Scheduled<'_>]) {
    let mut text = IdText::default();
    sink.array(rows.len());
    for row in rows {
        sink.array(3);
        sink.bytes(text.of(row.id));
        sink.bytes(row.payload);
        sink.integer(row.due);
    }
}

/// Rows of consumers: name, pending, idle, last seen.
pub fn consumers(sink: &mut impl Sink, rows: &[Holder<'_>]) {
    sink.array(rows.len());
    for row in rows {
        sink.array(4);
        sink.bytes(row.name);
        sink.integer(row.pending);
        sink.integer(row.idle);
        sink.integer(row.last_seen);
    }
}

/// The settings of a queue.
pub fn policy(sink: &mut impl Sink, policy: &Policy) {
    let text = |sink: &mut _, name: &str, value: &str| {
        Sink::bytes(sink, name.as_bytes());
        Sink::bytes(sink, value.as_bytes());
    };
    sink.map(14);
    number(sink, "lease", policy.lease);
    number(sink, "deliveries", policy.deliveries.into());
    number(sink, "backoff-base", policy.backoff.base);
    let (whole, rest) = (policy.backoff.factor / 1000, policy.backoff.factor % 1000);
    let factor = format!("{whole}.{rest:03}");
    text(
        sink,
        "backoff-factor",
        factor.trim_end_matches('0').trim_end_matches('.'),
    );
    number(sink, "backoff-max", policy.backoff.max);
    number(sink, "jitter", policy.jitter.into());
    number(sink, "maxlen", policy.max_length);
    number(sink, "maxbytes", policy.max_bytes);
    text(
        sink,
        "overflow",
        if policy.drops { "drop" } else { "reject" },
    );
    number(sink, "dedup", policy.dedup);
    text(
        sink,
        "expired",
        if policy.expired_dead { "dead" } else { "drop" },
    );
    number(sink, "deadmax", policy.dead_max);
    number(sink, "deadttl", policy.dead_ttl);
    number(sink, "inflight", policy.inflight);
}

/// Rows of messages in ID order: ID, payload, and with meta what is known of the message. Ends
/// early at [`LARGE`] bytes, but has a row if there is one.
pub fn range<'a>(
    sink: &mut impl Sink,
    messages: impl Iterator<Item = Held<'a>>,
    count: u64,
    with_meta: bool,
) {
    let mut bytes = 0;
    let rows: Vec<Held<'a>> = messages
        .take(usize::try_from(count).unwrap_or(usize::MAX))
        .take_while(|held| {
            let begins = bytes == 0;
            bytes += held.payload.len() + ROW;
            begins || bytes <= LARGE
        })
        .collect();
    let mut text = IdText::default();
    sink.array(rows.len());
    for row in rows {
        held(sink, &mut text, Some(&row), with_meta);
    }
}

/// A row of one message, whatever its state; null where there is none.
pub fn held(sink: &mut impl Sink, text: &mut IdText, row: Option<&Held<'_>>, with_meta: bool) {
    let Some(row) = row else {
        return sink.null();
    };
    sink.array(2 + usize::from(with_meta));
    sink.bytes(text.of(row.id));
    sink.bytes(row.payload);
    if with_meta {
        meta(sink, row.id, &row.meta);
    }
}

/// A row for each message, in their order; null where there is none.
pub fn got<'a>(
    sink: &mut impl Sink,
    rows: impl ExactSizeIterator<Item = Option<Held<'a>>>,
    with_meta: bool,
) {
    let mut text = IdText::default();
    sink.array(rows.len());
    for row in rows {
        held(sink, &mut text, row.as_ref(), with_meta);
    }
}

/// Bytes after which the reply of a range ends.
const LARGE: usize = 8 << 20;
/// Bytes that a row is taken to have beside its payload.
const ROW: usize = 64;

/// Rows of waiting messages: ID, payload.
pub fn waiting<'a>(sink: &mut impl Sink, rows: impl ExactSizeIterator<Item = Waiting<'a>>) {
    let mut text = IdText::default();
    sink.array(rows.len());
    for row in rows {
        sink.array(2);
        sink.bytes(text.of(row.id));
        sink.bytes(row.payload);
    }
}

/// Rows of delivered messages: ID, payload, last delivery, elapsed, deliveries.
pub fn pending<'a>(sink: &mut impl Sink, rows: impl ExactSizeIterator<Item = Pending<'a>>) {
    let mut text = IdText::default();
    sink.array(rows.len());
    for row in rows {
        sink.array(5);
        sink.bytes(text.of(row.id));
        sink.bytes(row.payload);
        sink.integer(row.last_delivery);
        sink.integer(row.elapsed);
        sink.integer(row.deliveries.into());
    }
}

/// A queue in numbers.
pub fn info(sink: &mut impl Sink, info: &Info) {
    let mut text = IdText::default();
    sink.map(12 + Counters::NAMES.len());
    number(sink, "waiting", info.waiting);
    number(sink, "delivered", info.delivered);
    number(sink, "scheduled", info.scheduled);
    number(sink, "dead-letters", info.dead_letters);
    number(sink, "consumers", info.consumers);
    number(sink, "bytes", info.bytes);
    sink.bytes(b"paused");
    sink.bytes(match (info.paused.push, info.paused.pop) {
        (false, false) => b"none",
        (true, false) => b"push",
        (false, true) => b"pop",
        (true, true) => b"all",
    });
    for (name, value) in Counters::NAMES.iter().zip(info.counters.values()) {
        if *name == "returned_lease" {
            number(sink, "returned", info.counters.returned());
        }
        number(sink, name, value);
    }
    number(sink, "memory", info.memory as u64);
    number(sink, "age", info.age);
    sink.bytes(b"first-id");
    sink.bytes(text.of(info.first_id.unwrap_or_default()));
    sink.bytes(b"last-id");
    sink.bytes(text.of(info.last_id));
}

/// A queue in three numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Status {
    /// Messages held.
    pub total: u64,
    /// Messages delivered and not acknowledged.
    pub processing: u64,
    /// Connections that wait or are registered, and named consumers that hold something without one.
    pub consumers: u64,
    /// Whether there is something beside messages to look after: dead letters, settings, a pause.
    pub is_kept: bool,
}

impl Status {
    /// Of a queue, where there is one, and those who wait for it.
    #[must_use]
    pub fn of(queue: Option<&Queue>, consumers: u64) -> Self {
        Self {
            total: queue.map_or(0, Queue::len),
            processing: queue.map_or(0, Queue::delivered),
            consumers,
            is_kept: queue.is_some_and(|queue| {
                queue.dead_letters() > 0
                    || queue.policy().kept
                    || queue.paused() != Paused::default()
            }),
        }
    }

    /// Whether it is to be shown unasked: a queue that only remembers producers is not.
    #[must_use]
    pub fn is_notable(&self) -> bool {
        self.total > 0 || self.consumers > 0 || self.is_kept
    }
}

/// One row of a status: key, total, processing, consumers.
pub fn status(sink: &mut impl Sink, key: &[u8], status: &Status) {
    sink.array(4);
    sink.bytes(key);
    sink.integer(status.total);
    sink.integer(status.processing);
    sink.integer(status.consumers);
}

fn number(sink: &mut impl Sink, name: &str, value: u64) {
    sink.bytes(name.as_bytes());
    sink.integer(value);
}
