//! Settling: acknowledge, give back, extend, cancel.

use crate::effect::{self, Returned, Writer};
use crate::error::Error;
use crate::group::Fate;
use crate::id::Id;
use crate::message::Fields;
use crate::outcome::Settled;
use crate::policy::Policy;
use crate::queue::{Moment, Queue, TIME_END};
use crate::receipt::Receipt;
use crate::record::PREFETCHED;
use crate::store::Stored;

/// Why a delivery came to nothing, or a message is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Its lease ended.
    Lease,
    /// It was given back.
    Nack,
    /// It was taken over as failed.
    Recover,
    /// It was taken over.
    Claim,
}

impl Cause {
    const ALL: [Cause; 4] = [Cause::Lease, Cause::Nack, Cause::Recover, Cause::Claim];

    /// The reason of a death that nobody gave another one for.
    pub(crate) fn reason(self) -> &'static [u8] {
        match self {
            Cause::Lease => b"lease",
            Cause::Nack => b"nack",
            Cause::Recover | Cause::Claim => b"recover",
        }
    }

    pub(crate) fn number(self) -> u8 {
        self as u8
    }

    pub(crate) fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// How messages are given back.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nack<'a> {
    /// Milliseconds to wait; none: as the queue says.
    pub delay: Option<u64>,
    /// They are dead.
    pub dead: bool,
    /// Why; empty for no reason.
    pub reason: &'a [u8],
    /// The delivery does not count.
    pub silent: bool,
}

impl Queue {
    /// What a settling operation would say of a message.
    pub(crate) fn settles(&mut self, receipt: Receipt) -> Settled {
        let Some(place) = self.group.find(&self.store, receipt.id) else {
            return Settled::Unknown;
        };
        let number = self.store.record(place);
        match self.group.records.get(number) {
            Some(record)
                if record.place == crate::record::Place::Delivered
                    && receipt.is_of(record.deliveries) =>
            {
                Settled::Done
            }
            _ => Settled::Stale,
        }
    }

    /// Lets go of delivered messages; those that were let go are put into `done`, and what became of each is told in their
    /// order.
    pub fn acknowledge(
        &mut self,
        now: u64,
        receipts: impl Iterator<Item = Receipt>,
        done: &mut Vec<Id>,
        effect: &mut dyn Writer,
        mut each: impl FnMut(Settled),
    ) {
        effect.clear();
        done.clear();
        let time = self.advance(now);
        let tokens = self.settle_all(time, receipts, |id, settled| {
            if settled == Settled::Done {
                done.push(id);
            }
            each(settled);
        });
        if done.is_empty() {
            return;
        }
        if tokens {
            self.clock = time;
            effect::put_acknowledge_at(effect, time, done);
        } else {
            effect::put_acknowledge(effect, done);
        }
    }

    /// Lets go of delivered messages; whether one of them had a token, so that the time matters.
    pub(crate) fn settle_all(
        &mut self,
        time: u64,
        receipts: impl Iterator<Item = Receipt>,
        mut each: impl FnMut(Id, Settled),
    ) -> bool {
        let mut tokens = false;
        for receipt in receipts {
            let settled = self.settle_one(receipt, time, &mut tokens);
            if settled == Settled::Done {
                self.expected = None;
                self.counters.deleted += 1;
            }
            each(receipt.id, settled);
        }
        tokens
    }

    fn settle_one(&mut self, receipt: Receipt, time: u64, tokens: &mut bool) -> Settled {
        let before = self.group.settle_hint();
        let Some((place, number)) = self.group.held(&self.store, receipt.id) else {
            return self.settles(receipt);
        };
        let record = self.group.records.get(number);
        if !record.is_some_and(|record| receipt.is_of(record.deliveries)) {
            return Settled::Stale;
        }
        let mut beside = 0;
        if self.store.is_extended(place) {
            let (prefix, _) = self.store.message(place);
            let (fields, _) = Fields::stored(prefix);
            beside = prefix.len() as u64 - fields.headers.bytes();
            if let Some(token) = fields.token.map(Box::<[u8]>::from) {
                *tokens = true;
                self.token_left(&token, time);
            }
        }
        let held = (place, number);
        let stored = (self.group).acknowledge(&mut self.store, receipt.id, before, held);
        self.bytes -= stored - beside;
        Settled::Done
    }

