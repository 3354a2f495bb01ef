//! What must hold between two operations.

use crate::queue::Queue;

/// An error that says what does not hold.
pub(crate) fn ensure(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

impl Queue {
    /// Walks the whole queue and checks that everything adds up. For tests: linear in its size.
    ///
    /// # Errors
    /// The first thing that does not hold.
    pub fn check(&self) -> Result<(), String> {
        self.store.check()?;
        self.group.check(&self.store)?;
        self.producers.check()?;
        let last = self.store.messages().last();
        let below = last.is_none_or(|message| message.id <= self.last_id);
        ensure(below, "a message above the last ID made")
    }
}
