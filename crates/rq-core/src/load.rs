//! The parts of a snapshot as changes of a queue that is being made.

use crate::apply::ensure;
use crate::dead::Letter;
use crate::error::Error;
use crate::group::UNSEEN;
use crate::id::Id;
use crate::outcome::Paused;
use crate::parts::{
    DeliveryEntry, Head, LaneEntry, LetterEntry, List, MessageEntry, Part, RestingEntry,
};
use crate::queue::{Expected, Queue, TIME_END};
use crate::record::Place;
use crate::remembered::Producer;

const NO_SNAPSHOT: Error = Error::BadEffect("a part of a snapshot without its head");

impl Queue {
    pub(crate) fn apply_part(&mut self, part: Part<'_>) -> Result<(), Error> {
        match part {
            Part::Head(head) => self.apply_head(&head),
            Part::Messages(list) => self.apply_messages(list),
            Part::Deliveries(list) => self.apply_deliveries(list),
            Part::Resting(list) => self.apply_resting(list),
            Part::Letters(list) => self.apply_letters(list),
            Part::Schedule(list) => self.apply_schedule(list),
            Part::Lanes(list) => self.apply_lanes(list),
            Part::Producers(list) => self.apply_producers(list),
            Part::Tokens(list) => self.apply_tokens(list),
            Part::End => self.apply_end(),
        }
    }

    fn apply_head(&mut self, head: &Head) -> Result<(), Error> {
        let fresh = self.is_empty() && self.store.next_ordinal() == 0 && self.expected.is_none();
        ensure(fresh, "a snapshot for a queue that is there already")?;
        ensure(
            head.last_id.milliseconds < Id::MILLISECONDS_END,
            "an ID that is out of range",
        )?;
        ensure(head.clock < TIME_END, "its time is out of range")?;
        // They grow by far less: none overflows.
        let counters = head.counters.values();
        let in_range = counters.iter().all(|&value| value < 1 << 63);
        ensure(in_range, "a counter that is out of range")?;
        let expected = head.expected;
        let something = expected.messages > 0
            || expected.producers > 0
            || expected.tokens > 0
            || head.policy.kept
            || head.paused != Paused::default();
        ensure(something, "a snapshot of nothing")?;
        let placed = [
            expected.deliveries,
            expected.resting,
            expected.letters,
            expected.scheduled,
        ];
        let placed = placed
            .iter()
            .try_fold(0u64, |sum, count| sum.checked_add(*count));
        ensure(
            placed.is_some_and(|placed| placed <= expected.messages)
                && expected.lined <= expected.messages,
            "more places than messages",
        )?;
        self.last_id = head.last_id;
        self.clock = head.clock;
        self.counters = head.counters;
        self.policy = head.policy;
        self.paused = head.paused;
        self.expected = Some(expected);
        Ok(())
    }

    /// What is still expected, where nothing of the lists before this one is.
    fn expecting(&self, before: impl Fn(&mut Expected)) -> Result<Expected, Error> {
        let expected = self.expected.ok_or(NO_SNAPSHOT)?;
        let mut later = expected;
        before(&mut later);
        ensure(later == expected, "a part before those that it stands on")?;
        Ok(expected)
    }

    fn apply_messages(&mut self, messages: List<'_, MessageEntry<'_>>) -> Result<(), Error> {
        let mut expected = self.expected.ok_or(NO_SNAPSHOT)?;
        ensure(
            self.group.records.live() == 0 && self.group.scheduled() == 0,
            "messages after their places",
        )?;
        let (mut last, mut count) = (self.last_loaded(), 0u64);
        let mut tokens = Vec::new();
        for message in messages {
            let message = message?;
            ensure(Some(message.id) > last, "IDs that do not grow")?;
            if let Some(token) = message.fields.token {
                ensure(self.tokens.get(token).is_none(), "a token of two messages")?;
                tokens.push(token);
            }
            last = Some(message.id);
            count += 1;
        }
        ensure(last <= Some(self.last_id), "an ID above the last one made")?;
        ensure(
            count > 0 && count <= expected.messages,
            "not as many messages as announced",
        )?;
        tokens.sort_unstable();
        ensure(tokens.is_sorted_by(|a, b| a < b), "a token of two messages")?;
        for message in messages.flatten() {
            self.store
                .append(message.id, (message.prefix, message.payload));
            self.bytes += message.payload.len() as u64 + message.fields.headers.bytes();
            if message.fields.expiry > 0 {
                let ordinal = self.store.next_ordinal() - 1;
                self.group.expiring.insert(message.fields.expiry, ordinal);
            }
            if let Some(token) = message.fields.token {
                self.tokens.set(token, message.id, None);
            }
        }
        self.group.appended(count);
        expected.messages -= count;
        self.expected = Some(expected);
        Ok(())
    }

