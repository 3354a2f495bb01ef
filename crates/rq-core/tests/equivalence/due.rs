//! The model: settling, managing, due work.

use rq_core::{Id, Paused, Receipt, Settled};

use crate::model::{Cause, Model, Place, Turn};
use crate::operation::{Among, Nack, Naming, Pick};

/// What became of each message that was named, and those that were done.
pub(crate) type Outcome = (Vec<Settled>, Vec<Id>);

impl Model {
    /// The receipt that a pick means.
    pub(crate) fn receipt(&self, pick: &Pick) -> Receipt {
        let all = match pick.among {
            Among::Delivered => self.delivered(),
            Among::Dead => self.dead(),
            Among::Present => self.messages.keys().copied().collect(),
            Among::Elsewhere => {
                let mut given = self.given.clone();
                given.extend([Id::default(), Id::new(u64::MAX, u64::MAX)]);
                given
            }
        };
        if all.is_empty() {
            return Id::new(7, 7).into();
        }
        let id = all[pick.index.index(all.len())];
        let deliveries = self.messages.get(&id).map_or(0, |m| m.deliveries);
        let delivery = match pick.naming {
            Naming::Bare => 0,
            Naming::Receipt => deliveries,
            Naming::Stale if pick.index.index(2) == 0 => deliveries.saturating_sub(1),
            Naming::Stale => deliveries + 1,
        };
        Receipt { id, delivery }
    }

    pub(crate) fn receipts(&self, picks: &[Pick]) -> Vec<Receipt> {
        picks.iter().map(|pick| self.receipt(pick)).collect()
    }

    /// Settles one after another.
    fn settle(&mut self, receipts: &[Receipt], mut each: impl FnMut(&mut Self, Id)) -> Outcome {
        let (mut told, mut done) = (Vec::new(), Vec::new());
        for &receipt in receipts {
            let settled = self.settles(receipt);
            if settled == Settled::Done {
                done.push(receipt.id);
                each(self, receipt.id);
            }
            told.push(settled);
        }
        (told, done)
    }

    pub(crate) fn acknowledge(&mut self, now: u64, receipts: &[Receipt]) -> Outcome {
        let time = self.time(now);
        self.settle(receipts, |model, id| {
            model.counters.deleted += 1;
            if model.messages[&id].token.is_some() {
                model.clock = time;
            }
            model.remove(id, time);
        })
    }

    pub(crate) fn nack(&mut self, now: u64, nack: &Nack, receipts: &[Receipt]) -> Outcome {
        let time = self.time(now);
        let reason: &[u8] = if nack.reason { b"because" } else { b"" };
        self.settle(receipts, |model, id| {
            model.clock = time;
            let how = (!nack.silent, nack.delay, nack.dead);
            model.give_back(id, (time, Cause::Nack), how, reason);
        })
    }

    pub(crate) fn extend(
        &mut self,
        now: u64,
        (milliseconds, start): (u64, bool),
        receipts: &[Receipt],
    ) -> Outcome {
        let end = (self.time(now).saturating_add(milliseconds)).min(crate::model::TIME_END - 1);
        self.settle(receipts, |model, id| {
            if let Place::Delivered(holding) = &mut model.messages.get_mut(&id).unwrap().place {
                holding.deadline = if milliseconds == 0 { 0 } else { end };
                holding.begun |= start;
            }
        })
    }

    pub(crate) fn delete(&mut self, now: u64, receipts: &[Receipt]) -> Vec<Id> {
        let time = self.time(now);
        let mut done = Vec::new();
        for &receipt in receipts {
            let meant = match receipt.delivery {
                0 => self.messages.contains_key(&receipt.id),
                _ => self.settles(receipt) == Settled::Done,
            };
            if meant {
                self.clock = time;
                self.counters.cancelled += 1;
                self.remove(receipt.id, time);
                done.push(receipt.id);
            }
        }
        done
    }

    pub(crate) fn redrive(&mut self, now: u64, which: Option<&[Receipt]>, count: u64) -> Vec<Id> {
        let time = self.time(now);
        let dead = self.dead();
        let mut ids = Vec::new();
        match which {
            None => ids.extend(
                dead.iter()
                    .take(usize::try_from(count).unwrap_or(usize::MAX)),
            ),
            Some(receipts) => {
                for receipt in receipts {
                    let deliveries = self.messages.get(&receipt.id).map(|m| m.deliveries);
                    let meant = receipt.delivery == 0 || Some(receipt.delivery) == deliveries;
                    if meant && dead.contains(&receipt.id) && !ids.contains(&receipt.id) {
                        ids.push(receipt.id);
                    }
                }
            }
        }
        for id in &ids {
            self.clock = time;
            let turn = Turn::Line(self.next_number());
            let message = self.messages.get_mut(id).unwrap();
            message.place = Place::Waiting(turn);
            message.failures = 0;
        }
        ids
    }

    pub(crate) fn flush(&mut self, now: u64, dead: bool) -> u64 {
        let time = self.time(now);
        let ids: Vec<Id> = if dead {
            self.dead()
        } else {
            self.messages.keys().copied().collect()
        };
        for &id in &ids {
            self.clock = time;
            self.counters.cancelled += 1;
            self.remove(id, time);
        }
        ids.len() as u64
    }

