//! Delivering: pop, recover, claim.

use crate::effect::{self, Again, Writer};
use crate::group::Manner;
use crate::id::Id;
use crate::outcome::Delivery;
use crate::policy::Policy;
use crate::queue::{Moment, Queue, TIME_END, delivery};
use crate::receipt::Receipt;
use crate::record::{PREFETCHED, Record};
use crate::settle::Cause;

/// How messages are taken.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pop<'a> {
    /// At most so many.
    pub count: u64,
    /// Milliseconds of their lease, 0 for no end; none: as the queue says.
    pub lease: Option<u64>,
    /// Who takes them; empty for nobody by name.
    pub consumer: &'a [u8],
    /// They are let go at once.
    pub no_ack: bool,
    /// Their delivery is not begun.
    pub prefetch: bool,
    /// Bytes of payloads at most, but at least one message; 0: no limit.
    pub max_bytes: u64,
}

impl Pop<'_> {
    /// A plain pop of at most so many.
    #[must_use]
    pub fn of(count: u64) -> Self {
        Self {
            count,
            ..Self::default()
        }
    }
}

/// How messages are taken over that were delivered before.
#[derive(Debug, Clone, Copy, Default)]
pub struct Recover<'a> {
    /// At most so many.
    pub count: u64,
    /// Milliseconds since their last delivery, at least.
    pub elapsed: u64,
    /// Milliseconds of their lease, 0 for no end; none: as the queue says.
    pub lease: Option<u64>,
    /// Who takes them; empty for nobody by name.
    pub consumer: &'a [u8],
    /// Only what this consumer holds.
    pub from: Option<&'a [u8]>,
}

/// Messages that are taken over, once it is decided which.
#[derive(Debug, Clone)]
pub struct TakeOver<'a> {
    cause: Cause,
    lease: Option<u64>,
    consumer: &'a [u8],
    /// IDs, and whether each is dead instead.
    entries: Vec<(Id, bool)>,
}

impl TakeOver<'_> {
    /// How many messages will be delivered.
    #[must_use]
    pub fn deliveries(&self) -> usize {
        self.entries.iter().filter(|(_, dead)| !dead).count()
    }
}

impl Queue {
    /// How many messages a pop would deliver, at most; none when it would deliver none.
    #[must_use]
    pub fn available(&self, moment: &Moment<'_>, pop: &Pop<'_>) -> u64 {
        let waiting = self.group.waiting();
        if waiting == 0 || self.paused.pop {
            return 0;
        }
        let mut count = waiting.min(pop.count);
        let inflight = match self.policy.inflight {
            0 => moment.defaults.inflight,
            own => own,
        };
        if inflight > 0 && !pop.no_ack {
            let held = match pop.consumer {
                [] => self.group.delivered() - self.group.consumers.held(),
                name => self.group.consumers.pending(name),
            };
            count = count.min(inflight.saturating_sub(held));
        }
        if count > 0 && self.is_stopped(moment.now) {
            return 0;
        }
        count
    }

    /// Whether the next message's time to live is over, and it only was not let go yet.
    fn is_stopped(&self, now: u64) -> bool {
        let time = self.time(now);
        let over = |(expiry, _): (u64, u64)| expiry <= time;
        self.group.expiring.first().is_some_and(over)
            && (self.group.iter_waiting(&self.store, 0).next())
                .is_some_and(|message| self.is_over(&message, time))
    }

    fn is_over(&self, message: &crate::store::Stored<'_>, time: u64) -> bool {
        if message.prefix.is_empty() || self.group.record(message).is_some() {
            return false;
        }
        let expiry = message.fields().expiry;
        expiry > 0 && expiry <= time
    }

    /// Whether a pop delivers exactly what [`Queue::available`] says.
    #[must_use]
    pub fn is_exact(&self, pop: &Pop<'_>) -> bool {
        pop.max_bytes == 0 && self.group.expiring.len() == 0
    }

    fn lease(&self, lease: Option<u64>, defaults: &Policy) -> u64 {
        let lease = lease.unwrap_or(match self.policy.lease {
            0 => defaults.lease,
            own => own,
        });
        lease.min(TIME_END / 2)
    }

