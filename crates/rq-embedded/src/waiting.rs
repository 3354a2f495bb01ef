//! Those who wait for messages: threads of this process, and the endpoint for others.

use std::collections::HashMap;
use std::sync::{Arc, Condvar};

/// What wakes the endpoint, from any thread.
pub(crate) type Waker = Box<dyn Fn() + Send>;

/// Somebody who waits for a queue, or is registered for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    /// A thread of this process that waits, by a number of its own.
    Thread(u64),
    /// A client of the endpoint.
    Client(usize),
}

/// A bell for each queue that somebody waits for, or is registered for. The queue itself need not exist.
#[derive(Default)]
pub(crate) struct Bells {
    by_name: HashMap<Box<[u8]>, Bell>,
    /// Queues that were rung for the endpoint since it looked.
    rung: Vec<Box<[u8]>>,
    waker: Option<Waker>,
    /// Threads that ever waited.
    threads: u64,
}

#[derive(Default)]
struct Bell {
    condition: Arc<Condvar>,
    threads: u64,
    /// Clients of the endpoint that wait.
    clients: u64,
    present: HashMap<Who, Presence>,
}

/// What is known of somebody at a bell.
#[derive(Default)]
struct Presence {
    /// A client may wait and be registered.
    times: u32,
    /// The name that it takes messages by; empty for none.
    consumer: Box<[u8]>,
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
        if messages >= bell.threads {
            bell.condition.notify_all();
        } else {
            (0..messages).for_each(|_| bell.condition.notify_one());
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

    /// The queues that somebody waits for, or is registered for.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.by_name.keys().map(|name| &**name)
    }

    /// How many wait for a queue, or are registered for it.
    pub(crate) fn present(&self, name: &[u8]) -> u64 {
        let bell = self.by_name.get(name);
        bell.map_or(0, |bell| bell.present.len() as u64)
    }

    /// Whether one of those takes messages by this name.
    pub(crate) fn has_consumer(&self, name: &[u8], consumer: &[u8]) -> bool {
        let bell = self.by_name.get(name);
        let is_it = |presence: &Presence| *presence.consumer == *consumer;
        bell.is_some_and(|bell| bell.present.values().any(is_it))
    }

    fn wake(&self) {
        if let Some(wake) = &self.waker {
            wake();
        }
    }

    // ---- threads ----

    /// Enters a thread that is about to wait; who it is, and what it waits on.
    pub(crate) fn join(&mut self, name: &[u8], consumer: &[u8]) -> (Who, Arc<Condvar>) {
        self.threads += 1;
        let who = Who::Thread(self.threads);
        let bell = self.by_name.entry(name.into()).or_default();
        bell.threads += 1;
        bell.enter(who, consumer);
        (who, Arc::clone(&bell.condition))
    }

    pub(crate) fn leave(&mut self, name: &[u8], who: Who) {
        self.change(name, |bell| {
            bell.threads = bell.threads.saturating_sub(1);
            bell.exit(who);
        });
    }

    // ---- the endpoint ----

    /// Has the endpoint woken by this from now on.
    pub(crate) fn set_waker(&mut self, waker: Option<Waker>) {
        self.waker = waker;
    }

    /// A client of the endpoint begins to wait.
    pub(crate) fn listen(&mut self, name: &[u8], client: usize, consumer: &[u8]) {
        let bell = self.by_name.entry(name.into()).or_default();
        bell.clients += 1;
        bell.enter(Who::Client(client), consumer);
    }

    /// A client of the endpoint waits no more.
    pub(crate) fn unlisten(&mut self, name: &[u8], client: usize) {
        self.change(name, |bell| {
            bell.clients = bell.clients.saturating_sub(1);
            bell.exit(Who::Client(client));
        });
    }

    /// A client of the endpoint is a consumer of a queue from now on.
    pub(crate) fn register(&mut self, name: &[u8], client: usize) {
        let bell = self.by_name.entry(name.into()).or_default();
        bell.enter(Who::Client(client), &[]);
    }

    /// It is no more.
    pub(crate) fn unregister(&mut self, name: &[u8], client: usize) {
        self.change(name, |bell| bell.exit(Who::Client(client)));
    }

    /// A client of the endpoint takes messages of a queue by a name.
    pub(crate) fn introduce(&mut self, name: &[u8], client: usize, consumer: &[u8]) {
        let bell = self.by_name.get_mut(name);
        let presence = bell.and_then(|bell| bell.present.get_mut(&Who::Client(client)));
        if let Some(presence) = presence.filter(|presence| *presence.consumer != *consumer) {
            presence.consumer = consumer.into();
        }
    }

    /// The queues that were rung since the last call.
    pub(crate) fn take_rung(&mut self) -> Vec<Box<[u8]>> {
        std::mem::take(&mut self.rung)
    }

    fn change(&mut self, name: &[u8], change: impl FnOnce(&mut Bell)) {
        if let Some(bell) = self.by_name.get_mut(name) {
            change(bell);
            if bell.present.is_empty() {
                self.by_name.remove(name);
            }
        }
    }
}

impl Bell {
    fn enter(&mut self, who: Who, consumer: &[u8]) {
        let presence = self.present.entry(who).or_default();
        presence.times += 1;
        if !consumer.is_empty() {
            presence.consumer = consumer.into();
        }
    }

    fn exit(&mut self, who: Who) {
        if let Some(presence) = self.present.get_mut(&who) {
            presence.times -= 1;
            if presence.times == 0 {
                self.present.remove(&who);
            }
        }
    }
}
