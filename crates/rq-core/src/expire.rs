//! Due work: one question, and one bounded step.

use crate::effect::{self, Returned, Writer};
use crate::group::Fate;
use crate::id::Id;
use crate::policy::Policy;
use crate::queue::{Moment, Queue};
use crate::settle::Cause;
use crate::store::Hint;

impl Queue {
    /// When, by the caller's clock, there is something to do for [`Queue::expire`]. It may be earlier than there is.
    #[must_use]
    pub fn next_due(&self, moment: &Moment<'_>) -> Option<u64> {
        let due = self.due_time(moment.defaults)?;
        Some(self.callers(moment.now, due))
    }

    /// The same, where it is earlier than `noted`; without reading a clock for nothing.
    pub fn due_before(
        &self,
        noted: u64,
        defaults: &Policy,
        now: impl FnOnce() -> u64,
    ) -> Option<u64> {
        let due = self.due_time(defaults)?;
        if due >= noted && !self.is_ahead() {
            return None;
        }
        Some(self.callers(now(), due)).filter(|&due| due < noted)
    }

    /// Whether there is something to do, now or later.
    #[must_use]
    pub fn has_due_work(&self, defaults: &Policy) -> bool {
        self.due_time(defaults).is_some()
    }

    /// Whether there is something to do now.
    #[must_use]
    pub fn is_due(&self, moment: &Moment<'_>) -> bool {
        self.due_time(moment.defaults)
            .is_some_and(|due| due <= self.time(moment.now))
    }

    /// When there is something to do, by the queue's time.
    fn due_time(&self, defaults: &Policy) -> Option<u64> {
        let group = &self.group;
        let times = [
            group.schedule.first().map(|(time, _)| time),
            group.delivered.next_due(&group.records),
            group.expiring.first().map(|(time, _)| time),
            self.dead_due(defaults),
            self.producers.next_due(self.policy.dedup),
            self.tokens.next_due(self.policy.dedup),
        ];
        times.into_iter().flatten().min()
    }

    /// When the oldest dead letter is to go.
    fn dead_due(&self, defaults: &Policy) -> Option<u64> {
        let first = self.group.letters.first()?;
        let policy = self.policy.over(defaults);
        if policy.dead_max > 0 && self.group.letters.len() > policy.dead_max {
            return Some(0);
        }
        (policy.dead_ttl > 0).then(|| first.died.saturating_add(policy.dead_ttl))
    }

    /// Does what is due by now, of one kind and at most `limit` of it; whether it did something. To be called until it did
    /// nothing: what falls due comes first, then leases that ended, times to live, dead letters, what is remembered.
    pub fn expire(&mut self, moment: &Moment<'_>, limit: usize, effect: &mut dyn Writer) -> bool {
        effect.clear();
        // Also when nothing is due: a queue whose time is ahead goes on from when this was noticed.
        let time = self.advance(moment.now);
        if !self.is_due(moment) {
            return false;
        }
        self.due_by(time, limit, effect);
        if effect.is_empty() {
            self.leases_by(moment, time, limit, effect);
        }
        if effect.is_empty() {
            self.lives_by(time, limit, effect);
        }
        if effect.is_empty() {
            self.letters_by(moment, time, limit, effect);
        }
        if effect.is_empty() {
            self.names_by(time, limit, effect);
        }
        !effect.is_empty()
    }

    fn due_by(&mut self, time: u64, limit: usize, effect: &mut dyn Writer) {
        let count = self.group.fallen_due(&self.store, time, limit);
        if count > 0 {
            effect::put_due(effect, time, count);
            self.fall_due(time, count);
        }
    }

    pub(crate) fn fall_due(&mut self, time: u64, count: u64) {
        self.expected = None;
        self.clock = time;
        self.group.fall_due(&mut self.store, count);
    }

    fn leases_by(&mut self, moment: &Moment<'_>, time: u64, limit: usize, effect: &mut dyn Writer) {
        let group = &mut self.group;
        let ordinals = group.delivered.due(&group.records, time, limit);
        if ordinals.is_empty() {
            return;
        }
        let policy = self.policy.over(moment.defaults);
        // Mostly they lie one behind the other.
        let mut hint = Hint::default();
        let id = |ordinal| Some(self.store.get(self.store.at(ordinal, &mut hint)?)?.id);
        let ids: Vec<Id> = ordinals.into_iter().filter_map(id).collect();
        let fate = |id: Id| Some((id, self.fate(&policy, id, (time, None, true))?));
        let entries: Vec<(Id, Fate)> = ids.into_iter().filter_map(fate).collect();
        let returned = Returned {
            time,
            cause: Cause::Lease,
            silent: false,
            reason: &[],
        };
        effect::put_returned(effect, &returned, &entries);
        self.return_all(&returned, &entries);
    }

