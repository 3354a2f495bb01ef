//! Message IDs and their text.

use std::fmt;
use std::str::FromStr;

/// The ID of a message: the milliseconds of its push, and a sequence within them.
///
/// IDs of one queue always grow, in the order of pushing. The text is `milliseconds-sequence`,
/// both in decimal without leading zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Id {
    /// Unix time in milliseconds, below [`Id::MILLISECONDS_END`] in every ID that a queue makes.
    pub milliseconds: u64,
    /// Counts from 1 within a millisecond.
    pub sequence: u64,
}

/// A text that is no ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidId;

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid ID, expected milliseconds-sequence such as 1601155608777-1")
    }
}

impl std::error::Error for InvalidId {}

impl Id {
    /// Milliseconds of an ID stay below this: they are stored in 48 bits (until the year 10889).
    pub const MILLISECONDS_END: u64 = 1 << 48;

    /// The ID with these parts.
    #[must_use]
    pub const fn new(milliseconds: u64, sequence: u64) -> Self {
        Self {
            milliseconds,
            sequence,
        }
    }

    /// The first ID of `count` new ones at `now`, where this is the last one made; none when
    /// they can't be made.
    pub(crate) fn next(self, now: u64, count: u64) -> Option<Self> {
        let now = now.min(Self::MILLISECONDS_END - 1);
        let first = if now > self.milliseconds {
            Self::new(now, 1)
        } else {
            Self::new(self.milliseconds, self.sequence.checked_add(1)?)
        };
        first.sequence.checked_add(count.saturating_sub(1))?;
        Some(first)
    }

    /// The ID `n` further in the same millisecond. The caller knows that it exists.
    pub(crate) fn plus(self, n: u64) -> Self {
        Self::new(self.milliseconds, self.sequence.wrapping_add(n))
    }

    /// The ID behind this one.
    #[must_use]
    pub fn successor(self) -> Option<Self> {
        match self.sequence.checked_add(1) {
            Some(sequence) => Some(Self::new(self.milliseconds, sequence)),
            None => Some(Self::new(self.milliseconds.checked_add(1)?, 0)),
        }
    }

    /// The ID before this one.
    #[must_use]
    pub fn predecessor(self) -> Option<Self> {
        match self.sequence.checked_sub(1) {
            Some(sequence) => Some(Self::new(self.milliseconds, sequence)),
            None => Some(Self::new(self.milliseconds.checked_sub(1)?, u64::MAX)),
        }
    }

    /// Raises a floor by an ID that was just made at `now`: the largest ID known to have been
    /// given, so that a queue made anew starts above it. An ID from a time that neither the clock
    /// nor the floor has reached comes from a restored queue, and must not drag every other
    /// queue into its future.
    #[must_use]
    pub fn raises(self, floor: Id, now: u64) -> bool {
        self > floor && self.milliseconds <= now.max(floor.milliseconds)
    }

    /// Reads the text of an ID.
    ///
    /// # Errors
    /// [`InvalidId`] for anything but two decimal numbers of 64 bits with one `-` between.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidId> {
        let dash = text.iter().position(|&b| b == b'-').ok_or(InvalidId)?;
        let (left, right) = text.split_at(dash);
        let right = right.get(1..).ok_or(InvalidId)?;
        Ok(Self::new(number(left)?, number(right)?))
    }

    /// Reads the lower bound of a range: `-`, `+`, an ID, or `(` and an ID that is left out. None when no
    /// ID is above it.
    ///
    /// # Errors
    /// [`InvalidId`] for anything else.
    pub fn parse_lowest(text: &[u8]) -> Result<Option<Self>, InvalidId> {
        Self::parse_bound(text, Self::successor)
    }

    /// Reads the upper bound of a range, likewise. None when no ID is below it.
    ///
    /// # Errors
    /// [`InvalidId`] for anything else.
    pub fn parse_highest(text: &[u8]) -> Result<Option<Self>, InvalidId> {
        Self::parse_bound(text, Self::predecessor)
    }

    fn parse_bound(
        text: &[u8],
        beside: impl Fn(Self) -> Option<Self>,
    ) -> Result<Option<Self>, InvalidId> {
        match text {
            b"-" => Ok(Some(Self::default())),
            b"+" => Ok(Some(Self::new(u64::MAX, u64::MAX))),
            [b'(', id @ ..] => Ok(beside(Self::parse(id)?)),
            id => Ok(Some(Self::parse(id)?)),
        }
    }
}

