//! Consumers by name, and what each holds.
//!
//! A consumer exists as long as it holds something: a list through the records, in the order of delivery to it. When it was
//! last seen is known to this process alone; it is neither an effect nor in a snapshot.
//!
//! Invariants: a consumer's list has `pending` records, each of which names it; names and numbers agree.

use std::collections::BTreeMap;

use crate::invariants::ensure;
use crate::record::{HELD, Holding, NIL, Records};

#[derive(Debug, Clone)]
struct Consumer {
    name: Box<[u8]>,
    head: u32,
    tail: u32,
    pending: u64,
    last_seen: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Consumers {
    by_number: Vec<Option<Consumer>>,
    by_name: BTreeMap<Box<[u8]>, u32>,
    /// Messages that have a consumer.
    held: u64,
}

impl Consumers {
    pub(crate) fn len(&self) -> u64 {
        self.by_name.len() as u64
    }

    /// Messages that have a consumer.
    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    pub(crate) fn heap(&self) -> usize {
        let names: usize = self.by_name.keys().map(|name| 2 * name.len() + 64).sum();
        names + self.by_number.capacity() * size_of::<Option<Consumer>>()
    }

    /// How many messages a consumer holds.
    pub(crate) fn pending(&self, name: &[u8]) -> u64 {
        self.get(name).map_or(0, |consumer| consumer.pending)
    }

    fn get(&self, name: &[u8]) -> Option<&Consumer> {
        let number = *self.by_name.get(name)? as usize;
        self.by_number.get(number)?.as_ref()
    }

    fn get_mut(&mut self, number: u32) -> Option<&mut Consumer> {
        self.by_number.get_mut(number as usize)?.as_mut()
    }

    /// Name, number of messages, and when it was last seen, of each.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], u64, u64)> {
        let all = self.by_name.keys().filter_map(|name| self.get(name));
        all.map(|consumer| (&*consumer.name, consumer.pending, consumer.last_seen))
    }

    /// A consumer was seen, where it is known.
    pub(crate) fn seen(&mut self, name: &[u8], now: u64) {
        if let Some(&number) = self.by_name.get(name)
            && let Some(consumer) = self.get_mut(number)
        {
            consumer.last_seen = consumer.last_seen.max(now);
        }
    }

    fn number(&mut self, name: &[u8]) -> u32 {
        if let Some(&number) = self.by_name.get(name) {
            return number;
        }
        let vacant = self.by_number.iter().position(Option::is_none);
        let at = vacant.unwrap_or(self.by_number.len());
        if vacant.is_none() {
            self.by_number.push(None);
        }
        self.by_number[at] = Some(Consumer {
            name: name.into(),
            head: NIL,
            tail: NIL,
            pending: 0,
            last_seen: 0,
        });
        self.by_name.insert(name.into(), at as u32);
        at as u32
    }

    /// A message was delivered to a consumer.
    pub(crate) fn take(&mut self, records: &mut Records, number: u32, name: &[u8], now: u64) {
        let consumer_number = self.number(name);
        self.held += 1;
        let Some(consumer) = self.get_mut(consumer_number) else {
            return;
        };
        let previous = consumer.tail;
        (consumer.tail, consumer.pending) = (number, consumer.pending + 1);
        consumer.last_seen = consumer.last_seen.max(now);
        if previous == NIL {
            consumer.head = number;
        } else {
            let before = records.holding(previous);
            records.set_holding(
                previous,
                Holding {
                    next: number,
                    ..before
                },
            );
        }
        records.set_holding(
            number,
            Holding {
                consumer: consumer_number,
                previous,
                next: NIL,
            },
        );
        if let Some(record) = records.get_mut(number) {
            record.set(HELD, true);
        }
    }

    /// A message is no longer held by whoever holds it.
    pub(crate) fn release(&mut self, records: &mut Records, number: u32) {
        let Some(record) = records.get_mut(number).filter(|record| record.has(HELD)) else {
            return;
        };
        record.set(HELD, false);
        let holding = records.holding(number);
        self.relink(records, &holding, holding.next, holding.previous);
        self.held -= 1;
        let mut gone = None;
        if let Some(consumer) = self.get_mut(holding.consumer) {
            consumer.pending -= 1;
            if consumer.pending == 0 {
                gone = Some(consumer.name.clone());
            }
        }
        if let Some(name) = gone {
            self.by_name.remove(&name);
            self.by_number[holding.consumer as usize] = None;
        }
    }

    /// Has the neighbours of a holding know others: the one before it `next`, the one behind it `previous`.
    fn relink(&mut self, records: &mut Records, holding: &Holding, next: u32, previous: u32) {
        if holding.previous == NIL {
            if let Some(consumer) = self.get_mut(holding.consumer) {
                consumer.head = next;
            }
        } else {
            let before = records.holding(holding.previous);
            records.set_holding(holding.previous, Holding { next, ..before });
        }
        if holding.next == NIL {
            if let Some(consumer) = self.get_mut(holding.consumer) {
                consumer.tail = previous;
            }
        } else {
            let behind = records.holding(holding.next);
            records.set_holding(holding.next, Holding { previous, ..behind });
        }
    }

    /// A held record has another number.
    pub(crate) fn renumber(&mut self, records: &mut Records, to: u32) {
        let holding = records.holding(to);
        self.relink(records, &holding, to, to);
    }

    /// The name of whoever holds the message of a record; empty for nobody by name.
    pub(crate) fn holder(&self, records: &Records, number: u32) -> &[u8] {
        if !records.get(number).is_some_and(|record| record.has(HELD)) {
            return &[];
        }
        let holding = records.holding(number);
        match self.by_number.get(holding.consumer as usize) {
            Some(Some(consumer)) => &consumer.name,
            _ => &[],
        }
    }

    /// Records of what a consumer holds, in the order of delivery.
    pub(crate) fn records<'a>(
        &self,
        records: &'a Records,
        name: &[u8],
    ) -> impl Iterator<Item = u32> + use<'a> {
        let exists = |number: u32| (number != NIL).then_some(number);
        let first = self.get(name).and_then(|consumer| exists(consumer.head));
        std::iter::successors(first, move |&number| exists(records.holding(number).next))
    }

    /// What must hold between two operations; see the head of this file.
    pub(crate) fn check(&self, records: &Records) -> Result<(), String> {
        let mut held = 0;
        for (name, &number) in &self.by_name {
            let consumer = self.get(name).ok_or("a consumer is missing")?;
            ensure(
                consumer.name == *name && consumer.pending > 0,
                "a consumer is another",
            )?;
            let mut count = 0;
            for record in self.records(records, name) {
                count += 1;
                ensure(count <= consumer.pending, "a consumer's list does not end")?;
                ensure(
                    records.holding(record).consumer == number,
                    "another consumer holds it",
                )?;
                ensure(
                    records.get(record).is_some_and(|r| r.has(HELD)),
                    "a holding is not marked",
                )?;
            }
            ensure(count == consumer.pending, "a consumer's list is short")?;
            held += count;
        }
        ensure(held == self.held, "holdings do not add up")
    }
}
