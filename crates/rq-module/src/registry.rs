//! Which keys hold queues, and which connections attend to them, so that listing queues needs no look at all other
//! keys.
//!
//! The server does not tell where a value is or goes. So keys of queues are noted as hints, which
//! are checked when they are used: when a queue is made, loaded, copied, renamed or moved, and when a
//! command opens it that is not marked as noted ([`Value`](crate::datatype::Value)). They are forgotten when the
//! server takes the value out of its key, or empties a database.
//!
//! Connections attend to keys by waiting for them ([`Wait`]), or by being registered (`registering`). They make no key.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::c_int;

use crate::state::STATE;

type Name = Box<[u8]>;

/// How a connection attends to a key.
#[derive(Default)]
struct Attendance {
    waits: u64,
    registered: bool,
    /// The consumer for which it last asked.
    consumer: Name,
}

/// Both, by database.
#[derive(Default)]
pub(crate) struct Registry {
    queues: BTreeMap<c_int, HashSet<Name>>,
    /// Connections by their number, by key.
    attended: BTreeMap<c_int, HashMap<Name, HashMap<u64, Attendance>>>,
    /// What connections registered for: database and keys, in their order.
    registered: HashMap<u64, (c_int, Vec<Name>)>,
}

impl Registry {
    /// Changes how a connection attends to a key, and forgets it when it does not any more.
    fn attend(
        &mut self,
        database: c_int,
        name: &Name,
        client: u64,
        change: impl FnOnce(&mut Attendance),
    ) {
        let names = self.attended.entry(database).or_default();
        let clients = names.entry(name.clone()).or_default();
        let attendance = clients.entry(client).or_default();
        change(attendance);
        if attendance.waits == 0 && !attendance.registered {
            clients.remove(&client);
            if clients.is_empty() {
                names.remove(name);
            }
        }
    }
}

/// Does something with it. It is out of its place meanwhile, as `state` says.
fn with<T>(body: impl FnOnce(&mut Registry) -> T) -> T {
    let mut place = STATE.registry.take();
    let outcome = body(place.get_or_insert_default());
    STATE.registry.set(place);
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

/// Two databases have changed places. Whoever attends goes on in the database that it chose.
pub(crate) fn swap_databases(one: c_int, other: c_int) {
    with(|registry| {
        let queues = &mut registry.queues;
        let (first, second) = (queues.remove(&one), queues.remove(&other));
        queues.extend(first.map(|names| (other, names)));
        queues.extend(second.map(|names| (one, names)));
    });
}

/// The keys that were noted or are attended to, in their order.
pub(crate) fn names(database: c_int) -> Vec<Name> {
    let mut names: Vec<Name> = with(|registry| {
        let queues = registry.queues.get(&database).into_iter().flatten();
        let attended = (registry.attended.get(&database).into_iter()).flat_map(HashMap::keys);
        queues.chain(attended).cloned().collect()
    });
    names.sort_unstable();
    names.dedup();
    names
}

/// All keys that were noted, with their databases.
pub(crate) fn places() -> Vec<(c_int, Name)> {
    with(|registry| {
        let databases = registry.queues.iter();
        databases
            .flat_map(|(&database, names)| names.iter().map(move |name| (database, name.clone())))
            .collect()
    })
}

/// How many connections attend to a key, and how many of these consumers have none that does.
pub(crate) fn consumers<'a>(
    database: c_int,
    name: &[u8],
    holding: impl Iterator<Item = &'a [u8]>,
) -> u64 {
    with(|registry| {
        let clients = registry
            .attended
            .get(&database)
            .and_then(|names| names.get(name));
        let is_there = |consumer: &[u8]| {
            let mut all = clients.into_iter().flat_map(HashMap::values);
            all.any(|attendance| *attendance.consumer == *consumer)
        };
        let absent = holding.filter(|consumer| !is_there(consumer)).count();
        (clients.map_or(0, HashMap::len) + absent) as u64
    })
}

// ---- connections that are registered ----

/// A connection registers for keys, instead of those for which it did before.
pub(crate) fn register(client: u64, database: c_int, names: Vec<Name>) {
    with(|registry| {
        if let Some((database, names)) = registry.registered.remove(&client) {
            for name in &names {
                registry.attend(database, name, client, |attendance| {
                    attendance.registered = false
                });
            }
        }
        for name in &names {
            registry.attend(database, name, client, |attendance| {
                attendance.registered = true
            });
        }
        if !names.is_empty() {
            registry.registered.insert(client, (database, names));
        }
    });
}

/// The keys for which a connection is registered, in their order.
pub(crate) fn registered(client: u64) -> Option<(c_int, Vec<Name>)> {
    with(|registry| registry.registered.get(&client).cloned())
}

/// A registered connection asks for messages as a consumer.
pub(crate) fn asked(client: u64, database: c_int, name: &[u8], consumer: &[u8]) {
    with(|registry| {
        let names = registry.attended.get_mut(&database);
        let clients = names.and_then(|names| names.get_mut(name));
        if let Some(attendance) = clients.and_then(|clients| clients.get_mut(&client)) {
            attendance.consumer = consumer.into();
        }
    });
}

/// Whether any connection is registered.
pub(crate) fn has_registered() -> bool {
    with(|registry| !registry.registered.is_empty())
}

// ---- connections that wait ----

/// A connection that waits for keys, counted until it leaves or is dropped.
pub(crate) struct Wait {
    database: c_int,
    client: u64,
    names: Vec<Name>,
}

impl Wait {
    pub(crate) fn enter<'a>(
        database: c_int,
        client: u64,
        names: impl Iterator<Item = &'a [u8]>,
        consumer: &[u8],
    ) -> Self {
        let mut names: Vec<Name> = names.map(Box::from).collect();
        names.sort_unstable();
        names.dedup();
        with(|registry| {
            for name in &names {
                registry.attend(database, name, client, |attendance| {
                    attendance.waits += 1;
                    attendance.consumer = consumer.into();
                });
            }
        });
        Self {
            database,
            client,
            names,
        }
    }

    /// It waits no more.
    pub(crate) fn leave(&mut self) {
        let names = std::mem::take(&mut self.names);
        with(|registry| {
            for name in &names {
                registry.attend(self.database, name, self.client, |attendance| {
                    attendance.waits = attendance.waits.saturating_sub(1);
                });
            }
        });
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.leave();
    }
}
