//! What must hold between two operations.

use crate::queue::Queue;

impl Queue {
    /// Walks the whole queue and checks that everything adds up. For tests: linear in its size.
    ///
    /// # Errors
    /// The first thing that does not hold.
    pub fn check(&self) -> Result<(), String> {
        self.store.check()?;
        self.group.check(&self.store)?;
        let last = self.store.messages().last();
        if last.is_some_and(|message| message.id > self.last_id) {
            return Err("a message above the last ID made".to_owned());
        }
        Ok(())
    }
}
