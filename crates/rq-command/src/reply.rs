//! Outcomes as reply events.
//!
//! A [`Sink`] turns the events into a protocol: the server's own replies in the module, bytes in
//! an endpoint. The length of every list is known before its first element.

use rq_core::{
    Counters, Delivery, Held, Id, IdText, Info, Meta, Pending, Produced, Queue, Waiting,
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
    /// Nothing: a null, in the place of a list.
    fn null(&mut self);
    /// Nothing: a null, in the place of bytes.
    fn null_bytes(&mut self);
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
        meta(sink, &delivery.meta());
    }
}

/// What is known of a message.
fn meta(sink: &mut impl Sink, meta: &Meta) {
    sink.map(4);
    sink.bytes(b"state");
    sink.bytes(meta.state.name().as_bytes());
    number(sink, "deliveries", meta.deliveries.into());
    number(sink, "enqueued", meta.enqueued);
    number(sink, "last-delivery", meta.last_delivery);
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
        meta(sink, &row.meta);
    }
}

/// A row for each ID, in their order.
pub fn got<'a>(
    sink: &mut impl Sink,
    ids: &[Id],
    get: impl Fn(Id) -> Option<Held<'a>>,
    with_meta: bool,
) {
    let mut text = IdText::default();
    sink.array(ids.len());
    for &id in ids {
        held(sink, &mut text, get(id).as_ref(), with_meta);
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
    sink.map(6 + Counters::NAMES.len());
    number(sink, "waiting", info.waiting);
    number(sink, "delivered", info.delivered);
    for (name, value) in Counters::NAMES.iter().zip(info.counters.values()) {
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
    /// Connections that wait.
    pub consumers: u64,
}

impl Status {
    /// Of a queue, where there is one, and those who wait for it.
    #[must_use]
    pub fn of(queue: Option<&Queue>, consumers: u64) -> Self {
        Self {
            total: queue.map_or(0, Queue::len),
            processing: queue.map_or(0, Queue::delivered),
            consumers,
        }
    }

    /// Whether it is to be shown unasked: a queue that only remembers producers is not.
    #[must_use]
    pub fn is_notable(&self) -> bool {
        self.total > 0 || self.consumers > 0
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
