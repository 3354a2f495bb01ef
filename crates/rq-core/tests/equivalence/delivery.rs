//! The model: delivering, and what becomes of deliveries.

use rq_core::{Id, Pop, Receipt, Recover, Settled};

use crate::model::{Cause, Death, Holding, Model, Place, Row, TIME_END, Turn};

impl Model {
    // ---- delivering ----

    pub(crate) fn pop(&mut self, now: u64, pop: &Pop<'_>) -> Vec<Row> {
        let time = self.time(now);
        let policy = self.policy.over(&self.defaults);
        let mut room = if self.paused.pop { 0 } else { pop.count };
        if policy.inflight > 0 && !pop.no_ack {
            let held = self.held_by(pop.consumer).len() as u64;
            room = room.min(policy.inflight.saturating_sub(held));
        }
        let (mut taken, mut bytes) = (Vec::new(), 0);
        for id in self.waiting() {
            let message = &self.messages[&id];
            bytes += message.payload.len() as u64;
            let large = pop.max_bytes > 0 && bytes > pop.max_bytes && !taken.is_empty();
            let over = message.mortal && message.expiry <= time;
            if taken.len() as u64 == room || large || over {
                break;
            }
            taken.push(id);
        }
        let lease = pop.lease.unwrap_or(policy.lease);
        let lease = if pop.no_ack { 0 } else { lease };
        if !taken.is_empty() {
            self.clock = time;
        }
        let mut rows = Vec::new();
        for id in taken {
            rows.push(self.deliver(id, lease, pop.consumer, !pop.prefetch));
            if pop.no_ack {
                self.counters.deleted += 1;
                self.remove(id, time);
            } else {
                self.see(pop.consumer);
            }
        }
        rows
    }

    /// A consumer holds something, and was seen.
    fn see(&mut self, consumer: &[u8]) {
        if !consumer.is_empty() {
            let seen = self.seen.entry(consumer.to_vec()).or_default();
            *seen = (*seen).max(self.clock);
        }
    }

    /// Delivers a message at the queue's time, which is the clock.
    fn deliver(&mut self, id: Id, lease: u64, consumer: &[u8], begun: bool) -> Row {
        let (number, time) = (self.next_number(), self.clock);
        let lease = lease.min(TIME_END / 2);
        self.counters.received += 1;
        let deadline = if lease == 0 { 0 } else { time + lease };
        let message = self.messages.get_mut(&id).unwrap();
        message.deliveries += 1;
        message.last_delivery = time;
        message.mortal = false;
        message.place = Place::Delivered(Holding {
            lease,
            deadline,
            consumer: consumer.to_vec(),
            begun,
            number,
        });
        (
            id,
            message.payload.clone(),
            message.deliveries,
            message.failures,
            time,
            deadline,
            consumer.to_vec(),
        )
    }

    pub(crate) fn recover(&mut self, now: u64, recover: &Recover<'_>) -> Vec<Row> {
        let time = self.time(now);
        let mut ids = match recover.from {
            Some(name) => self.held_by(name),
            None => self.delivered(),
        };
        ids.retain(|id| self.messages[id].last_delivery + recover.elapsed <= time);
        ids.truncate(usize::try_from(recover.count).unwrap_or(usize::MAX));
        let policy = self.policy.over(&self.defaults);
        let mut rows = Vec::new();
        for id in ids {
            self.clock = time;
            self.counters.returned_recover += 1;
            if self.fail(id, true) {
                self.bury(id, time, b"recover");
            } else {
                let lease = recover.lease.unwrap_or(policy.lease);
                rows.push(self.deliver(id, lease, recover.consumer, true));
                self.see(recover.consumer);
            }
        }
        rows
    }

    pub(crate) fn claim(
        &mut self,
        now: u64,
        (consumer, idle, lease): (&[u8], u64, Option<u64>),
        receipts: &[Receipt],
    ) -> Vec<Row> {
        let time = self.time(now);
        let mut ids: Vec<Id> = Vec::new();
        for receipt in receipts {
            let meant = self.settles(*receipt) == Settled::Done
                && self.messages[&receipt.id].last_delivery + idle <= time;
            if meant && !ids.contains(&receipt.id) {
                ids.push(receipt.id);
            }
        }
        let policy = self.policy.over(&self.defaults);
        let lease = lease.unwrap_or(policy.lease);
        let mut rows = Vec::new();
        for id in ids {
            self.clock = time;
            rows.push(self.deliver(id, lease, consumer, true));
            self.see(consumer);
        }
        rows
    }

    // ---- settling ----

    pub(crate) fn settles(&self, receipt: Receipt) -> Settled {
        match self.messages.get(&receipt.id) {
            None => Settled::Unknown,
            Some(message) if message.holding().is_none() => Settled::Stale,
            Some(message) if [0, message.deliveries].contains(&receipt.delivery) => Settled::Done,
            Some(_) => Settled::Stale,
        }
    }

    /// Counts a failure, unless the delivery was not begun; whether it was the last.
    pub(crate) fn fail(&mut self, id: Id, counts: bool) -> bool {
        let limit = self.policy.over(&self.defaults).deliveries;
        let message = self.messages.get_mut(&id).unwrap();
        if !counts || !message.holding().unwrap().begun {
            return false;
        }
        message.failures += 1;
        match message.retries {
            Some(retries) => message.failures > retries,
            None => limit > 0 && message.failures >= limit,
        }
    }

    pub(crate) fn bury(&mut self, id: Id, time: u64, reason: &[u8]) {
        let number = self.next_number();
        self.counters.dead += 1;
        let message = self.messages.get_mut(&id).unwrap();
        let consumer = message.holding().map(|holding| holding.consumer.clone());
        message.mortal = false;
        message.place = Place::Dead(Death {
            died: time,
            reason: reason.to_vec(),
            consumer: consumer.unwrap_or_default(),
            number,
        });
    }

    /// Gives a held message back.
    pub(crate) fn give_back(
        &mut self,
        id: Id,
        (time, cause): (u64, Cause),
        (counts, delay, dead): (bool, Option<u64>, bool),
        reason: &[u8],
    ) {
        match cause {
            Cause::Lease => self.counters.returned_lease += 1,
            Cause::Nack => self.counters.returned_nack += 1,
        }
        let holding = self.messages[&id].holding().unwrap();
        let (begun, mut ended) = (holding.begun, time);
        if holding.deadline > 0 {
            ended = time.min(holding.deadline);
        }
        if self.fail(id, counts) || dead {
            let own: &[u8] = if cause == Cause::Lease {
                b"lease"
            } else {
                b"nack"
            };
            return self.bury(id, time, if reason.is_empty() { own } else { reason });
        }
        let backoff = self.policy.over(&self.defaults).backoff;
        let message = self.messages.get_mut(&id).unwrap();
        let mut wait = 0;
        if counts && begun && backoff.base > 0 {
            let most = if backoff.max == 0 {
                u64::MAX
            } else {
                backoff.max
            };
            let power = u64::from(backoff.factor / 1000).saturating_pow(message.failures - 1);
            wait = backoff
                .base
                .saturating_mul(power)
                .min(most)
                .min(TIME_END / 2);
        }
        let since = if delay.is_some() { time } else { ended };
        let due = since
            .saturating_add(delay.unwrap_or(wait))
            .min(TIME_END - 1);
        message.place = if due > time {
            Place::Scheduled(due)
        } else {
            Place::Waiting(Turn::Returned(id))
        };
    }
}
