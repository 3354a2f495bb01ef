//! Managing: settings, pausing, dead letters, consumers, flushing.

use crate::apply::ensure;
use crate::effect::{self, Returned, Writer};
use crate::error::Error;
use crate::group::Fate;
use crate::id::Id;
use crate::outcome::{Paused, State};
use crate::policy::Change;
use crate::queue::Queue;
use crate::receipt::Receipt;
use crate::settle::Cause;

impl Queue {
    /// Changes settings.
    pub fn setup(&mut self, change: &Change, effect: &mut dyn Writer) {
        effect.clear();
        let policy = change.applied(&self.policy);
        if policy != self.policy {
            effect::put_policy(effect, &policy, self.made());
            self.policy = policy;
        }
    }

    /// Refuses pushes, pops or both from now on, or lets them go on.
    pub fn pause(&mut self, which: Paused, paused: bool, effect: &mut dyn Writer) {
        effect.clear();
        let now = Paused {
            push: if which.push { paused } else { self.paused.push },
            pop: if which.pop { paused } else { self.paused.pop },
        };
        if now != self.paused {
            effect::put_paused(effect, now, self.made());
            self.paused = now;
        }
    }

    /// The ID above which those of a queue are that is only just made: whoever applies its first effect has another floor.
    fn made(&self) -> Option<Id> {
        self.is_empty().then_some(self.last_id)
    }

    /// Applies what [`Queue::made`] said.
    ///
    /// # Errors
    /// [`Error::BadEffect`] when it was said of a queue that is there, or not of one that is not.
    pub(crate) fn make(&mut self, made: Option<Id>) -> Result<(), Error> {
        ensure(
            made.is_some() == self.is_empty(),
            "a first effect of a queue that is there, or no first one of a new one",
        )?;
        self.last_id = made.unwrap_or(self.last_id);
        Ok(())
    }

    /// Has dead messages wait again, at the tail: the named ones, or the first `count`. Those that were dead are put into
    /// `done`.
    pub fn redrive(
        &mut self,
        now: u64,
        which: Option<&[Receipt]>,
        count: u64,
        done: &mut Vec<Id>,
        effect: &mut dyn Writer,
    ) {
        effect.clear();
        done.clear();
        match which {
            None => {
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                done.extend(self.dead().take(count).map(|dead| dead.id));
            }
            Some(receipts) => {
                let mut seen = std::collections::BTreeSet::new();
                for &receipt in receipts {
                    let held = self.get_by(receipt);
                    if held.is_some_and(|held| held.meta.state == State::Dead)
                        && seen.insert(receipt.id)
                    {
                        done.push(receipt.id);
                    }
                }
            }
        }
        if !done.is_empty() {
            let time = self.advance(now);
            self.redrive_all(time, done);
            effect::put_redrive(effect, time, done);
        }
    }

    pub(crate) fn redrive_all(&mut self, time: u64, ids: &[Id]) {
        self.expected = None;
        self.clock = time;
        for &id in ids {
            self.bytes += self.get(id).map_or(0, |held| held.bytes());
            self.group.redrive(&mut self.store, id);
        }
    }

    /// Lets go of all messages, or of all dead ones; how many.
    pub fn flush(&mut self, now: u64, dead: bool, effect: &mut dyn Writer) -> u64 {
        effect.clear();
        let count = if dead {
            self.dead_letters()
        } else {
            self.store.live()
        };
        if count > 0 {
            let time = self.advance(now);
            effect::put_flush(effect, time, dead);
            self.flush_all(time, dead);
        }
        count
    }

    pub(crate) fn flush_all(&mut self, time: u64, dead: bool) {
        self.expected = None;
        self.clock = time;
        if dead {
            let ids: Vec<Id> = self.dead().map(|dead| dead.id).collect();
            self.counters.cancelled += ids.len() as u64;
            ids.into_iter().for_each(|id| _ = self.remove_one(id, time));
            return;
        }
        self.counters.cancelled += self.store.live();
        self.store = Default::default();
        self.group = Default::default();
        self.bytes = 0;
        let held = self.tokens.iter().filter(|(_, _, time)| time.is_none());
        let held: Vec<Box<[u8]>> = held.map(|(token, _, _)| token.into()).collect();
        held.iter().for_each(|token| self.token_left(token, time));
    }

    /// Returns what a consumer holds, no failure counted; how many messages.
    pub fn delete_consumer(&mut self, now: u64, consumer: &[u8], effect: &mut dyn Writer) -> u64 {
        effect.clear();
        let group = &self.group;
        let numbers = group.consumers.records(&group.records, consumer);
        let ordinals = numbers.filter_map(|number| Some(group.records.get(number)?.ordinal()));
        let ids = ordinals.filter_map(|ordinal| Some(self.store.of(ordinal)?.id));
        let entries: Vec<(Id, Fate)> = ids.map(|id| (id, Fate::Waiting)).collect();
        if !entries.is_empty() {
            let returned = Returned {
                time: self.advance(now),
                cause: Cause::Nack,
                silent: true,
                reason: &[],
            };
            effect::put_returned(effect, &returned, &entries);
            self.return_all(&returned, &entries);
        }
        entries.len() as u64
    }

    pub(crate) fn return_all(&mut self, returned: &Returned<'_>, entries: &[(Id, Fate)]) {
        self.expected = None;
        self.clock = returned.time;
        for &(id, fate) in entries {
            self.give_back(returned, id, fate);
        }
    }

    /// Lets go of the oldest dead letters.
    pub(crate) fn trim(&mut self, time: u64, count: u64) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let ids: Vec<Id> = self.dead().take(count).map(|dead| dead.id).collect();
        self.counters.expired += ids.len() as u64;
        ids.into_iter().for_each(|id| _ = self.remove_one(id, time));
    }
}
