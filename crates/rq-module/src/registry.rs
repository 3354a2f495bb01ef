//! Which keys hold queues, and which are waited for, so that listing them needs no look at all other
//! keys.
//!
//! The server does not tell where a value is or goes. So keys of queues are noted as hints, which
//! are checked when they are used: when a queue is made, loaded, copied, renamed or moved, and when a
//! command opens it that is not marked as noted ([`Value`](crate::datatype::Value)). They are forgotten when the
//! server takes the value out of its key, or empties a database.
//!
//! Connections that wait are counted by what they wait for ([`Wait`]). They make no key.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::c_int;

use crate::state::STATE;

type Name = Box<[u8]>;

/// Both, by database.
#[derive(Default)]
pub(crate) struct Registry {
    queues: BTreeMap<c_int, HashSet<Name>>,
    /// How many connections wait for a key, at least one.
    waited: BTreeMap<c_int, HashMap<Name, u64>>,
}

impl Registry {
    pub(crate) const fn new() -> Self {
        Self {
            queues: BTreeMap::new(),
            waited: BTreeMap::new(),
        }
    }
}

/// Does something with it. It is out of its place meanwhile, as `state` says.
fn with<T>(body: impl FnOnce(&mut Registry) -> T) -> T {
    let mut registry = STATE.registry.take();
    let outcome = body(&mut registry);
    STATE.registry.set(registry);
    outcome
}

// ---- queues ----

/// Notes a key that holds a queue.
#[cold]
pub(crate) fn note(database: c_int, name: &[u8]) {
    with(|registry| {
        let names = registry.queues.entry(database).or_default();
        names.insert(name.into());
    });
}

/// Forgets a key that holds none.
pub(crate) fn forget(database: c_int, name: &[u8]) {
    with(|registry| {
        if let Some(names) = registry.queues.get_mut(&database) {
            names.remove(name);
        }
    });
}

/// Forgets the keys of a database, or all.
pub(crate) fn forget_database(database: Option<c_int>) {
    with(|registry| match database {
        Some(database) => drop(registry.queues.remove(&database)),
        None => registry.queues.clear(),
    });
}

/// Two databases have changed places. Whoever waits goes on in the database that it chose.
pub(crate) fn swap_databases(one: c_int, other: c_int) {
    with(|registry| {
        let queues = &mut registry.queues;
        let (first, second) = (queues.remove(&one), queues.remove(&other));
        queues.extend(first.map(|names| (other, names)));
        queues.extend(second.map(|names| (one, names)));
    });
}

/// The keys that were noted or are waited for, in their order.
pub(crate) fn names(database: c_int) -> Vec<Name> {
    let mut names: Vec<Name> = with(|registry| {
        let queues = registry.queues.get(&database).into_iter().flatten();
        let waited = (registry.waited.get(&database).into_iter()).flat_map(HashMap::keys);
        queues.chain(waited).cloned().collect()
    });
    names.sort_unstable();
    names.dedup();
    names
}

// ---- connections that wait ----

/// How many connections wait for a key.
pub(crate) fn waiting(database: c_int, name: &[u8]) -> u64 {
    with(|registry| {
        let counts = registry.waited.get(&database);
        (counts.and_then(|counts| counts.get(name))).map_or(0, |count| *count)
    })
}

/// A connection that waits for keys, counted until it leaves or is dropped.
pub(crate) struct Wait {
    database: c_int,
    names: Vec<Name>,
}

impl Wait {
    pub(crate) fn enter<'a>(database: c_int, names: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut names: Vec<Name> = names.map(Box::from).collect();
        names.sort_unstable();
        names.dedup();
        with(|registry| {
            let counts = registry.waited.entry(database).or_default();
            for name in &names {
                *counts.entry(name.clone()).or_default() += 1;
            }
        });
        Self { database, names }
    }

    /// It waits no more.
    pub(crate) fn leave(&mut self) {
        let names = std::mem::take(&mut self.names);
        with(|registry| {
            let Some(counts) = registry.waited.get_mut(&self.database) else {
                return;
            };
            for name in names {
                match counts.get_mut(&name) {
                    Some(count) if *count > 1 => *count -= 1,
                    _ => drop(counts.remove(&name)),
                }
            }
        });
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.leave();
    }
}