    /// A message with a token left.
    pub(crate) fn token_left(&mut self, token: &[u8], time: u64) {
        if self.policy.dedup == 0 {
            self.tokens.remove(token);
        } else if let Some((id, _)) = self.tokens.get(token) {
            self.tokens.set(token, id, Some(time));
        }
    }

    /// Whether all of these are held, each named once: what a hand-over demands.
    ///
    /// # Errors
    /// [`Error::NotHeld`] with the first that is not.
    pub fn ensure_held(&mut self, receipts: &[Receipt]) -> Result<(), Error> {
        let mut seen = std::collections::BTreeSet::new();
        for &receipt in receipts {
            if self.settles(receipt) != Settled::Done || !seen.insert(receipt.id) {
                return Err(Error::NotHeld(receipt.id));
            }
        }
        Ok(())
    }

    /// How many messages these are, and their bytes, for a push that they leave with.
    #[must_use]
    pub fn leaving(&self, receipts: &[Receipt]) -> (u64, u64) {
        let held = receipts.iter().filter_map(|receipt| self.get(receipt.id));
        held.fold((0, 0), |(count, bytes), held| {
            (count + 1, bytes + held.bytes())
        })
    }

    // ---- giving back ----

    /// Whether a message's failure is its last one.
    pub(crate) fn is_last(&self, policy: &Policy, message: &Stored<'_>, failures: u32) -> bool {
        match message.fields().retries {
            Some(retries) => failures > retries,
            None => policy.deliveries > 0 && failures >= policy.deliveries,
        }
    }

    /// Where a held message goes that is given back; none when it is not held. Its delivery ended now, or when its lease did:
    /// a back-off runs from then.
    pub(crate) fn fate(
        &mut self,
        policy: &Policy,
        id: Id,
        (time, delay, counts): (u64, Option<u64>, bool),
    ) -> Option<Fate> {
        let (place, number) = self.group.held(&self.store, id)?;
        let record = self.group.records.get(number)?;
        let counts = counts && !record.has(PREFETCHED);
        let failures = u32::from(record.failures) + u32::from(counts);
        let message = self.store.get(place)?;
        if counts && self.is_last(policy, &message, failures) {
            return Some(Fate::Dead);
        }
        let ended = match self.group.delivered.deadline(&self.group.records, number) {
            0 => time,
            deadline => deadline.min(time),
        };
        let (since, delay) = match delay {
            Some(delay) => (time, delay),
            None if counts => (ended, policy.delay(id, failures)),
            None => (time, 0),
        };
        let due = since.saturating_add(delay).min(TIME_END - 1);
        Some(if due > time {
            Fate::Due(due)
        } else {
            Fate::Waiting
        })
    }

    /// Gives delivered messages back; those that were given back are put into `done`, and what became of each is told in
    /// their order.
    pub fn nack(
        &mut self,
        moment: &Moment<'_>,
        nack: &Nack<'_>,
        receipts: impl Iterator<Item = Receipt>,
        effect: &mut dyn Writer,
        mut each: impl FnMut(Id, Settled),
    ) {
        effect.clear();
        let (time, policy) = (self.advance(moment.now), self.policy.over(moment.defaults));
        let returned = Returned {
            time,
            cause: Cause::Nack,
            silent: nack.silent,
            reason: nack.reason,
        };
        let mut entries = Vec::new();
        for receipt in receipts {
            let settled = self.settles(receipt);
            if settled == Settled::Done {
                let fate = if nack.dead {
                    Some(Fate::Dead)
                } else {
                    self.fate(&policy, receipt.id, (time, nack.delay, !nack.silent))
                };
                let fate = fate.unwrap_or(Fate::Waiting);
                self.give_back(&returned, receipt.id, fate);
                entries.push((receipt.id, fate));
            }
            each(receipt.id, settled);
        }
        if !entries.is_empty() {
            self.expected = None;
            self.clock = time;
            effect::put_returned(effect, &returned, &entries);
        }
    }

