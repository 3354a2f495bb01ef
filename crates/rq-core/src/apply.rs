//! Effects as changes.
//!
//! Everything in an effect is checked before the first change: whoever hands in damaged or
//! foreign bytes gets an error and keeps the queue as it was.

use crate::effect::{Deliveries, Effect, Head, Ids, Messages, Names, Remembered};
use crate::error::Error;
use crate::id::Id;
use crate::outcome::Pushed;
use crate::producer::Producer;
use crate::queue::{Expected, Queue, TIME_END};
use crate::record::Record;

/// What the applied effect means for whoever keeps queues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Applied {
    /// An ID to which the floor for new queues must be raised.
    pub floor: Option<Id>,
}

fn ensure(holds: bool, otherwise: &'static str) -> Result<(), Error> {
    if holds {
        Ok(())
    } else {
        Err(Error::BadEffect(otherwise))
    }
}

impl Queue {
    /// Applies an effect: the bytes that an operation wrote, and for a push its payloads.
    ///
    /// # Errors
    /// [`Error::BadEffect`] when the bytes are no effect, or none that this queue can have had.
    /// Nothing is changed then.
    pub fn apply<'a>(
        &mut self,
        head: &[u8],
        payloads: impl ExactSizeIterator<Item = &'a [u8]>,
    ) -> Result<Applied, Error> {
        let effect = Effect::read(head)?;
        let mut applied = Applied::default();
        let pushed = match effect {
            Effect::Push(pushed) | Effect::Produce { pushed, .. } => Some(pushed),
            _ => None,
        };
        if let Some(pushed) = pushed {
            self.ensure_pushed(&pushed, payloads.len() as u64)?;
            if let Effect::Produce {
                name,
                highest,
                time,
                ..
            } = effect
            {
                self.apply_producer(&pushed, name, highest, time)?;
            }
            self.append(&pushed, payloads);
            applied.floor = pushed.raises.then(|| pushed.last());
            return Ok(applied);
        }
        ensure(
            payloads.len() == 0,
            "payloads beside an effect that is no push",
        )?;
        match effect {
            Effect::Push(_) | Effect::Produce { .. } => {}
            Effect::Forget(names) => self.apply_forget(names)?,
            Effect::Producers(producers) => self.apply_producers(producers)?,
            Effect::Deliver { time, first, count } => {
                ensure(
                    count > 0 && count <= self.waiting(),
                    "it delivers more than waits",
                )?;
                ensure(
                    Some(first) == self.group.first_waiting(&self.store),
                    "another message waits first",
                )?;
                self.ensure_time(time)?;
                self.deliver(time, count, |_| ());
            }
            Effect::Redeliver { time, first, count } => {
                ensure(
                    count > 0 && count <= self.delivered(),
                    "it delivers again more than was delivered",
                )?;
                ensure(
                    Some(first) == self.group.first_delivered(&self.store),
                    "another message was delivered first",
                )?;
                self.ensure_time(time)?;
                self.redeliver(time, count, |_| ());
            }
            Effect::Acknowledge(ids) => self.apply_acknowledge(ids)?,
            Effect::Head(head) => self.apply_head(&head)?,
            Effect::Messages(messages) => self.apply_messages(messages)?,
            Effect::Deliveries(deliveries) => self.apply_deliveries(deliveries)?,
            Effect::End => self.apply_end()?,
            Effect::Floor(_) => return Err(Error::BadEffect("a floor is about no queue")),
        }
        Ok(applied)
    }

    fn ensure_time(&self, time: u64) -> Result<(), Error> {
        ensure(
            time >= self.clock && time < TIME_END,
            "its time is out of range",
        )
    }

    fn ensure_pushed(&self, pushed: &Pushed, payloads: u64) -> Result<(), Error> {
        let (first, count) = (pushed.first, pushed.count);
        ensure(count > 0, "a push of nothing")?;
        ensure(count == payloads, "its payloads are not as many as it says")?;
        ensure(first > self.last_id, "its IDs do not grow")?;
        let in_range = first.milliseconds < Id::MILLISECONDS_END
            && first.sequence.checked_add(count - 1).is_some();
        ensure(in_range, "an ID that is out of range")
    }

    fn apply_producer(
        &mut self,
        pushed: &Pushed,
        name: &[u8],
        highest: u64,
        time: u64,
    ) -> Result<(), Error> {
        let (first, count) = (pushed.first, pushed.count);
        let known = self.producers.get(name);
        let before = highest.checked_sub(count);
        let follows = match known {
            Some(known) => before == Some(known.highest) && time >= known.time,
            None => before.is_some(),
        };
        ensure(
            follows && time < TIME_END,
            "a producer's numbers or times that do not follow",
        )?;
        self.producers.set(
            name,
            Producer {
                highest,
                first,
                count,
                time,
            },
        );
        Ok(())
    }

    fn apply_forget(&mut self, names: Names<'_>) -> Result<(), Error> {
        let mut sorted = Vec::new();
        for name in names {
            let name = name?;
            ensure(
                self.producers.get(name).is_some(),
                "it forgets a producer that is not known",
            )?;
            sorted.push(name);
        }
        ensure(!sorted.is_empty(), "it forgets nobody")?;
        sorted.sort_unstable();
        ensure(
            sorted.is_sorted_by(|a, b| a < b),
            "it forgets a producer twice",
        )?;
        sorted
            .iter()
            .for_each(|name| _ = self.producers.remove(name));
        Ok(())
    }

    fn apply_acknowledge(&mut self, ids: Ids<'_>) -> Result<(), Error> {
        let mut sorted = Vec::new();
        for id in ids {
            let id = id?;
            ensure(
                self.group.held(&self.store, id).is_some(),
                "it acknowledges what is not delivered",
            )?;
            sorted.push(id);
        }
        ensure(!sorted.is_empty(), "it acknowledges nothing")?;
        sorted.sort_unstable();
        ensure(
            sorted.is_sorted_by(|a, b| a < b),
            "it acknowledges a message twice",
        )?;
        self.acknowledge(ids.flatten(), &mut sorted, &mut Vec::new());
        Ok(())
    }

    // ---- snapshots ----

    fn apply_head(&mut self, head: &Head) -> Result<(), Error> {
        let fresh = self.is_empty() && self.store.next_ordinal() == 0 && self.expected.is_none();
        ensure(fresh, "a snapshot for a queue that is there already")?;
        ensure(
            head.last_id.milliseconds < Id::MILLISECONDS_END,
            "an ID that is out of range",
        )?;
        ensure(head.clock < TIME_END, "its time is out of range")?;
        ensure(
            head.messages > 0 || head.producers > 0,
            "a snapshot of nothing",
        )?;
        ensure(
            head.delivered <= head.messages,
            "more deliveries than messages",
        )?;
        self.last_id = head.last_id;
        self.clock = head.clock;
        self.counters = head.counters;
        self.expected = Some(Expected {
            messages: head.messages,
            deliveries: head.delivered,
            producers: head.producers,
        });
        Ok(())
    }

    fn apply_messages(&mut self, messages: Messages<'_>) -> Result<(), Error> {
        let expected = self.expected.ok_or(NO_SNAPSHOT)?;
        ensure(self.delivered() == 0, "messages after deliveries")?;
        let (mut last, mut count) = (self.last_loaded(), 0u64);
        for message in messages {
            let (id, _) = message?;
            ensure(Some(id) > last, "IDs that do not grow")?;
            last = Some(id);
            count += 1;
        }
        ensure(last <= Some(self.last_id), "an ID above the last one made")?;
        ensure(
            count > 0 && count <= expected.messages,
            "not as many messages as announced",
        )?;
        for (id, payload) in messages.flatten() {
            self.store.append(id, payload);
        }
        self.group.appended(count);
        self.expected = Some(Expected {
            messages: expected.messages - count,
            ..expected
        });
        Ok(())
    }

    /// The last ID that was loaded so far.
    fn last_loaded(&self) -> Option<Id> {
        let last = self.store.next_ordinal().checked_sub(1)?;
        let place = self.store.seek(last, &mut crate::store::Hint::default())?;
        self.store.get(place).map(|message| message.id)
    }

    fn apply_deliveries(&mut self, deliveries: Deliveries<'_>) -> Result<(), Error> {
        let expected = self.expected.ok_or(NO_SNAPSHOT)?;
        ensure(expected.messages == 0, "deliveries before messages")?;
        let mut ranks = Vec::new();
        let mut time = self.group.last_time();
        for delivery in deliveries {
            let delivery = delivery?;
            ensure(
                delivery.time >= time && delivery.time <= self.clock,
                "a time that is out of range",
            )?;
            ensure(
                delivery.deliveries > 0,
                "a delivered message that never was",
            )?;
            ensure(
                self.group.is_waiting(&self.store, delivery.rank),
                "a delivery of what does not wait",
            )?;
            time = delivery.time;
            ranks.push(delivery.rank);
        }
        let count = ranks.len() as u64;
        ensure(
            count > 0 && count <= expected.deliveries,
            "not as many deliveries as announced",
        )?;
        ranks.sort_unstable();
        ensure(
            ranks.is_sorted_by(|a, b| a < b),
            "a message delivered twice",
        )?;
        for d in deliveries.flatten() {
            let record = Record::new(d.rank, d.time, d.deliveries, d.failures);
            self.group.load_delivery(&mut self.store, d.rank, record);
        }
        self.expected = Some(Expected {
            deliveries: expected.deliveries - count,
            ..expected
        });
        Ok(())
    }

    fn apply_producers(&mut self, producers: Remembered<'_>) -> Result<(), Error> {
        let expected = self.expected.ok_or(NO_SNAPSHOT)?;
        let all_before = expected.messages == 0 && expected.deliveries == 0;
        ensure(all_before, "producers before messages or deliveries")?;
        let (mut last, mut count) = (self.producers.last_name(), 0);
        for entry in producers {
            let (name, producer) = entry?;
            ensure(Some(name) > last, "producers that are not in order")?;
            let numbers = producer.count > 0 && producer.count <= producer.highest;
            ensure(
                numbers && producer.time < TIME_END,
                "a producer's numbers that are out of range",
            )?;
            let ids = producer.first.milliseconds < Id::MILLISECONDS_END
                && producer
                    .first
                    .sequence
                    .checked_add(producer.count - 1)
                    .is_some();
            ensure(ids, "an ID that is out of range")?;
            last = Some(name);
            count += 1;
        }
        ensure(
            count > 0 && count <= expected.producers,
            "not as many producers as announced",
        )?;
        for (name, producer) in producers.flatten() {
            self.producers.set(name, producer);
        }
        self.expected = Some(Expected {
            producers: expected.producers - count,
            ..expected
        });
        Ok(())
    }

    fn apply_end(&mut self) -> Result<(), Error> {
        let expected = self.expected.ok_or(NO_SNAPSHOT)?;
        ensure(
            expected == Expected::default(),
            "a snapshot that is not whole",
        )?;
        self.group.settle_cursor(&self.store);
        self.expected = None;
        Ok(())
    }
}

const NO_SNAPSHOT: Error = Error::BadEffect("a part of a snapshot without its head");