/// A decimal number without sign or leading zeros.
fn number(digits: &[u8]) -> Result<u64, InvalidId> {
    if digits.is_empty() || digits.len() > 20 || (digits.len() > 1 && digits[0] == b'0') {
        return Err(InvalidId);
    }
    // 19 digits always fit: only a twentieth has to be checked.
    let (head, tail) = digits.split_at(digits.len().min(19));
    let mut value = 0u64;
    for &byte in head {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(InvalidId);
        }
        value = value * 10 + u64::from(digit);
    }
    for &byte in tail {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(InvalidId);
        }
        value = value
            .checked_mul(10)
            .and_then(|v| v.checked_add(u64::from(digit)))
            .ok_or(InvalidId)?;
    }
    Ok(value)
}

impl FromStr for Id {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        Self::parse(text.as_bytes())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.milliseconds, self.sequence)
    }
}

/// Writes IDs as text, one after the other, without allocating. The milliseconds of the last one
/// are kept: a batch shares them.
pub struct IdText {
    buffer: [u8; 41],
    milliseconds: u64,
    /// Length of `milliseconds-` in the buffer, 0 when there is none yet.
    prefix: usize,
}

impl Default for IdText {
    fn default() -> Self {
        Self {
            buffer: [0; 41],
            milliseconds: 0,
            prefix: 0,
        }
    }
}

impl IdText {
    /// The text of an ID, until the next call.
    pub fn of(&mut self, id: Id) -> &[u8] {
        let mut digits = itoa::Buffer::new();
        if self.prefix == 0 || self.milliseconds != id.milliseconds {
            self.milliseconds = id.milliseconds;
            self.prefix = self.put(0, digits.format(id.milliseconds).as_bytes());
            self.prefix = self.put(self.prefix, b"-");
        }
        let end = self.put(self.prefix, digits.format(id.sequence).as_bytes());
        &self.buffer[..end]
    }

    /// Copies into the buffer; 20 digits, a dash and 20 digits always fit.
    fn put(&mut self, at: usize, bytes: &[u8]) -> usize {
        let end = at + bytes.len();
        self.buffer[at..end].copy_from_slice(bytes);
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_both_ways() {
        for id in [
            Id::new(0, 0),
            Id::new(1601155608777, 1),
            Id::new(u64::MAX, u64::MAX),
        ] {
            let text = id.to_string();
            assert_eq!(Id::parse(text.as_bytes()), Ok(id));
            assert_eq!(IdText::default().of(id), text.as_bytes());
        }
    }

    #[test]
    fn text_writer_follows_a_change_of_milliseconds() {
        let mut text = IdText::default();
        for id in [
            Id::new(0, 7),
            Id::new(5, 10),
            Id::new(5, 1),
            Id::new(1234, u64::MAX),
        ] {
            assert_eq!(text.of(id), id.to_string().as_bytes());
        }
    }

    #[test]
    fn malformed_ids_are_refused() {
        for text in [
            "",
            "-",
            "1",
            "1-",
            "-1",
            "1-2-3",
            "a-1",
            "1-b",
            " 1-1",
            "1 -1",
            "+1-1",
            "01-1",
            "1-01",
            "18446744073709551616-1",
            "99999999999999999999-1",
            "1-18446744073709551616",
            "100000000000000000000-1",
            "1-1@2",
            "1/1",
            "1:1",
        ] {
            assert_eq!(Id::parse(text.as_bytes()), Err(InvalidId), "{text}");
        }
    }

    #[test]
    fn next_grows_when_the_clock_does_not() {
        let last = Id::new(100, 3);
        assert_eq!(last.next(101, 5), Some(Id::new(101, 1)));
        assert_eq!(last.next(100, 5), Some(Id::new(100, 4)));
        assert_eq!(last.next(0, 1), Some(Id::new(100, 4)));
        assert_eq!(Id::new(100, u64::MAX).next(100, 1), None);
        assert_eq!(
            Id::new(100, u64::MAX - 2).next(100, 2),
            Some(Id::new(100, u64::MAX - 1))
        );
        assert_eq!(Id::new(100, u64::MAX - 2).next(100, 3), None);
        assert_eq!(
            Id::new(100, 1).next(u64::MAX, 1),
            Some(Id::new(Id::MILLISECONDS_END - 1, 1))
        );
    }

    #[test]
    fn a_floor_follows_the_clock_but_not_a_restored_queue() {
        let floor = Id::new(100, 3);
        assert!(Id::new(100, 4).raises(floor, 90));
        assert!(Id::new(110, 1).raises(floor, 110));
        assert!(!Id::new(111, 1).raises(floor, 110));
        assert!(!Id::new(100, 3).raises(floor, 110));
    }
}