    /// The last ID that was loaded so far.
    fn last_loaded(&self) -> Option<Id> {
        let last = self.store.next_ordinal().checked_sub(1)?;
        let place = self.store.seek(last, &mut crate::store::Hint::default())?;
        self.store.get(place).map(|message| message.id)
    }

    /// Checks that a list names messages that wait, each once, and as many as were announced.
    fn ensure_ranks(&self, ranks: &mut [u64], announced: u64) -> Result<(), Error> {
        let count = ranks.len() as u64;
        ensure(
            count > 0 && count <= announced,
            "not as many places as announced",
        )?;
        let plain = ranks
            .iter()
            .all(|&rank| self.group.is_plain(&self.store, rank));
        ensure(plain, "a place for what is not there, or has one")?;
        ranks.sort_unstable();
        ensure(ranks.is_sorted_by(|a, b| a < b), "a message in two places")
    }

    fn apply_deliveries(&mut self, list: List<'_, DeliveryEntry<'_>>) -> Result<(), Error> {
        let mut expected = self.expecting(|e| e.messages = 0)?;
        let (mut ranks, mut time) = (Vec::new(), self.group.last_time());
        for delivery in list {
            let record = delivery?.record;
            ensure(
                record.time() >= time && record.time() <= self.clock,
                "a time that is out of range",
            )?;
            ensure(record.deliveries > 0, "a delivered message that never was")?;
            time = record.time();
            ranks.push(record.ordinal());
        }
        self.ensure_ranks(&mut ranks, expected.deliveries)?;
        for entry in list.flatten() {
            let (lease, deadline) = (entry.lease, entry.deadline);
            let consumer = entry.consumer;
            self.group
                .load_delivery(&mut self.store, entry.record, lease, deadline, consumer);
        }
        expected.deliveries -= ranks.len() as u64;
        self.expected = Some(expected);
        Ok(())
    }

    fn apply_resting(&mut self, list: List<'_, RestingEntry>) -> Result<(), Error> {
        let mut expected = self.expecting(|e| (e.messages, e.deliveries) = (0, 0))?;
        let mut ranks = Vec::new();
        for entry in list {
            ranks.push(entry?.record.ordinal());
        }
        self.ensure_ranks(&mut ranks, expected.resting)?;
        for entry in list.flatten() {
            let mut record = entry.record;
            if record.place == Place::Redriven {
                record.set_number(UNSEEN);
            }
            self.group.load_resting(&mut self.store, record, entry.due);
        }
        expected.resting -= ranks.len() as u64;
        self.expected = Some(expected);
        Ok(())
    }

    fn apply_letters(&mut self, list: List<'_, LetterEntry<'_>>) -> Result<(), Error> {
        let mut expected = self.expecting(|e| (e.messages, e.deliveries, e.resting) = (0, 0, 0))?;
        let mut ranks = Vec::new();
        let mut died = self.group.letters.last().map_or(0, |letter| letter.died);
        for entry in list {
            let entry = entry?;
            ensure(
                entry.died >= died && entry.died <= self.clock,
                "deaths that are not in order",
            )?;
            died = entry.died;
            ranks.push(entry.record.ordinal());
        }
        self.ensure_ranks(&mut ranks, expected.letters)?;
        for entry in list.flatten() {
            let message = self.store.of(entry.record.ordinal());
            self.bytes -= message.map_or(0, |message| message.bytes());
            let letter = Letter {
                ordinal: entry.record.ordinal(),
                died: entry.died,
                reason: entry.reason.into(),
                consumer: entry.consumer.into(),
            };
            self.group
                .load_letter(&mut self.store, entry.record, letter);
        }
        expected.letters -= ranks.len() as u64;
        self.expected = Some(expected);
        Ok(())
    }

