//! Clients that wait for messages, in the order of their arrival.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use rq_core::Pop;

use crate::state::State;

/// A client that waits.
pub(super) struct Waiter {
    pub(super) client: usize,
    pub(super) keys: Vec<Box<[u8]>>,
    pub(super) wish: Wish,
    /// None: for ever.
    pub(super) until: Option<Instant>,
}

/// What it waits for.
pub(super) enum Wish {
    /// Messages.
    Pop(Taking),
    /// To be told that there are some, for a consumer of this name.
    Notice(Box<[u8]>),
}

impl Wish {
    /// The name by which it takes messages.
    fn consumer(&self) -> &[u8] {
        match self {
            Wish::Pop(taking) => &taking.consumer,
            Wish::Notice(consumer) => consumer,
        }
    }

    /// A pop that gets something when the wish can be fulfilled.
    pub(super) fn pop(&self) -> Pop<'_> {
        match self {
            Wish::Pop(taking) => taking.pop(),
            Wish::Notice(consumer) => Pop {
                consumer,
                ..Pop::of(1)
            },
        }
    }
}

/// A pop, kept.
pub(super) struct Taking {
    pop: Pop<'static>,
    consumer: Box<[u8]>,
    pub(super) with_meta: bool,
}

impl Taking {
    pub(super) fn new(pop: &Pop<'_>, with_meta: bool) -> Self {
        Self {
            pop: Pop {
                count: pop.count,
                lease: pop.lease,
                consumer: &[],
                no_ack: pop.no_ack,
                prefetch: pop.prefetch,
                max_bytes: pop.max_bytes,
            },
            consumer: pop.consumer.into(),
            with_meta,
        }
    }

    pub(super) fn pop(&self) -> Pop<'_> {
        Pop {
            consumer: &self.consumer,
            ..self.pop
        }
    }
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
                state
                    .bells
                    .listen(key, waiter.client, waiter.wish.consumer());
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
                state.bells.unlisten(key, client);
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

    /// The one of a client, if it waits.
    pub(super) fn get(&self, client: usize) -> Option<&Waiter> {
        self.by_arrival.get(self.by_client.get(&client)?)
    }

    /// Who waits for a key and came first behind the one with this number.
    pub(super) fn behind(&self, key: &[u8], number: u64) -> Option<(u64, &Waiter)> {
        let mut numbers = self.by_key.get(key)?.range(number + 1..);
        let number = *numbers.next()?;
        Some((number, self.by_arrival.get(&number)?))
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
