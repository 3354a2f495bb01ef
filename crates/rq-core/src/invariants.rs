//! What must hold between two operations.

use crate::outcome::State;
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
        self.tokens.check()?;
        let messages = || self.store.messages();
        let bytes: u64 = messages()
            .filter(|m| self.group.state(m) != State::Dead)
            .map(|m| m.bytes())
            .sum();
        ensure(bytes == self.bytes, "bytes of messages do not add up")?;
        let mut tokens = 0;
        for message in messages() {
            if let Some(token) = message.fields().token {
                tokens += 1;
                ensure(
                    self.by_token(token) == Some(message.id),
                    "a token is of another message",
                )?;
            }
        }
        let held = self
            .tokens
            .iter()
            .filter(|(_, _, time)| time.is_none())
            .count();
        ensure(held == tokens, "tokens do not add up")?;
        let last = self.store.messages().last();
        let below = last.is_none_or(|message| message.id <= self.last_id);
        ensure(below, "a message above the last ID made")
    }
}