    fn lives_by(&mut self, time: u64, limit: usize, effect: &mut dyn Writer) {
        let over = self
            .group
            .expiring
            .iter()
            .take_while(|&(expiry, _)| expiry <= time);
        let ids = over
            .take(limit)
            .filter_map(|(_, ordinal)| Some(self.store.of(ordinal)?.id));
        let ids: Vec<Id> = ids.collect();
        if ids.is_empty() {
            return;
        }
        if self.policy.expired_dead {
            effect::put_expired(effect, time, &ids);
            self.bury_waiting(time, &ids);
        } else {
            effect::put_remove(effect, time, true, &ids);
            self.let_expire(time, &ids);
        }
    }

    /// Messages whose time to live is over are gone.
    pub(crate) fn let_expire(&mut self, time: u64, ids: &[Id]) {
        self.expected = None;
        self.clock = time;
        self.counters.expired += ids.len() as u64;
        ids.iter().for_each(|&id| _ = self.remove_one(id, time));
    }

    /// Messages whose time to live is over are dead.
    pub(crate) fn bury_waiting(&mut self, time: u64, ids: &[Id]) {
        self.expected = None;
        self.clock = time;
        self.counters.dead += ids.len() as u64;
        for &id in ids {
            self.bytes -= self.get(id).map_or(0, |held| held.bytes());
            self.group
                .bury_waiting(&mut self.store, id, time, b"expired");
        }
    }

    fn letters_by(
        &mut self,
        moment: &Moment<'_>,
        time: u64,
        limit: usize,
        effect: &mut dyn Writer,
    ) {
        let policy = self.policy.over(moment.defaults);
        let letters = &self.group.letters;
        let extra = match policy.dead_max {
            0 => 0,
            most => letters.len().saturating_sub(most),
        };
        let old = letters.iter().take_while(|letter| {
            policy.dead_ttl > 0 && letter.died.saturating_add(policy.dead_ttl) <= time
        });
        let old = old.take(limit).count() as u64;
        let count = extra.max(old).min(limit as u64);
        if count > 0 {
            effect::put_trim(effect, time, count);
            self.trim(time, count);
            self.clock = time;
        }
    }

    fn names_by(&mut self, time: u64, limit: usize, effect: &mut dyn Writer) {
        let window = self.policy.dedup;
        let names = self.producers.due(time, window).take(limit);
        let due: Vec<Box<[u8]>> = names.map(Into::into).collect();
        if !due.is_empty() {
            effect::put_forget(effect, false, due.iter().map(|name| &**name));
            due.iter().for_each(|name| _ = self.producers.remove(name));
            return;
        }
        let tokens = self.tokens.due(time, window).take(limit);
        let due: Vec<Box<[u8]>> = tokens.map(Into::into).collect();
        if !due.is_empty() {
            effect::put_forget(effect, true, due.iter().map(|name| &**name));
            due.iter().for_each(|name| _ = self.tokens.remove(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consume::Pop;
    use crate::policy::{Backoff, Change};

    #[test]
    fn a_back_off_runs_from_the_end_of_the_lease() {
        let change = Change {
            lease: Some(60_000),
            backoff: Some(Backoff {
                base: 10_000,
                factor: 1000,
                max: 0,
            }),
            ..Change::default()
        };
        // Late, but within the back-off; and when that is over, too.
        for (late, waiting, due) in [(5_000, 0, vec![1_000 + 70_000]), (15_000, 1, vec![])] {
            let (mut queue, mut effect) = (Queue::default(), Vec::new());
            let moment = Moment::at(1_000, Id::default());
            queue.setup(&change, &mut effect);
            let one = [&b"one"[..]].into_iter();
            queue.push(&moment, None, one, &mut effect).unwrap();
            queue.pop(&moment, &Pop::of(1), &mut effect, |_| ());
            let moment = Moment::at(61_000 + late, Id::default());
            assert!(queue.expire(&moment, 10, &mut effect));
            assert_eq!(queue.waiting(), waiting);
            assert_eq!(queue.due_later().map(|m| m.due).collect::<Vec<_>>(), due);
        }
    }
}
