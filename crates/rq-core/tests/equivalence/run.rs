//! A queue, the model, and whoever follows the queue's effects, side by side.

use rq_core::effect::{self, Scope};
use rq_core::{
    Delivery, Error, Headers, Id, Moment, Options, Policy, Queue, Receipt, Recover, Settled,
};

use crate::model::{Model, Row};
use crate::operation::{Operation, Push};
use crate::{bytes, compare, load};

/// How a sequence is run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// Due work is done before each operation, in steps of so many, as whoever keeps queues does. Time may go back
    /// then.
    pub(crate) keeper: Option<usize>,
    /// Leases have many lengths.
    pub(crate) many: bool,
    pub(crate) defaults: Policy,
}

pub(crate) struct Run {
    setting: Setting,
    pub(crate) queue: Queue,
    model: Model,
    now: u64,
    steps: u64,
    /// Applies each effect.
    pub(crate) replica: Queue,
    /// Was loaded at the cut, and applies the effects after it.
    pub(crate) loaded: Option<Queue>,
}

const CONSUMERS: [&[u8]; 4] = [b"", b"first", b"second", b"third"];

fn row(delivery: Delivery<'_>) -> Row {
    let meta = delivery.meta;
    (
        delivery.id,
        delivery.payload.to_vec(),
        meta.deliveries,
        meta.failures,
        meta.last_delivery,
        meta.deadline,
        meta.consumer.to_vec(),
    )
}

impl Run {
    pub(crate) fn new(setting: Setting) -> Self {
        let model = Model {
            defaults: setting.defaults,
            ..Model::default()
        };
        Self {
            setting,
            queue: Queue::default(),
            model,
            now: 1_000,
            steps: 0,
            replica: Queue::default(),
            loaded: None,
        }
    }

