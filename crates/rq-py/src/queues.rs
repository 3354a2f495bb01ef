//! Queues by name. Python is unknown here.

use std::collections::HashMap;

use rq_core::{Error, Id, Info, Pushed, Queue};

use crate::row::Rows;

/// The queues that hold something. One that holds nothing ceases to exist.
#[derive(Default)]
pub(crate) struct Queues {
    named: HashMap<Box<str>, Queue>,
    /// The largest ID given. A new queue starts above it, so that whoever holds an ID of a queue
    /// that was emptied cannot hit a message of the one that follows.
    floor: Id,
    /// What an operation changed, as the core tells it; these queues are kept nowhere, so that
    /// nobody reads it.
    effect: Vec<u8>,
}

impl Queues {
    /// Appends messages, all of them or none.
    pub(crate) fn push(&mut self, now: u64, name: &str, bodies: &[&[u8]]) -> Result<Pushed, Error> {
        let elements = bodies.iter().copied();
        let pushed = if let Some(queue) = self.named.get_mut(name) {
            queue.push(now, self.floor, elements, &mut self.effect)?
        } else {
            let mut queue = Queue::new(self.floor);
            let pushed = queue.push(now, self.floor, elements, &mut self.effect)?;
            if pushed.count > 0 {
                self.named.insert(name.into(), queue);
            }
            pushed
        };
        if pushed.raises {
            self.floor = pushed.last();
        }
        Ok(pushed)
    }

    /// How many messages wait.
    pub(crate) fn waiting(&self, name: &str) -> u64 {
        self.named.get(name).map_or(0, Queue::waiting)
    }

    /// Delivers up to `count` waiting messages.
    pub(crate) fn pop(&mut self, now: u64, name: &str, count: u64) -> Rows {
        let mut rows = Rows::default();
        if let Some(queue) = self.named.get_mut(name) {
            queue.pop(now, count, &mut self.effect, |message| {
                rows.add(message.id, message.payload, message.deliveries, now);
            });
        }
        rows
    }

    /// Delivers again up to `count` messages that were delivered at least `elapsed` milliseconds
    /// ago.
    pub(crate) fn recover(&mut self, now: u64, name: &str, count: u64, elapsed: u64) -> Rows {
        let mut rows = Rows::default();
        if let Some(queue) = self.named.get_mut(name) {
            queue.recover(now, count, elapsed, &mut self.effect, |message| {
                rows.add(message.id, message.payload, message.deliveries, now);
            });
        }
        rows
    }

    /// Lets go of delivered messages, and tells which of those named were such.
    pub(crate) fn acknowledge(&mut self, name: &str, ids: &[Id]) -> Vec<Id> {
        let mut acknowledged = Vec::new();
        if let Some(queue) = self.named.get_mut(name) {
            queue.acknowledge(ids.iter().copied(), &mut acknowledged, &mut self.effect);
            if queue.is_empty() {
                self.named.remove(name);
            }
        }
        acknowledged
    }

    /// Waiting messages from a position on.
    pub(crate) fn inspect_waiting(&self, name: &str, start: i64, count: u64) -> Rows {
        let mut rows = Rows::default();
        if let Some(queue) = self.named.get(name) {
            for message in queue.inspect_waiting(start, count) {
                rows.add(message.id, message.payload, 0, 0);
            }
        }
        rows
    }

    /// Delivered messages from a position on.
    pub(crate) fn inspect_pending(&self, now: u64, name: &str, start: i64, count: u64) -> Rows {
        let mut rows = Rows::default();
        if let Some(queue) = self.named.get(name) {
            for message in queue.inspect_pending(now, start, count) {
                let (deliveries, time) = (message.deliveries, message.last_delivery);
                rows.add(message.id, message.payload, deliveries, time);
            }
        }
        rows
    }

    /// Messages held.
    pub(crate) fn length(&self, name: &str) -> u64 {
        self.named.get(name).map_or(0, Queue::len)
    }

    /// The queue in numbers, if there is one.
    pub(crate) fn info(&self, now: u64, name: &str) -> Option<Info> {
        self.named.get(name).map(|queue| queue.info(now))
    }
}
