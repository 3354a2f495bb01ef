//! Clients that wait for messages, in the order of their arrival.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use crate::engine::State;

/// What a client waits for.
pub(super) struct Waiter {
    pub(super) client: usize,
    pub(super) keys: Vec<Box<[u8]>>,
    pub(super) count: u64,
    pub(super) with_meta: bool,
    /// None: for ever.
    pub(super) until: Option<Instant>,
}

/// All who wait. A number says who came first.
#[derive(Default)]
pub(super) struct Waiters {
    arrived: u64,
    by_arrival: BTreeMap<u64, Waiter>,
    by_client: HashMap<usize, u64>,
    by_key: HashMap<Box<[u8]>, BTreeSet<u64>>,
    by_time: BTreeSet<(Instant, u64)>,
}

impl Waiters {
    /// Enters one. The bells ring for it from now on.
    pub(super) fn enter(&mut self, state: &mut State, waiter: Waiter) {
        self.arrived += 1;
        let number = self.arrived;
        for key in &waiter.keys {
            // A key that was named twice is listened to once.
            if self.by_key.entry(key.clone()).or_default().insert(number) {
                state.bells.listen(key);
            }
        }
        if let Some(until) = waiter.until {
            self.by_time.insert((until, number));
        }
        self.by_client.insert(waiter.client, number);
        self.by_arrival.insert(number, waiter);
    }

    /// Takes out the one of a client, if it waits. Without a state, which is damaged then, no bell
    /// matters any more.
    pub(super) fn leave(&mut self, mut state: Option<&mut State>, client: usize) -> Option<Waiter> {
        let number = self.by_client.remove(&client)?;
        let waiter = self.by_arrival.remove(&number)?;
        for key in &waiter.keys {
            let Some(numbers) = self.by_key.get_mut(key) else {
                continue;
            };
            if numbers.remove(&number)
                && let Some(state) = &mut state
            {
                state.bells.unlisten(key);
            }
            if numbers.is_empty() {
                self.by_key.remove(key);
            }
        }
        if let Some(until) = waiter.until {
            self.by_time.remove(&(until, number));
        }
        Some(waiter)
    }

    /// Who has waited for a key the longest.
    pub(super) fn first(&self, key: &[u8]) -> Option<usize> {
        let number = self.by_key.get(key)?.first()?;
        Some(self.by_arrival.get(number)?.client)
    }

    /// When the first of them has waited long enough.
    pub(super) fn next_time_out(&self) -> Option<Instant> {
        Some(self.by_time.first()?.0)
    }

    /// Who has waited long enough.
    pub(super) fn timed_out(&self, now: Instant) -> Option<usize> {
        let (until, number) = self.by_time.first()?;
        let waiter = self.by_arrival.get(number)?;
        (*until <= now).then_some(waiter.client)
    }

    /// Anyone of them.
    pub(super) fn any(&self) -> Option<usize> {
        self.by_client.keys().next().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_client.is_empty()
    }

    pub(super) fn is_waiting(&self, client: usize) -> bool {
        self.by_client.contains_key(&client)
    }
}