    pub(crate) fn pause(&mut self, push: bool, pop: bool, paused: bool) {
        self.paused = Paused {
            push: if push { paused } else { self.paused.push },
            pop: if pop { paused } else { self.paused.pop },
        };
    }

    pub(crate) fn delete_consumer(&mut self, now: u64, consumer: &[u8]) -> u64 {
        let time = self.time(now);
        let ids = if consumer.is_empty() {
            Vec::new()
        } else {
            self.held_by(consumer)
        };
        for &id in &ids {
            self.clock = time;
            self.give_back(id, (time, Cause::Nack), (false, None, false), b"");
        }
        ids.len() as u64
    }

    /// The queue was written and loaded.
    pub(crate) fn reloaded(&mut self) {
        self.ahead = None;
        let mut seen = std::collections::BTreeMap::new();
        for id in self.delivered() {
            let number = self.next_number();
            let message = self.messages.get_mut(&id).unwrap();
            let time = message.last_delivery;
            if let Place::Delivered(holding) = &mut message.place {
                holding.number = number;
                if !holding.consumer.is_empty() {
                    seen.insert(holding.consumer.clone(), time);
                }
            }
        }
        self.seen = seen;
    }

    /// The queue was made anew.
    pub(crate) fn renew(&mut self) {
        *self = Self {
            given: std::mem::take(&mut self.given),
            last: self.last,
            defaults: self.defaults,
            ..Self::default()
        };
    }

    // ---- due work ----

    /// Does all that is due. Leases that end together end in any order: that of these dead letters, where they tell.
    pub(crate) fn expire(&mut self, now: u64, dead: &[Id]) {
        let time = self.note(now);
        for id in self.scheduled() {
            let turn = Turn::Line(self.next_number());
            let message = self.messages.get_mut(&id).unwrap();
            if matches!(message.place, Place::Scheduled(due) if due <= time) {
                message.place = Place::Waiting(match message.deliveries {
                    0 => turn,
                    _ => Turn::Returned(id),
                });
                self.clock = time;
            }
        }
        for id in self.ended(time, dead) {
            self.give_back(id, (time, Cause::Lease), (true, None, false), b"");
            self.clock = time;
        }
        for id in self.outlived(time) {
            if self.policy.expired_dead {
                self.bury(id, time, b"expired");
            } else {
                self.counters.expired += 1;
                self.remove(id, time);
            }
            self.clock = time;
        }
        self.trim(time);
        let window = self.policy.dedup;
        self.producers
            .retain(|_, producer| producer.time + window > time);
        self.tokens
            .retain(|_, (_, left)| left.is_none_or(|left| left + window > time));
    }

    /// Messages whose leases have ended, in the order of their ends.
    fn ended(&self, time: u64, dead: &[Id]) -> Vec<Id> {
        let mut ended: Vec<(u64, Option<usize>, Id)> = Vec::new();
        for message in self.messages.values() {
            let deadline = message.holding().map_or(0, |holding| holding.deadline);
            if deadline > 0 && deadline <= time {
                let order = dead.iter().position(|id| *id == message.id);
                ended.push((deadline, order, message.id));
            }
        }
        ended.sort_unstable();
        ended.into_iter().map(|(_, _, id)| id).collect()
    }

    /// Messages whose time to live is over, in the order of its ends.
    fn outlived(&self, time: u64) -> Vec<Id> {
        let mut over: Vec<(u64, Id)> = self
            .messages
            .values()
            .filter(|message| message.mortal && message.expiry <= time)
            .map(|message| (message.expiry, message.id))
            .collect();
        over.sort_unstable();
        over.into_iter().map(|(_, id)| id).collect()
    }

    /// Bounds the dead letters.
    fn trim(&mut self, time: u64) {
        let policy = self.policy.over(&self.defaults);
        let dead = self.dead();
        let mut left = dead.len() as u64;
        for id in dead {
            let Place::Dead(death) = &self.messages[&id].place else {
                continue;
            };
            let old = policy.dead_ttl > 0 && death.died + policy.dead_ttl <= time;
            if !old && (policy.dead_max == 0 || left <= policy.dead_max) {
                break;
            }
            left -= 1;
            self.clock = time;
            self.counters.expired += 1;
            self.remove(id, time);
        }
    }

    /// When the next thing is due, by the queue's time.
    pub(crate) fn next_due(&self) -> Option<u64> {
        let policy = self.policy.over(&self.defaults);
        let messages = self
            .messages
            .values()
            .filter_map(|message| match &message.place {
                Place::Scheduled(due) => Some(*due),
                Place::Waiting(_) if message.mortal => Some(message.expiry),
                Place::Delivered(holding) if holding.deadline > 0 => Some(holding.deadline),
                Place::Dead(death) if policy.dead_ttl > 0 => Some(death.died + policy.dead_ttl),
                _ => None,
            });
        let window = policy.dedup;
        let producers = self
            .producers
            .values()
            .map(|producer| producer.time + window);
        let tokens = self
            .tokens
            .values()
            .filter_map(|(_, left)| Some((*left)? + window));
        let crowd = policy.dead_max > 0 && self.dead().len() as u64 > policy.dead_max;
        let all = messages.chain(producers).chain(tokens);
        all.chain(crowd.then_some(0)).min()
    }
}
