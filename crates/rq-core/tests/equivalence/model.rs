//! A queue as a plain map of messages, each of which says where it stands. Every order is a sort.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rq_core::{Counters, Error, Headers, Id, Options, Paused, Policy};

/// Times are below this.
pub(crate) const TIME_END: u64 = Id::MILLISECONDS_END;

#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) id: Id,
    pub(crate) payload: Vec<u8>,
    pub(crate) priority: u8,
    pub(crate) expiry: u64,
    /// The time to live runs still.
    pub(crate) mortal: bool,
    pub(crate) retries: Option<u32>,
    pub(crate) token: Option<Vec<u8>>,
    pub(crate) headers: Vec<u8>,
    pub(crate) deliveries: u32,
    pub(crate) failures: u32,
    pub(crate) last_delivery: u64,
    pub(crate) place: Place,
}

#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// Until then.
    Scheduled(u64),
    Waiting(Turn),
    Delivered(Holding),
    Dead(Death),
}

/// Who comes first within a priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Turn {
    Returned(Id),
    /// The number of the push, and of the element in it.
    Front(Reverse<u64>, usize),
    Line(u64),
}

#[derive(Debug, Clone)]
pub(crate) struct Holding {
    pub(crate) lease: u64,
    pub(crate) deadline: u64,
    pub(crate) consumer: Vec<u8>,
    pub(crate) begun: bool,
    /// Grows with each delivery.
    pub(crate) number: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Death {
    pub(crate) died: u64,
    pub(crate) reason: Vec<u8>,
    pub(crate) consumer: Vec<u8>,
    /// Grows with each death.
    pub(crate) number: u64,
}

/// What a delivery shows: ID, payload, deliveries, failures, time, deadline, consumer.
pub(crate) type Row = (Id, Vec<u8>, u32, u32, u64, u64, Vec<u8>);

#[derive(Debug, Clone, Default)]
pub(crate) struct Producer {
    pub(crate) highest: u64,
    /// IDs of the latest push.
    pub(crate) latest: Vec<Id>,
    pub(crate) time: u64,
}

/// Why a delivery came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    Lease,
    Nack,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    pub(crate) messages: BTreeMap<Id, Message>,
    /// Every ID that was given.
    pub(crate) given: Vec<Id>,
    pub(crate) last: Id,
    pub(crate) clock: u64,
    /// While the queue's time is ahead: it, and the caller's.
    pub(crate) ahead: Option<(u64, u64)>,
    pub(crate) counters: Counters,
    pub(crate) policy: Policy,
    pub(crate) defaults: Policy,
    pub(crate) paused: Paused,
    pub(crate) producers: BTreeMap<Vec<u8>, Producer>,
    /// Tokens, and when their messages left.
    pub(crate) tokens: BTreeMap<Vec<u8>, (Id, Option<u64>)>,
    pub(crate) seen: BTreeMap<Vec<u8>, u64>,
    /// Grows with each use.
    pub(crate) number: u64,
}

impl Message {
    pub(crate) fn holding(&self) -> Option<&Holding> {
        match &self.place {
            Place::Delivered(holding) => Some(holding),
            _ => None,
        }
    }

    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.place, Place::Dead(_))
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.payload.len() as u64 + Headers::new(&self.headers).bytes()
    }
}

impl Model {
    pub(crate) fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    // ---- time ----

    pub(crate) fn time(&self, now: u64) -> u64 {
        let own = match self.ahead {
            Some((queue, caller)) if now >= caller => {
                let passed = now - caller;
                queue + passed - passed / 100
            }
            _ => 0,
        };
        own.max(now).max(self.clock)
    }

    /// Notes whether the queue's time is ahead.
    pub(crate) fn note(&mut self, now: u64) -> u64 {
        let time = self.time(now);
        let anchored = self.ahead.is_some_and(|(queue, caller)| {
            now >= caller && queue + (now - caller) - (now - caller) / 100 == time
        });
        if time == now {
            self.ahead = None;
        } else if !anchored {
            self.ahead = Some((time, now));
        }
        time
    }

    // ---- orders ----

    fn sorted<K: Ord>(&self, key: impl Fn(&Message) -> Option<K>) -> Vec<Id> {
        let mut rows: Vec<(K, Id)> = self
            .messages
            .values()
            .filter_map(|m| Some((key(m)?, m.id)))
            .collect();
        rows.sort();
        rows.into_iter().map(|(_, id)| id).collect()
    }