    /// Notes that a consumer was seen, where it holds something. It is no change.
    pub fn seen(&mut self, now: u64, consumer: &[u8]) {
        let time = self.time(now);
        self.group.consumers.seen(consumer, time);
    }

    /// Delivers waiting messages, in their order, and tells how many.
    pub fn pop(
        &mut self,
        moment: &Moment<'_>,
        pop: &Pop<'_>,
        effect: &mut dyn Writer,
        mut visit: impl FnMut(Delivery<'_>),
    ) -> u64 {
        effect.clear();
        let count = self.available(moment, pop);
        if count == 0 {
            return 0;
        }
        let manner = Manner {
            time: self.advance(moment.now),
            lease: if pop.no_ack {
                0
            } else {
                self.lease(pop.lease, moment.defaults)
            },
            consumer: pop.consumer,
            prefetched: pop.prefetch,
            no_ack: pop.no_ack,
        };
        let mut first = None;
        let done = self.deliver(
            count,
            pop.max_bytes,
            &manner,
            Some(manner.time),
            |delivery| {
                first = first.or(Some(delivery.id));
                visit(delivery);
            },
        );
        if let Some(first) = first {
            effect::put_deliver(effect, &manner, first, done);
        }
        done
    }

    /// Delivers the next messages; those whose time to live is over by `expires` end it.
    pub(crate) fn deliver(
        &mut self,
        count: u64,
        max_bytes: u64,
        manner: &Manner<'_>,
        expires: Option<u64>,
        mut visit: impl FnMut(Delivery<'_>),
    ) -> u64 {
        self.expected = None;
        self.clock = manner.time;
        let (mut bytes, mut any) = (0, false);
        let (mut freed, mut tokens) = (0, Vec::new());
        let checks_expiry = expires.is_some() && self.group.expiring.len() > 0;
        let done = self.group.deliver(
            &mut self.store,
            count,
            manner,
            |message| {
                bytes += message.payload.len() as u64;
                if max_bytes > 0 && any && bytes > max_bytes {
                    return false;
                }
                any = true;
                if !checks_expiry || message.prefix.is_empty() {
                    return true;
                }
                let expiry = message.fields().expiry;
                let first = !crate::segment::is_record(message.record);
                !(first && expiry > 0 && expires >= Some(expiry))
            },
            |message, record| {
                if manner.no_ack {
                    freed += message.bytes();
                    tokens.extend(message.fields().token.map(Box::<[u8]>::from));
                }
                visit(delivery(message, record, manner.lease, manner.consumer));
            },
        );
        self.counters.received += done;
        if manner.no_ack {
            self.counters.deleted += done;
            self.bytes -= freed;
            tokens
                .iter()
                .for_each(|token| self.token_left(token, manner.time));
        }
        done
    }

    // ---- taking over ----

    /// What a recovery would take over.
    #[must_use]
    pub fn recoverable<'a>(&self, moment: &Moment<'_>, recover: &Recover<'a>) -> TakeOver<'a> {
        TakeOver {
            cause: Cause::Recover,
            lease: recover.lease,
            consumer: recover.consumer,
            entries: self.recoverable_entries(moment, recover),
        }
    }

    fn recoverable_entries(&self, moment: &Moment<'_>, recover: &Recover<'_>) -> Vec<(Id, bool)> {
        let Some(until) = self.time(moment.now).checked_sub(recover.elapsed) else {
            return Vec::new();
        };
        let (records, policy) = (&self.group.records, self.policy.over(moment.defaults));
        let numbers: Box<dyn Iterator<Item = u32> + '_> = match recover.from {
            Some(name) => Box::new(self.group.consumers.records(records, name)),
            None => Box::new(self.group.delivered.iter(records)),
        };
        let due = numbers
            .filter_map(|number| records.get(number))
            .take_while(|record| record.time() <= until)
            .take(usize::try_from(recover.count).unwrap_or(usize::MAX));
        let fate = |record: &Record| {
            let message = self.store.of(record.ordinal())?;
            let counts = !record.has(PREFETCHED);
            let failures = u32::from(record.failures) + u32::from(counts);
            Some((
                message.id,
                counts && self.is_last(&policy, &message, failures),
            ))
        };
        due.filter_map(fate).collect()
    }

    /// Delivers again messages that were delivered at least so long ago and not settled, the longest delivered first.
    /// Those whose last failure this is are dead instead. Tells how many were delivered.
    pub fn recover(
        &mut self,
        moment: &Moment<'_>,
        recover: &Recover<'_>,
        effect: &mut dyn Writer,
        visit: impl FnMut(Delivery<'_>),
    ) -> u64 {
        let taken = self.recoverable(moment, recover);
        self.take_over(moment, &taken, effect, visit)
    }

    /// What a claim would take over: those of the messages that are delivered, and were at least so long ago.
    pub fn claimable<'a>(
        &mut self,
        moment: &Moment<'_>,
        (consumer, min_idle, lease): (&'a [u8], u64, Option<u64>),
        receipts: impl Iterator<Item = Receipt>,
    ) -> TakeOver<'a> {
        let until = self.time(moment.now).checked_sub(min_idle);
        let (mut entries, mut seen) = (Vec::new(), std::collections::BTreeSet::new());
        for receipt in receipts {
            let held = self.group.held(&self.store, receipt.id);
            let record = held.and_then(|(_, number)| self.group.records.get(number));
            let meant = |record: &&Record| {
                receipt.is_of(record.deliveries)
                    && until.is_some_and(|until| record.time() <= until)
            };
            // One delivery each, however often it is named.
            if record.filter(meant).is_some() && seen.insert(receipt.id) {
                entries.push((receipt.id, false));
            }
        }
        TakeOver {
            cause: Cause::Claim,
            lease,
            consumer,
            entries,
        }
    }

    /// Delivers again to a consumer those of the messages that are delivered, and were at least so long ago. It counts no
    /// failure. Tells how many.
    pub fn claim(
        &mut self,
        moment: &Moment<'_>,
        claim: (&[u8], u64, Option<u64>),
        receipts: impl Iterator<Item = Receipt>,
        effect: &mut dyn Writer,
        visit: impl FnMut(Delivery<'_>),
    ) -> u64 {
        let taken = self.claimable(moment, claim, receipts);
        self.take_over(moment, &taken, effect, visit)
    }

    /// Takes over what [`Queue::recoverable`] or [`Queue::claimable`] has just said; how many messages were delivered.
    pub fn take_over(
        &mut self,
        moment: &Moment<'_>,
        taken: &TakeOver<'_>,
        effect: &mut dyn Writer,
        mut visit: impl FnMut(Delivery<'_>),
    ) -> u64 {
        effect.clear();
        if taken.entries.is_empty() {
            return 0;
        }
        let again = Again {
            time: self.advance(moment.now),
            cause: taken.cause,
            lease: self.lease(taken.lease, moment.defaults),
            consumer: taken.consumer,
        };
        effect::put_again(effect, &again, &taken.entries);
        self.deliver_again(&again, &taken.entries, &mut visit)
    }

    pub(crate) fn deliver_again(
        &mut self,
        again: &Again<'_>,
        entries: &[(Id, bool)],
        visit: &mut impl FnMut(Delivery<'_>),
    ) -> u64 {
        self.expected = None;
        self.clock = again.time;
        let manner = Manner {
            time: again.time,
            lease: again.lease,
            consumer: again.consumer,
            ..Manner::default()
        };
        let mut done = 0;
        for &(id, dead) in entries {
            let failed = again.cause == Cause::Recover && !self.is_prefetched(id);
            if dead {
                self.bury(id, again.time, failed, again.cause.reason());
                self.counters.returned_recover += 1;
                continue;
            }
            let show = |message: &crate::store::Stored<'_>, record: &Record| {
                visit(delivery(message, record, manner.lease, manner.consumer));
            };
            self.group
                .deliver_again(&mut self.store, id, failed, &manner, show);
            done += 1;
        }
        self.counters.received += done;
        if again.cause == Cause::Recover {
            self.counters.returned_recover += done;
        }
        done
    }

    pub(crate) fn is_prefetched(&mut self, id: Id) -> bool {
        let held = self.group.held(&self.store, id);
        held.and_then(|(_, number)| self.group.records.get(number))
            .is_some_and(|record| record.has(PREFETCHED))
    }
}
