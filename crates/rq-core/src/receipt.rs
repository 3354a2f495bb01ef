//! Which delivery of which message somebody means.

use crate::id::{Id, InvalidId};

/// A message by its ID, or strictly one delivery of it. The text is an ID, or `ID@n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Receipt {
    /// The message.
    pub id: Id,
    /// The number of the delivery, from 1 on; 0 for whichever it is.
    pub delivery: u32,
}

impl Receipt {
    /// Reads an ID or a receipt.
    ///
    /// # Errors
    /// [`InvalidId`] for anything but an ID, or an ID, `@` and a decimal number from 1 to 2^32 - 1.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidId> {
        if let Ok(id) = Id::parse(text) {
            return Ok(id.into());
        }
        let at = text
            .iter()
            .rposition(|&byte| byte == b'@')
            .ok_or(InvalidId)?;
        let (id, number) = text.split_at(at);
        let number = number.get(1..).unwrap_or_default();
        let shortest = matches!(number, [b'1'..=b'9', ..]) && number.iter().all(u8::is_ascii_digit);
        let delivery = std::str::from_utf8(number)
            .ok()
            .filter(|_| shortest)
            .and_then(|number| number.parse().ok())
            .ok_or(InvalidId)?;
        Ok(Self {
            id: Id::parse(id)?,
            delivery,
        })
    }

    /// Whether a message that was delivered so often is meant.
    #[must_use]
    pub fn is_of(&self, deliveries: u32) -> bool {
        self.delivery == 0 || self.delivery == deliveries
    }
}

impl From<Id> for Receipt {
    fn from(id: Id) -> Self {
        Self { id, delivery: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_are_read() {
        let id = Id::new(5, 1);
        assert_eq!(Receipt::parse(b"5-1"), Ok(id.into()));
        assert_eq!(Receipt::parse(b"5-1@3"), Ok(Receipt { id, delivery: 3 }));
        for text in [
            "5-1@",
            "5-1@0",
            "5-1@01",
            "5-1@-1",
            "5-1@4294967296",
            "5@1",
            "@1",
            "5-1@1@1",
            "5-1@ 1",
        ] {
            assert_eq!(Receipt::parse(text.as_bytes()), Err(InvalidId), "{text}");
        }
    }
}