    pub(crate) fn waiting(&self) -> Vec<Id> {
        self.sorted(|m| match m.place {
            Place::Waiting(turn) => Some((Reverse(m.priority), turn)),
            _ => None,
        })
    }

    /// Waiting messages in the order in which a cap drops them.
    fn dropped(&self) -> Vec<Id> {
        self.sorted(|m| match m.place {
            Place::Waiting(turn @ Turn::Line(_)) => Some((m.priority, 0, Ok(turn))),
            Place::Waiting(turn @ Turn::Front(..)) => Some((m.priority, 1, Err(Reverse(turn)))),
            Place::Waiting(turn @ Turn::Returned(_)) => Some((m.priority, 2, Ok(turn))),
            _ => None,
        })
    }

    pub(crate) fn delivered(&self) -> Vec<Id> {
        self.sorted(|m| m.holding().map(|h| (m.last_delivery, h.lease, h.number)))
    }

    pub(crate) fn held_by(&self, consumer: &[u8]) -> Vec<Id> {
        self.sorted(|m| {
            m.holding()
                .filter(|h| h.consumer == consumer)
                .map(|h| h.number)
        })
    }

    pub(crate) fn dead(&self) -> Vec<Id> {
        self.sorted(|m| match &m.place {
            Place::Dead(death) => Some(death.number),
            _ => None,
        })
    }

    pub(crate) fn scheduled(&self) -> Vec<Id> {
        self.sorted(|m| match m.place {
            Place::Scheduled(due) => Some(due),
            _ => None,
        })
    }

    pub(crate) fn alive(&self) -> impl Iterator<Item = &Message> {
        self.messages.values().filter(|m| !m.is_dead())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
            && self.producers.is_empty()
            && self.tokens.is_empty()
            && !self.policy.kept
            && self.paused == Paused::default()
    }

    // ---- pushing ----

    pub(crate) fn push(
        &mut self,
        now: u64,
        options: Option<&Options<'_>>,
        payloads: &[Vec<u8>],
    ) -> Result<Vec<Option<Id>>, Error> {
        if self.paused.push {
            return Err(Error::Paused);
        }
        let plain = Options::default();
        let options = options.unwrap_or(&plain);
        let mut ids = self.known(options, payloads.len() as u64)?;
        let repeated = ids.len();
        if repeated == payloads.len() {
            self.counters.duplicates += repeated as u64;
            return Ok(ids);
        }
        let fresh = &payloads[repeated..];
        let time = self.time(now);
        let known = options.token.and_then(|token| self.tokens.get(token));
        if let Some(&(id, _)) = known {
            if options.unique {
                return Err(Error::Duplicate(id));
            }
            self.clock = time;
            self.counters.duplicates += 1;
            self.remember_producer(options, 1, &[id], time);
            return Ok(vec![Some(id)]);
        }
        let dropped = self.make_room(options, fresh)?;
        let before = self.policy;
        let makes = self.messages.is_empty() && !self.policy.kept;
        if let Some((lease, deliveries)) = options.new.filter(|_| makes) {
            self.policy = Policy {
                lease: lease.min(TIME_END / 2),
                deliveries,
                ..Policy::NONE
            };
        }
        let sets = self.policy != before;
        let bare = Options {
            new: None,
            unique: false,
            ..*options
        };
        if format!("{bare:?}") != format!("{plain:?}") || sets || !dropped.is_empty() {
            self.clock = time;
        }
        self.counters.expired += dropped.len() as u64;
        dropped.iter().for_each(|&id| self.remove(id, time));
        self.counters.duplicates += repeated as u64;
        let new = self.store(now, time, options, fresh);
        self.remember_producer(options, (repeated + new.len()) as u64, &new, time);
        ids.extend(new.into_iter().map(Some));
        Ok(ids)
    }

    fn known(&self, options: &Options<'_>, count: u64) -> Result<Vec<Option<Id>>, Error> {
        let Some((name, sequence)) = options.producer else {
            return Ok(Vec::new());
        };
        let Some(producer) = self.producers.get(name) else {
            return Ok(Vec::new());
        };
        if sequence > producer.highest + 1 {
            return Err(Error::Gap(producer.highest));
        }
        let numbers = (sequence..sequence + count).filter(|&number| number <= producer.highest);
        let first = producer.highest + 1 - producer.latest.len() as u64;
        Ok(numbers
            .map(|number| Some(producer.latest[number.checked_sub(first)? as usize]))
            .collect())
    }

