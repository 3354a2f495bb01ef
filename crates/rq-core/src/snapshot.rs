//! A whole queue as bytes.
//!
//! A snapshot is a list of effects that make the queue from nothing: a head, messages in ID order, where those stand that do
//! not wait in that order, what is remembered, an end. Each part has a bounded size, so that a log can be
//! rewritten and a dump be streamed without a copy of the queue. It is canonical: two
//! queues that behave the same write the same bytes, however their pages lie.

use crate::effect;
use crate::error::Error;
use crate::parts::{self, DeliveryEntry, Head, Kind, Writer};
use crate::queue::{Expected, Queue};
use crate::record::Place;
use crate::segment::SCHEDULED;

/// Bytes after which a part ends; a part with one larger message is larger.
const PART: usize = 64 * 1024;

/// Writes a queue, part by part.
pub fn write(queue: &Queue, mut emit: impl FnMut(&[u8])) {
    let mut out = Vec::with_capacity(PART / 8);
    parts::put_head(&mut out, &head(queue));
    emit(&out);
    let mut messages = Writer::new(&mut out, Kind::Messages, PART, &mut emit);
    for message in queue.store.messages() {
        messages.put_message(message.id, message.prefix, message.payload);
    }
    messages.finish();
    let ranks = Ranks::new(queue);
    write_records(queue, &ranks, &mut out, &mut emit);
    write_orders(queue, &ranks, &mut out, &mut emit);
    let mut producers = Writer::new(&mut out, Kind::Producers, PART, &mut emit);
    for (name, producer, time) in queue.producers.iter() {
        producers.put_producer(name, &producer, time.unwrap_or(0));
    }
    producers.finish();
    let mut tokens = Writer::new(&mut out, Kind::Tokens, PART, &mut emit);
    for (token, id, time) in queue.tokens.iter() {
        if let Some(time) = time {
            tokens.put_token(token, id, time);
        }
    }
    tokens.finish();
    parts::put_end(&mut out);
    emit(&out);
}

fn head(queue: &Queue) -> Head {
    let group = &queue.group;
    let records = group.records.live() as u64;
    let (delivered, letters) = (queue.delivered(), group.letters.len());
    let resting = records - delivered - letters;
    let lined = group
        .lanes
        .iter()
        .map(|(_, lane)| lane.live() - lane.returned.len() as u64)
        .sum();
    let retries = resting_records(queue)
        .filter(|(_, record)| record.place == Place::Retry)
        .count() as u64;
    Head {
        last_id: queue.last_id,
        clock: queue.clock,
        expected: Expected {
            messages: queue.store.live(),
            deliveries: delivered,
            resting,
            letters,
            scheduled: group.scheduled() - retries,
            lined,
            producers: queue.producers.len(),
            tokens: queue
                .tokens
                .iter()
                .filter(|(_, _, time)| time.is_some())
                .count() as u64,
        },
        counters: queue.counters,
        policy: queue.policy,
        paused: queue.paused,
    }
}

/// Records of messages that were delivered before, and wait or will, in ID order.
fn resting_records(queue: &Queue) -> impl Iterator<Item = (u64, &crate::record::Record)> {
    let group = &queue.group;
    let any = group.records.live() as u64 > group.delivered() + group.letters.len();
    let messages = any.then(|| queue.store.messages()).into_iter().flatten();
    messages
        .filter_map(|message| Some((u64::from(message.record), group.record(&message)?)))
        .filter(|(_, record)| {
            matches!(
                record.place,
                Place::Returned | Place::Retry | Place::Redriven
            )
        })
}

fn write_records(queue: &Queue, ranks: &Ranks, out: &mut Vec<u8>, emit: &mut impl FnMut(&[u8])) {
    let group = &queue.group;
    let mut deliveries = Writer::new(out, Kind::Deliveries, PART, &mut *emit);
    for (message, number) in group.iter_delivered(&queue.store, 0) {
        let Some(&record) = group.records.get(number) else {
            continue;
        };
        let (lease, deadline) = group.delivered.lease(&group.records, number);
        let consumer = group.consumers.holder(&group.records, number);
        let entry = DeliveryEntry {
            record,
            lease,
            deadline,
            consumer,
        };
        deliveries.put_delivery(ranks.of(message.ordinal), &entry);
    }
    deliveries.finish();
    let mut resting = Writer::new(out, Kind::Resting, PART, &mut *emit);
    for (number, record) in resting_records(queue) {
        let due = group.records.deadline(number as u32);
        resting.put_resting(ranks.of(record.ordinal()), record, due);
    }
    resting.finish();
    let mut letters = Writer::new(out, Kind::Letters, PART, &mut *emit);
    for letter in group.letters.iter() {
        let message = queue.store.of(letter.ordinal);
        if let Some(record) = message.and_then(|message| group.record(&message)) {
            letters.put_letter(ranks.of(letter.ordinal), record, letter);
        }
    }
    letters.finish();
}

fn write_orders(queue: &Queue, ranks: &Ranks, out: &mut Vec<u8>, emit: &mut impl FnMut(&[u8])) {
    let group = &queue.group;
    let mut schedule = Writer::new(out, Kind::Schedule, PART, &mut *emit);
    for (due, message) in group.iter_scheduled(&queue.store) {
        if message.record == SCHEDULED {
            schedule.put_scheduled(ranks.of(message.ordinal), due);
        }
    }
    schedule.finish();
    let mut lanes = Writer::new(out, Kind::Lanes, PART, &mut *emit);
    for (priority, lane) in group.lanes.iter() {
        for &ordinal in &lane.front {
            if group.is_good(&queue.store, ordinal, false) {
                lanes.put_lined(priority, true, ranks.of(ordinal), 0);
            }
        }
        for entry in &lane.line {
            if group.is_good(&queue.store, entry.ordinal, entry.redriven) {
                lanes.put_lined(
                    priority,
                    false,
                    ranks.of(entry.ordinal),
                    ranks.of(entry.barrier),
                );
            }
        }
    }
    lanes.finish();
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

    /// The queue, once `feed` said that the last part was taken; without that, what there is of it.
    #[must_use]
    pub fn finish(mut self) -> Queue {
        let queue = &mut self.queue;
        if queue.expected.take().is_some() {
            queue.group.line_up_unseen(&mut queue.store);
        }
        self.queue
    }
}

/// Positions of messages in ID order, from their ordinals: gaps are where messages have gone.
struct Ranks {
    /// Ordinals of the first message after a gap, and their ranks.
    runs: Vec<(u64, u64)>,
    total: u64,
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
        let total = queue.store.live();
        Self { runs, total }
    }

    /// The rank of the message with this ordinal, or of the first one behind it.
    fn of(&self, ordinal: u64) -> u64 {
        let run = self.runs.partition_point(|&(first, _)| first <= ordinal);
        let next = self.runs.get(run).map_or(self.total, |&(_, rank)| rank);
        match run.checked_sub(1).and_then(|run| self.runs.get(run)) {
            Some((first, rank)) => (rank + (ordinal - first)).min(next),
            None => 0,
        }
    }
}
