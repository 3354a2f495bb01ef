//! Arguments as requests.
//!
//! A request names its keys and payloads by their positions among the arguments: nothing is
//! copied, and where the keys are is known by the same code that executes.
//!
//! | file | holds |
//! |---|---|
//! | `words` | options, numbers and counted lists, which all requests are read with |
//! | `produce` | pushes |
//! | `consume` | pop, claim, recover, and who waits for what |
//! | `settle` | acknowledge, nack, extend, forward |
//! | `look` | what changes nothing |
//! | `manage` | settings, pauses, dead letters, consumers |

mod consume;
mod look;
mod manage;
mod produce;
mod settle;
mod words;

pub use consume::{Claim, Pop, Recover, claim, notify, pop, recover, register};
pub use look::{
    Get, Inspect, Peek, RangeOf, Which, Within, get, inspect, only_key, peek, range, split, status,
};
pub use manage::{
    ConsumerOf, Redrive, Sides, apply, consumer, delete, flush, redrive, setup, sides,
};
pub use produce::{Due, Push, PushExtended, push, push_extended};
pub use settle::{
    Acknowledge, Extend, Forward, Nack, acknowledge, extend, forward, negative_acknowledge,
};
pub use words::Named;

/// The words of a command, its name first.
pub trait Arguments {
    /// How many there are.
    fn len(&self) -> usize;

    /// One of them; empty beyond the end.
    fn get(&self, position: usize) -> &[u8];

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Arguments for [&[u8]] {
    fn len(&self) -> usize {
        <[&[u8]]>::len(self)
    }

    fn get(&self, position: usize) -> &[u8] {
        <[&[u8]]>::get(self, position).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