    fn remember_producer(&mut self, options: &Options<'_>, count: u64, new: &[Id], time: u64) {
        if let Some((name, sequence)) = options.producer.filter(|_| self.policy.dedup > 0) {
            let producer = Producer {
                highest: sequence + count - 1,
                latest: new.to_vec(),
                time,
            };
            self.producers.insert(name.to_vec(), producer);
        }
    }

    /// What must go so that these fit under the caps.
    fn make_room(&self, options: &Options<'_>, fresh: &[Vec<u8>]) -> Result<Vec<Id>, Error> {
        let policy = self.policy.over(&self.defaults);
        let headers = options.headers.bytes() * fresh.len() as u64;
        let more = fresh.iter().map(|p| p.len() as u64).sum::<u64>() + headers;
        let fits = |length: u64, bytes: u64| {
            let most = |cap: u64| if cap == 0 { u64::MAX } else { cap };
            length + fresh.len() as u64 <= most(policy.max_length)
                && bytes + more <= most(policy.max_bytes)
        };
        let mut length = self.alive().count() as u64;
        let mut bytes = self.alive().map(Message::bytes).sum::<u64>();
        let (mut gone, mut next) = (Vec::new(), Vec::new());
        if policy.drops {
            next = self.dropped();
            next.reverse();
        }
        while !fits(length, bytes) {
            let Some(id) = next.pop().filter(|_| fits(0, 0)) else {
                return Err(Error::Capped("", 0));
            };
            length -= 1;
            bytes -= self.messages[&id].bytes();
            gone.push(id);
        }
        Ok(gone)
    }

    fn store(
        &mut self,
        now: u64,
        time: u64,
        options: &Options<'_>,
        payloads: &[Vec<u8>],
    ) -> Vec<Id> {
        let due = time.saturating_add(options.delay).min(TIME_END - 1);
        let push = self.next_number();
        let mut ids = Vec::new();
        for (n, payload) in payloads.iter().enumerate() {
            self.last = if n == 0 && now > self.last.milliseconds {
                Id::new(now, 1)
            } else {
                Id::new(self.last.milliseconds, self.last.sequence + 1)
            };
            let place = if options.delay > 0 {
                Place::Scheduled(due)
            } else if options.front {
                Place::Waiting(Turn::Front(Reverse(push), n))
            } else {
                Place::Waiting(Turn::Line(self.next_number()))
            };
            let expiry = match options.ttl {
                0 => 0,
                ttl => due.saturating_add(ttl).min(TIME_END - 1),
            };
            let headers = Headers::encode(options.headers.iter().collect::<Vec<_>>().into_iter());
            let message = Message {
                id: self.last,
                payload: payload.clone(),
                priority: options.priority,
                expiry,
                mortal: expiry > 0,
                retries: options.retries,
                token: options.token.map(<[u8]>::to_vec),
                headers,
                deliveries: 0,
                failures: 0,
                last_delivery: 0,
                place,
            };
            if let Some(token) = options.token {
                self.tokens.insert(token.to_vec(), (self.last, None));
            }
            self.messages.insert(self.last, message);
            ids.push(self.last);
        }
        self.counters.sent += ids.len() as u64;
        self.given.extend(&ids);
        ids
    }

    /// Lets go of a message, and remembers its token.
    pub(crate) fn remove(&mut self, id: Id, time: u64) {
        let message = self.messages.remove(&id);
        if let Some(token) = message.and_then(|message| message.token) {
            if self.policy.dedup == 0 {
                self.tokens.remove(&token);
            } else {
                self.tokens.insert(token, (id, Some(time)));
            }
        }
    }

    /// Consumers that hold nothing are gone; called after each operation.
    pub(crate) fn forget_consumers(&mut self) {
        let (messages, seen) = (&self.messages, &mut self.seen);
        seen.retain(|name, _| {
            let mut held = messages.values().filter_map(Message::holding);
            held.any(|holding| holding.consumer == *name)
        });
    }
}