    fn apply_schedule(&mut self, list: List<'_, (u64, u64)>) -> Result<(), Error> {
        let before =
            |e: &mut Expected| (e.messages, e.deliveries, e.resting, e.letters) = (0, 0, 0, 0);
        let mut expected = self.expecting(before)?;
        let mut ranks = Vec::new();
        for entry in list {
            ranks.push(entry?.1);
        }
        self.ensure_ranks(&mut ranks, expected.scheduled)?;
        for (due, rank) in list.flatten() {
            self.group.load_scheduled(&mut self.store, rank, due);
        }
        expected.scheduled -= ranks.len() as u64;
        self.expected = Some(expected);
        Ok(())
    }

    fn apply_lanes(&mut self, list: List<'_, LaneEntry>) -> Result<(), Error> {
        let mut expected = self.expecting(|e| {
            (e.messages, e.deliveries, e.resting, e.letters, e.scheduled) = (0, 0, 0, 0, 0);
        })?;
        let total = self.store.next_ordinal();
        let (mut count, mut barrier, mut ranks) = (0, self.group.last_barrier(), Vec::new());
        for entry in list {
            let entry = entry?;
            count += 1;
            let message = self.store.of(entry.rank).filter(|_| entry.rank < total);
            let message = message.ok_or(Error::BadEffect("a place for what is not there"))?;
            ensure(
                message.fields().priority == entry.priority,
                "a message in another lane",
            )?;
            let fits = self.group.may_line_up(&message, entry.front);
            ensure(fits, "a message that has another place")?;
            if entry.priority == 0 && !entry.front {
                ensure(
                    entry.barrier >= barrier && entry.barrier <= total,
                    "barriers that fall",
                )?;
                barrier = entry.barrier;
            }
            ranks.push(entry.rank);
        }
        ensure(
            count > 0 && count <= expected.lined,
            "not as many places as announced",
        )?;
        ranks.sort_unstable();
        ensure(ranks.is_sorted_by(|a, b| a < b), "a message in two places")?;
        for entry in list.flatten() {
            let (priority, front) = (entry.priority, entry.front);
            self.group
                .load_lined(&mut self.store, priority, front, entry.rank, entry.barrier);
        }
        expected.lined -= count;
        self.expected = Some(expected);
        Ok(())
    }

    fn apply_producers(&mut self, list: List<'_, (&[u8], Producer, u64)>) -> Result<(), Error> {
        let before = |e: &mut Expected| {
            *e = Expected {
                producers: e.producers,
                tokens: e.tokens,
                ..Expected::default()
            };
        };
        let mut expected = self.expecting(before)?;
        let (mut last, mut count) = (self.producers.last_name(), 0);
        for entry in list {
            let (name, producer, _) = entry?;
            ensure(Some(name) > last, "producers that are not in order")?;
            ensure(
                producer.is_sound(),
                "a producer's numbers that are out of range",
            )?;
            last = Some(name);
            count += 1;
        }
        ensure(
            count > 0 && count <= expected.producers,
            "not as many producers as announced",
        )?;
        for (name, producer, time) in list.flatten() {
            self.producers.set(name, producer, Some(time));
        }
        expected.producers -= count;
        self.expected = Some(expected);
        Ok(())
    }

    fn apply_tokens(&mut self, list: List<'_, (&[u8], Id, u64)>) -> Result<(), Error> {
        let before = |e: &mut Expected| {
            *e = Expected {
                tokens: e.tokens,
                ..Expected::default()
            };
        };
        let mut expected = self.expecting(before)?;
        let mut names = Vec::new();
        for entry in list {
            let (token, _, _) = entry?;
            ensure(self.tokens.get(token).is_none(), "a token of two messages")?;
            names.push(token);
        }
        let count = names.len() as u64;
        ensure(
            count > 0 && count <= expected.tokens,
            "not as many tokens as announced",
        )?;
        names.sort_unstable();
        ensure(names.is_sorted_by(|a, b| a < b), "a token of two messages")?;
        for (token, id, time) in list.flatten() {
            self.tokens.set(token, id, Some(time));
        }
        expected.tokens -= count;
        self.expected = Some(expected);
        Ok(())
    }

    fn apply_end(&mut self) -> Result<(), Error> {
        let expected = self.expected.ok_or(NO_SNAPSHOT)?;
        ensure(
            expected == Expected::default(),
            "a snapshot that is not whole",
        )?;
        ensure(self.group.all_seen(&self.store), "a message in no lane")?;
        self.group.settle_cursor(&self.store);
        self.expected = None;
        Ok(())
    }
}
