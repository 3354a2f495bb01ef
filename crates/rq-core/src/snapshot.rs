//! A whole queue as bytes.
//!
//! A snapshot is a list of effects that make the queue from nothing: a head, messages in ID order,
//! deliveries in the order of their list, producers by name, an end. Each part has a bounded size, so that a log can be
//! rewritten and a dump be streamed without a copy of the queue. It is canonical: two
//! queues that behave the same write the same bytes, however their pages lie.

use crate::effect::{self, Head, Parts};
use crate::error::Error;
use crate::queue::Queue;

/// Bytes after which a part ends; a part with one larger message is larger.
const PART: usize = 64 * 1024;

/// Writes a queue, part by part.
pub fn write(queue: &Queue, mut emit: impl FnMut(&[u8])) {
    let mut out = Vec::with_capacity(PART / 8);
    let head = Head {
        last_id: queue.last_id,
        clock: queue.clock,
        messages: queue.len(),
        delivered: queue.delivered(),
        producers: queue.producers.len(),
        counters: queue.counters,
    };
    effect::put_head(&mut out, &head);
    emit(&out);
    let mut parts = Parts::messages(&mut out, PART, &mut emit);
    for message in queue.store.messages() {
        parts.put_message(message.id, message.payload);
    }
    parts.finish();
    let ranks = Ranks::new(queue);
    let mut parts = Parts::deliveries(&mut out, PART, &mut emit);
    for (message, record) in queue.group.iter_delivered(&queue.store, 0) {
        parts.put_delivery(ranks.of(message.ordinal), record);
    }
    parts.finish();
    let mut parts = Parts::producers(&mut out, PART, &mut emit);
    for (name, producer) in queue.producers.iter() {
        parts.put_producer(name, producer);
    }
    parts.finish();
    effect::put_end(&mut out);
    emit(&out);
}

/// Reads a queue, part by part.
#[derive(Default)]
pub struct Loader {
    pub(crate) queue: Queue,
}

impl Loader {
    /// Takes the next part; true when it was the last.
    ///
    /// # Errors
    /// [`Error::BadEffect`] when the part can't follow what was read so far.
    pub fn feed(&mut self, part: &[u8]) -> Result<bool, Error> {
        let ends = match effect::scope(part)? {
            effect::Scope::Begins | effect::Scope::Continues => false,
            effect::Scope::Completes => true,
            _ => return Err(Error::BadEffect("no part of a snapshot")),
        };
        self.queue.apply(part, std::iter::empty())?;
        Ok(ends)
    }

    /// The queue, once `feed` said that the last part was taken.
    #[must_use]
    pub fn finish(self) -> Queue {
        self.queue
    }
}

/// Positions of messages in ID order, from their ordinals: gaps are where messages have gone.
struct Ranks {
    /// Ordinals of the first message after a gap, and their ranks.
    runs: Vec<(u64, u64)>,
}

impl Ranks {
    fn new(queue: &Queue) -> Self {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        let mut next = None;
        for (rank, message) in queue.store.messages().enumerate() {
            if next != Some(message.ordinal) {
                runs.push((message.ordinal, rank as u64));
            }
            next = Some(message.ordinal + 1);
        }
        Self { runs }
    }

    fn of(&self, ordinal: u64) -> u64 {
        let run = self.runs.partition_point(|&(first, _)| first <= ordinal);
        match run.checked_sub(1).and_then(|run| self.runs.get(run)) {
            Some((first, rank)) => rank + (ordinal - first),
            None => 0,
        }
    }
}