    /// Gives one held message back.
    pub(crate) fn give_back(&mut self, returned: &Returned<'_>, id: Id, fate: Fate) {
        let failed = !returned.silent && !self.is_prefetched(id);
        match returned.cause {
            Cause::Lease => self.counters.returned_lease += 1,
            Cause::Nack => self.counters.returned_nack += 1,
            Cause::Recover | Cause::Claim => self.counters.returned_recover += 1,
        }
        if fate == Fate::Dead {
            let reason = match returned.reason {
                [] => returned.cause.reason(),
                reason => reason,
            };
            self.bury(id, returned.time, failed, reason);
        } else {
            let how = (returned.time, fate, failed);
            self.group.give_back(&mut self.store, id, how, &[]);
        }
    }

    /// A held message is dead.
    pub(crate) fn bury(&mut self, id: Id, time: u64, failed: bool, reason: &[u8]) {
        self.bytes -= self.get(id).map_or(0, |held| held.bytes());
        self.counters.dead += 1;
        let how = (time, Fate::Dead, failed);
        self.group.give_back(&mut self.store, id, how, reason);
    }

    // ---- leases ----

    /// Sets the ends of leases to so many milliseconds from now, 0 for none; with `start`, says that the deliveries begin.
    /// Those that were held are put into `done`, and what became of each is told in their order.
    pub fn extend(
        &mut self,
        now: u64,
        (milliseconds, start): (u64, bool),
        receipts: impl Iterator<Item = Receipt>,
        done: &mut Vec<Id>,
        effect: &mut dyn Writer,
        mut each: impl FnMut(Settled),
    ) {
        effect.clear();
        done.clear();
        let time = self.time(now);
        let deadline = match milliseconds {
            0 => 0,
            some => time.saturating_add(some).min(TIME_END - 1),
        };
        for receipt in receipts {
            let settled = self.settles(receipt);
            if settled == Settled::Done {
                done.push(receipt.id);
            }
            each(settled);
        }
        if !done.is_empty() {
            // Each once, however often it was named.
            let mut seen = std::collections::BTreeSet::new();
            let once: Vec<Id> = (done.iter().copied())
                .filter(|&id| seen.insert(id))
                .collect();
            self.extend_all(deadline, start, &once);
            effect::put_extend(effect, deadline, start, &once);
        }
    }

    pub(crate) fn extend_all(&mut self, deadline: u64, start: bool, ids: &[Id]) {
        self.expected = None;
        for &id in ids {
            let Some((_, number)) = self.group.held(&self.store, id) else {
                continue;
            };
            let group = &mut self.group;
            group.delivered.extend(&mut group.records, number, deadline);
            if let Some(record) = group.records.get_mut(number).filter(|_| start) {
                record.set(PREFETCHED, false);
            }
        }
    }

    // ---- cancelling ----

    /// Lets go of messages: by their IDs whatever their state, by a receipt only when held under it. Those that were let
    /// go are put into `done`.
    pub fn delete(
        &mut self,
        now: u64,
        receipts: impl Iterator<Item = Receipt>,
        done: &mut Vec<Id>,
        effect: &mut dyn Writer,
    ) {
        effect.clear();
        done.clear();
        let time = self.advance(now);
        for receipt in receipts {
            let meant = receipt.delivery == 0 || self.settles(receipt) == Settled::Done;
            if meant && self.remove_one(receipt.id, time) {
                done.push(receipt.id);
            }
        }
        if !done.is_empty() {
            self.expected = None;
            self.clock = time;
            self.counters.cancelled += done.len() as u64;
            effect::put_remove(effect, time, false, done);
        }
    }

    /// Lets go of a message, whatever its state, and remembers its token; false when it is not there.
    pub(crate) fn remove_one(&mut self, id: Id, time: u64) -> bool {
        let Some(held) = self.get(id) else {
            return false;
        };
        let token = held.meta.fields.token.map(Box::<[u8]>::from);
        if held.meta.state != crate::outcome::State::Dead {
            self.bytes -= held.bytes();
        }
        if let Some(token) = token {
            self.token_left(&token, time);
        }
        self.group.remove(&mut self.store, id)
    }
}
