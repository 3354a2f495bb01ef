//! Effects as changes.
//!
//! Everything in an effect is checked before the first change: whoever hands in damaged or
//! foreign bytes gets an error and keeps the queue as it was. The parts of snapshots are applied in `load`.

use crate::effect::{Again, Effect, Fates, Ids, Names, Storing};
use crate::error::Error;
use crate::group::{Fate, Manner};
use crate::id::Id;
use crate::outcome::{Pushed, State};
use crate::queue::{Queue, TIME_END};
use crate::segment::{LINED, NONE};

pub(crate) fn ensure(holds: bool, otherwise: &'static str) -> Result<(), Error> {
    if holds {
        Ok(())
    } else {
        Err(Error::BadEffect(otherwise))
    }
}

impl Queue {
    /// Applies an effect: the bytes that an operation wrote, and for a push its payloads. The ID to which the floor for new
    /// queues must be raised, 0-0 for none.
    ///
    /// # Errors
    /// [`Error::BadEffect`] when the bytes are no effect, or none that this queue can have had.
    /// Nothing is changed then.
    pub fn apply<'a>(
        &mut self,
        head: &[u8],
        payloads: impl ExactSizeIterator<Item = &'a [u8]>,
    ) -> Result<Id, Error> {
        let effect = Effect::read(head)?;
        match effect {
            Effect::Push(pushed) => {
                self.ensure_pushed(&pushed, payloads.len() as u64)?;
                self.append(&pushed, payloads);
                return Ok(pushed.floor);
            }
            Effect::Store(stored) => {
                self.ensure_stored(&stored, payloads.len() as u64)?;
                self.store(&stored, payloads);
                return Ok(stored.pushed.floor);
            }
            _ => {}
        }
        ensure(
            payloads.len() == 0,
            "payloads beside an effect that is no push",
        )?;
        self.apply_change(effect)?;
        Ok(Id::default())
    }

    fn apply_change(&mut self, effect: Effect<'_>) -> Result<(), Error> {
        match effect {
            Effect::Push(_) | Effect::Store(_) => {}
            Effect::Duplicates(count) => {
                let sum = self.counters.duplicates.checked_add(count);
                self.counters.duplicates =
                    sum.ok_or(Error::BadEffect("a count that is out of range"))?;
            }
            Effect::Forget(tokens, names) => self.apply_forget(tokens, names)?,
            Effect::Deliver(manner, first, count) => self.apply_deliver(&manner, first, count)?,
            Effect::Acknowledge(time, ids) => self.apply_acknowledge(time, ids)?,
            Effect::Again(again, fates) => self.apply_again(&again, fates)?,
            Effect::Return(returned, fates) => {
                self.ensure_time(returned.time)?;
                let entries = self.ensure_fates(fates)?;
                self.return_all(&returned, &entries);
            }
            Effect::Extend(deadline, start, ids) => {
                ensure(deadline < TIME_END, "its time is out of range")?;
                let ids = self.ensure_each(ids, |state, _| state == State::Delivered)?;
                self.extend_all(deadline, start, &ids);
            }
            Effect::Remove(time, expired, ids) => self.apply_remove(time, expired, ids)?,
            Effect::Due(time, count) => {
                self.ensure_time(time)?;
                let some = count > 0 && count <= self.scheduled();
                ensure(some, "more is due than is scheduled")?;
                self.fall_due(time, count);
            }
            Effect::Expire(time, ids) => {
                self.ensure_time(time)?;
                let ids = self.ensure_each(ids, |_, record| record == NONE || record == LINED)?;
                self.bury_waiting(time, &ids);
            }
            Effect::Redrive(time, ids) => {
                self.ensure_time(time)?;
                let ids = self.ensure_each(ids, |state, _| state == State::Dead)?;
                self.redrive_all(time, &ids);
            }
            Effect::Flush(time, dead) => {
                self.ensure_time(time)?;
                self.flush_all(time, dead);
            }
            Effect::Trim(time, count) => {
                self.ensure_time(time)?;
                let some = count > 0 && count <= self.dead_letters();
                ensure(some, "more dead letters go than there are")?;
                self.expected = None;
                self.trim(time, count);
                self.clock = time;
            }
            Effect::Setup(policy, made) => {
                self.make(made)?;
                self.policy = policy;
            }
            Effect::Pause(paused, made) => {
                self.make(made)?;
                self.paused = paused;
            }
            Effect::Part(part) => self.apply_part(part)?,
            Effect::Floor(_) => return Err(Error::BadEffect("a floor is about no queue")),
        }
        Ok(())
    }

    pub(crate) fn ensure_time(&self, time: u64) -> Result<(), Error> {
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

    fn ensure_stored(&self, stored: &Storing<'_>, payloads: u64) -> Result<(), Error> {
        let pushed = &stored.pushed;
        if pushed.count > 0 || stored.duplicates == 0 {
            self.ensure_pushed(pushed, payloads)?;
        } else {
            let nothing = payloads == 0 && pushed.floor == Id::default() && stored.drops == 0;
            ensure(nothing, "payloads of a push that stores nothing")?;
            ensure(
                pushed.first <= self.last_id,
                "an ID above the last one made",
            )?;
        }
        self.ensure_time(stored.time)?;
        ensure(
            stored.due.is_none_or(|due| due < TIME_END),
            "its time is out of range",
        )?;
        ensure(
            stored.new.is_none() || self.may_get_settings(),
            "settings of a queue that is there already",
        )?;
        ensure(stored.drops <= self.waiting(), "it drops more than waits")?;
        let sum = self.counters.duplicates.checked_add(stored.duplicates);
        ensure(sum.is_some(), "a count that is out of range")?;
        let alone = stored.fields.token.is_none() || pushed.count <= 1;
        ensure(alone, "a token of several messages")?;
        let known = stored
            .fields
            .token
            .is_some_and(|token| self.tokens.get(token).is_some());
        ensure(!known || pushed.count == 0, "a token that is known already")?;
        if let Some((name, highest)) = stored.producer {
            let before = highest.checked_sub(pushed.count.max(1));
            let follows = match self.producers.get(name) {
                Some((known, _)) => before == Some(known.highest),
                None => before.is_some(),
            };
            ensure(follows, "a producer's numbers that do not follow")?;
        }
        Ok(())
    }

    fn apply_forget(&mut self, tokens: bool, names: Names<'_>) -> Result<(), Error> {
        let mut sorted = Vec::new();
        for name in names {
            let name = name?;
            let known = if tokens {
                self.tokens
                    .get(name)
                    .is_some_and(|(_, time)| time.is_some())
            } else {
                self.producers.get(name).is_some()
            };
            ensure(known, "it forgets a name that is not known")?;
            sorted.push(name);
        }
        ensure(!sorted.is_empty(), "it forgets nobody")?;
        sorted.sort_unstable();
        ensure(sorted.is_sorted_by(|a, b| a < b), "it forgets a name twice")?;
        for name in sorted {
            if tokens {
                self.tokens.remove(name);
            } else {
                self.producers.remove(name);
            }
        }
        Ok(())
    }

    fn apply_deliver(&mut self, manner: &Manner<'_>, first: Id, count: u64) -> Result<(), Error> {
        ensure(
            count > 0 && count <= self.waiting(),
            "it delivers more than waits",
        )?;
        ensure(
            Some(first) == self.group.first_waiting(&self.store),
            "another message waits first",
        )?;
        self.ensure_time(manner.time)?;
        self.deliver(count, 0, manner, None, |_| ());
        Ok(())
    }

    /// IDs that are each there once, in a state that fits.
    fn ensure_each(
        &mut self,
        ids: Ids<'_>,
        fits: impl Fn(State, u32) -> bool,
    ) -> Result<Vec<Id>, Error> {
        let mut found = Vec::new();
        for id in ids {
            let id = id?;
            let place = self.group.find(&self.store, id);
            let message = place.and_then(|place| self.store.get(place));
            let message = message.ok_or(Error::BadEffect("a message that is not there"))?;
            let state = self.group.state(&message);
            ensure(fits(state, message.record), "a message in another state")?;
            found.push(id);
        }
        ensure(!found.is_empty(), "it is about no message")?;
        ensure_once(found.iter().copied())?;
        Ok(found)
    }

    fn ensure_fates(&mut self, fates: Fates<'_>) -> Result<Vec<(Id, Fate)>, Error> {
        let mut found = Vec::new();
        for fate in fates {
            let (id, fate) = fate?;
            let held = self.group.held(&self.store, id).is_some();
            ensure(held, "a message that is not delivered")?;
            found.push((id, fate));
        }
        ensure(!found.is_empty(), "it is about no message")?;
        ensure_once(found.iter().map(|&(id, _)| id))?;
        Ok(found)
    }

    fn apply_acknowledge(&mut self, time: Option<u64>, ids: Ids<'_>) -> Result<(), Error> {
        if let Some(time) = time {
            self.ensure_time(time)?;
        }
        let ids = self.ensure_each(ids, |state, _| state == State::Delivered)?;
        let receipts = ids.iter().map(|&id| id.into());
        let time = time.unwrap_or(self.clock);
        self.settle_all(time, receipts, |_, _| ());
        self.clock = time;
        Ok(())
    }

    fn apply_again(&mut self, again: &Again<'_>, fates: Fates<'_>) -> Result<(), Error> {
        self.ensure_time(again.time)?;
        let entries = self.ensure_fates(fates)?;
        let known = entries
            .iter()
            .all(|(_, fate)| !matches!(fate, Fate::Due(_)));
        ensure(known, "a delivery that is due later")?;
        let entries: Vec<(Id, bool)> = entries
            .iter()
            .map(|&(id, fate)| (id, fate == Fate::Dead))
            .collect();
        self.deliver_again(again, &entries, &mut |_| ());
        Ok(())
    }

    fn apply_remove(&mut self, time: u64, expired: bool, ids: Ids<'_>) -> Result<(), Error> {
        self.ensure_time(time)?;
        let ids = self.ensure_each(ids, |_, _| true)?;
        if expired {
            self.let_expire(time, &ids);
            return Ok(());
        }
        self.expected = None;
        self.clock = time;
        self.counters.cancelled += ids.len() as u64;
        ids.into_iter().for_each(|id| _ = self.remove_one(id, time));
        Ok(())
    }
}

fn ensure_once(ids: impl Iterator<Item = Id>) -> Result<(), Error> {
    let mut sorted: Vec<Id> = ids.collect();
    sorted.sort_unstable();
    ensure(
        sorted.is_sorted_by(|a, b| a < b),
        "a message that is named twice",
    )
}