    fn moment<'a>(&self, defaults: &'a Policy) -> Moment<'a> {
        Moment {
            now: self.now,
            floor: Id::default(),
            defaults,
        }
    }

    fn lease(&self, lease: Option<u64>) -> Option<u64> {
        match lease {
            Some(lease) if self.setting.many => Some(lease % 1000 + 7 * (self.steps % 37)),
            lease => lease,
        }
    }

    /// Whoever follows does what the effect says.
    fn follow(&mut self, head: &[u8], payloads: &[Vec<u8>]) {
        if head.is_empty() {
            return;
        }
        if self.replica.is_empty() {
            assert_eq!(effect::scope(head), Ok(Scope::Creates));
        }
        let followers = [Some(&mut self.replica), self.loaded.as_mut()];
        for queue in followers.into_iter().flatten() {
            let payloads = payloads.iter().map(Vec::as_slice);
            queue.apply(head, payloads).unwrap();
        }
    }

    pub(crate) fn step(&mut self, operation: &Operation) {
        if let Some(limit) = self.setting.keeper {
            self.expire(limit);
        }
        let mut head = Vec::new();
        let mut payloads = Vec::new();
        match operation {
            Operation::Push(push) => payloads = self.push(push, &mut head),
            Operation::Expire(limit) => self.expire(*limit),
            Operation::Wait(milliseconds) => self.wait(*milliseconds),
            Operation::Reload => self.reload(),
            Operation::Copy => self.queue = self.queue.clone(),
            Operation::Renew => self.renew(),
            Operation::Setup(_)
            | Operation::Pause(..)
            | Operation::Redrive(..)
            | Operation::Flush(_)
            | Operation::DeleteConsumer(_)
            | Operation::Seen(_) => self.manage(operation, &mut head),
            Operation::Pop(_) | Operation::Claim { .. } | Operation::Recover { .. } => {
                self.deliver(operation, &mut head);
            }
            _ => self.settle(operation, &mut head),
        }
        self.follow(&head, &payloads);
        self.model.forget_consumers();
        self.steps += 1;
        let defaults = self.setting.defaults;
        compare::compare(&self.queue, &self.model, &self.moment(&defaults));
        if self.setting.many {
            self.now += 1;
        }
    }

    fn expire(&mut self, limit: usize) {
        let defaults = self.setting.defaults;
        let moment = self.moment(&defaults);
        let mut head = Vec::new();
        while self.queue.expire(&moment, limit, &mut head) {
            assert!(!head.is_empty());
            self.follow(&head, &[]);
        }
        assert!(head.is_empty());
        let dead: Vec<Id> = self.queue.dead().map(|dead| dead.id).collect();
        self.model.expire(self.now, &dead);
        self.model.forget_consumers();
    }

    fn wait(&mut self, milliseconds: i64) {
        let milliseconds = match self.setting.keeper {
            Some(_) => milliseconds,
            None => milliseconds.abs(),
        };
        self.now = self.now.saturating_add_signed(milliseconds).max(1);
    }

    /// The queue is written and loaded. When consumers were last seen is lost, and how far the time is ahead.
    fn reload(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        let parts = bytes(&self.queue);
        self.queue = load(&parts);
        assert_eq!(bytes(&self.queue), parts);
        self.model.reloaded();
    }

    fn renew(&mut self) {
        if self.queue.is_empty() {
            let last = self.model.last;
            self.queue.renew(last);
            self.replica = Queue::new(last);
            if self.loaded.is_some() {
                self.loaded = Some(Queue::new(last));
            }
            self.model.renew();
        }
    }

    /// The elements that are stored.
    fn push(&mut self, push: &Push, head: &mut Vec<u8>) -> Vec<Vec<u8>> {
        let mut payloads: Vec<Vec<u8>> = (push.sizes.iter().enumerate())
            .map(|(n, &size)| (0..size).map(|i| (i + n + size) as u8).collect())
            .collect();
        if push.token.is_some() && !push.plain {
            payloads.truncate(1);
        }
        let pairs = (0..push.headers).map(|n| (&b"name"[..usize::from(n)], &b"value"[..]));
        let headers = Headers::encode(pairs);
        let token = push.token.map(|token| [b't', token]);
        let producer = push.producer.map(|(name, from)| {
            let highest = self
                .model
                .producers
                .get(&[name][..])
                .map_or(0, |p| p.highest);
            ([name], highest.saturating_add_signed(1 + from).max(1))
        });
        let options = Options {
            front: push.front,
            delay: push.delay,
            ttl: push.ttl,
            retries: push.retries,
            priority: push.priority,
            headers: Headers::new(&headers),
            token: token.as_ref().map(|token| &token[..]),
            unique: push.unique,
            producer: producer.as_ref().map(|(name, number)| (&name[..], *number)),
            new: push.new,
            leaving: (0, 0),
        };
        let options = (!push.plain).then_some(&options);
        let defaults = self.setting.defaults;
        let moment = self.moment(&defaults);
        let elements = payloads.iter().map(Vec::as_slice);
        let found = self.queue.push(&moment, options, elements, head);
        let expected = self.model.push(self.now, options, &payloads);
        match (found, expected) {
            (Ok(produced), Ok(expected)) => {
                assert_eq!(produced.ids().collect::<Vec<_>>(), expected);
                assert_eq!(produced.count(), payloads.len() as u64);
                let stored = produced.pushed.map_or(0, |pushed| pushed.count as usize);
                payloads.split_off(payloads.len() - stored)
            }
            (Err(Error::Capped(..)), Err(Error::Capped(..))) => Vec::new(),
            (found, expected) => {
                assert_eq!(found.unwrap_err(), expected.unwrap_err());
                Vec::new()
            }
        }
    }

    fn deliver(&mut self, operation: &Operation, head: &mut Vec<u8>) {
        let defaults = self.setting.defaults;
        let (moment, mut rows) = (self.moment(&defaults), Vec::new());
        let visit = |delivery: Delivery<'_>| rows.push(row(delivery));
        let (done, expected) = match operation {
            Operation::Pop(pop) => {
                let pop = rq_core::Pop {
                    count: pop.count,
                    lease: self.lease(pop.lease),
                    consumer: CONSUMERS[usize::from(pop.consumer)],
                    no_ack: pop.no_ack,
                    prefetch: pop.prefetch,
                    max_bytes: pop.max_bytes,
                };
                let (most, exact) = (
                    self.queue.available(&moment, &pop),
                    self.queue.is_exact(&pop),
                );
                let done = self.queue.pop(&moment, &pop, head, visit);
                assert!(if exact { done == most } else { done <= most });
                assert_eq!(done == 0, most == 0);
                (done, self.model.pop(self.now, &pop))
            }
            Operation::Claim {
                consumer,
                idle,
                lease,
                picks,
            } => {
                let how = (CONSUMERS[usize::from(*consumer)], *idle, self.lease(*lease));
                let receipts = self.model.receipts(picks);
                let all = receipts.iter().copied();
                let done = self.queue.claim(&moment, how, all, head, visit);
                (done, self.model.claim(self.now, how, &receipts))
            }
            Operation::Recover {
                count,
                elapsed,
                lease,
                consumer,
                from,
            } => {
                let recover = Recover {
                    count: *count,
                    elapsed: *elapsed,
                    lease: self.lease(*lease),
                    consumer: CONSUMERS[usize::from(*consumer)],
                    from: from
                        .filter(|&from| from > 0)
                        .map(|from| CONSUMERS[usize::from(from)]),
                };
                let done = self.queue.recover(&moment, &recover, head, visit);
                (done, self.model.recover(self.now, &recover))
            }
            _ => unreachable!(),
        };
        assert_eq!(rows, expected);
        assert_eq!(done, expected.len() as u64);
    }

    fn settle(&mut self, operation: &Operation, head: &mut Vec<u8>) {
        let (mut done, mut told) = (Vec::new(), Vec::new());
        let (now, receipts) = (self.now, self.named(operation));
        let all = receipts.iter().copied();
        let tell = |settled: Settled| told.push(settled);
        let expected = match operation {
            Operation::Nack(nack, _) => {
                let how = rq_core::Nack {
                    delay: nack.delay,
                    dead: nack.dead,
                    reason: if nack.reason { b"because" } else { b"" },
                    silent: nack.silent,
                };
                let defaults = self.setting.defaults;
                let moment = self.moment(&defaults);
                self.queue.nack(&moment, &how, all, head, |id, settled| {
                    done.extend((settled == Settled::Done).then_some(id));
                    told.push(settled);
                });
                self.model.nack(now, nack, &receipts)
            }
            Operation::Extend(milliseconds, start, _) => {
                let how = (*milliseconds, *start);
                self.queue.extend(now, how, all, &mut done, head, tell);
                self.model.extend(now, how, &receipts)
            }
            Operation::Delete(_) | Operation::DeleteFirst(_) => {
                self.queue.delete(now, all, &mut done, head);
                (Vec::new(), self.model.delete(now, &receipts))
            }
            _ => {
                let held = self.queue.ensure_held(&receipts).is_ok();
                self.queue.acknowledge(now, all, &mut done, head, tell);
                let expected = self.model.acknowledge(now, &receipts);
                assert_eq!(held, expected.1.len() == receipts.len());
                expected
            }
        };
        assert_eq!((told, done), expected);
    }

    /// The messages that an operation names.
    fn named(&self, operation: &Operation) -> Vec<Receipt> {
        let first = |ids: Vec<Id>, count: usize| ids.into_iter().take(count).map(Into::into);
        match operation {
            Operation::Nack(_, picks)
            | Operation::Extend(_, _, picks)
            | Operation::Delete(picks)
            | Operation::Acknowledge(picks) => self.model.receipts(picks),
            Operation::DeleteFirst(count) => {
                first(self.model.messages.keys().copied().collect(), *count).collect()
            }
            Operation::AcknowledgeFirst(count) => first(self.model.delivered(), *count).collect(),
            _ => unreachable!(),
        }
    }

    fn manage(&mut self, operation: &Operation, head: &mut Vec<u8>) {
        let now = self.now;
        match operation {
            Operation::Setup(change) => {
                self.queue.setup(change, head);
                self.model.policy = change.applied(&self.model.policy);
            }
            Operation::Pause(push, pop, paused) => {
                let which = rq_core::Paused {
                    push: *push,
                    pop: *pop,
                };
                self.queue.pause(which, *paused, head);
                self.model.pause(*push, *pop, *paused);
            }
            Operation::Redrive(picks, count) => {
                let receipts = picks.as_ref().map(|picks| self.model.receipts(picks));
                let mut done = Vec::new();
                self.queue
                    .redrive(now, receipts.as_deref(), *count, &mut done, head);
                assert_eq!(done, self.model.redrive(now, receipts.as_deref(), *count));
            }
            Operation::Flush(dead) => {
                let count = self.queue.flush(now, *dead, head);
                assert_eq!(count, self.model.flush(now, *dead));
            }
            Operation::DeleteConsumer(consumer) => {
                let name = CONSUMERS[usize::from(*consumer)];
                let count = self.queue.delete_consumer(now, name, head);
                assert_eq!(count, self.model.delete_consumer(now, name));
            }
            Operation::Seen(consumer) if self.setting.keeper.is_none() => {
                let name = CONSUMERS[usize::from(*consumer)];
                self.queue.seen(now, name);
                self.model
                    .seen
                    .entry(name.to_vec())
                    .and_modify(|seen| *seen = now);
            }
            _ => {}
        }
    }
}
