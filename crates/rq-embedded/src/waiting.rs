//! Those who wait for messages: threads of this process, and the endpoint for others.

use std::collections::HashMap;
use std::sync::{Arc, Condvar};

/// What wakes the endpoint, from any thread.
pub(crate) type Waker = Box<dyn Fn() + Send>;

/// A bell for each queue that somebody waits for. The queue itself need not exist.
#[derive(Default)]
pub(crate) struct Bells {
    by_name: HashMap<Box<[u8]>, Bell>,
    /// Queues that were rung for the endpoint since it looked.
    rung: Vec<Box<[u8]>>,
    waker: Option<Waker>,
}

#[derive(Default)]
struct Bell {
    condition: Arc<Condvar>,
    threads: u64,
    /// Clients of the endpoint that wait.
    clients: u64,
}

impl Bells {
    /// Wakes as many threads as there are new messages, and the endpoint if a client of it waits:
    /// whoever comes first takes them, the others wait on.
    pub(crate) fn ring(&mut self, name: &[u8], messages: u64) {
        if self.by_name.is_empty() {
            return;
        }
        let Some(bell) = self.by_name.get(name).filter(|_| messages > 0) else {
            return;
        };
        for _ in 0..messages.min(bell.threads) {
            bell.condition.notify_one();
        }
        if bell.clients > 0 {
            self.rung.push(name.into());
            self.wake();
        }
    }

    /// Wakes all, so that they look whether they were closed.
    pub(crate) fn ring_all(&mut self) {
        for bell in self.by_name.values() {
            bell.condition.notify_all();
        }
        self.wake();
    }

    /// The queues that somebody waits for.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.by_name.keys().map(|name| &**name)
    }

    /// How many threads and clients wait for a queue.
    pub(crate) fn waiting(&self, name: &[u8]) -> u64 {
        let bell = self.by_name.get(name);
        bell.map_or(0, |bell| bell.threads + bell.clients)
    }

    fn wake(&self) {
        if let Some(wake) = &self.waker {
            wake();
        }
    }

    // ---- threads ----

    /// Enters a thread that is about to wait; what it waits on.
    pub(crate) fn join(&mut self, name: &[u8]) -> Arc<Condvar> {
        let bell = self.by_name.entry(name.into()).or_default();
        bell.threads += 1;
        Arc::clone(&bell.condition)
    }

    pub(crate) fn leave(&mut self, name: &[u8]) {
        self.change(name, |bell| bell.threads = bell.threads.saturating_sub(1));
    }

    // ---- the endpoint ----

    /// Has the endpoint woken by this from now on.
    pub(crate) fn set_waker(&mut self, waker: Option<Waker>) {
        self.waker = waker;
    }

    /// A client of the endpoint begins to wait.
    pub(crate) fn listen(&mut self, name: &[u8]) {
        self.by_name.entry(name.into()).or_default().clients += 1;
    }

    /// A client of the endpoint waits no more.
    pub(crate) fn unlisten(&mut self, name: &[u8]) {
        self.change(name, |bell| bell.clients = bell.clients.saturating_sub(1));
    }

    /// The queues that were rung since the last call.
    pub(crate) fn take_rung(&mut self) -> Vec<Box<[u8]>> {
        std::mem::take(&mut self.rung)
    }

    fn change(&mut self, name: &[u8], change: impl FnOnce(&mut Bell)) {
        if let Some(bell) = self.by_name.get_mut(name) {
            change(bell);
            if bell.threads == 0 && bell.clients == 0 {
                self.by_name.remove(name);
            }
        }
    }
}
