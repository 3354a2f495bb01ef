//! Numbers in effects: little-endian base 128, the shortest form only.

use crate::error::Error;

/// Appends a number.
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    if value < 1 << 7 {
        return out.push(value as u8);
    }
    if value < 1 << 56 {
        // Times and IDs: all groups at once, the room for them looked for once.
        let length = (u64::BITS - value.leading_zeros()).div_ceil(7) as usize;
        let further = (1 << (8 * (length - 1))) - 1;
        let bytes = spread(value) | 0x8080_8080_8080_8080 & further;
        let end = out.len() + length;
        out.extend_from_slice(&bytes.to_le_bytes());
        return out.truncate(end);
    }
    while value >= 1 << 7 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The eight groups of 7 bits of a number below 2^56, a byte each: halves, quarters and eighths move apart.
fn spread(value: u64) -> u64 {
    let value = value & 0x0fff_ffff | (value & 0x00ff_ffff_f000_0000) << 4;
    let value = value & 0x3fff_0000_3fff | (value & 0x0fff_c000_0fff_c000) << 2;
    value & 0x007f_007f_007f_007f | (value & 0x3f80_3f80_3f80_3f80) << 1
}

/// A difference between two numbers as a number: small for small differences either way.
pub(crate) fn difference(from: u64, to: u64) -> u64 {
    let delta = to.wrapping_sub(from) as i64;
    ((delta << 1) ^ (delta >> 63)) as u64
}

/// The number that lies `difference` away from `from`; the inverse of [`difference`].
pub(crate) fn advance(from: u64, difference: u64) -> u64 {
    let delta = (difference >> 1) as i64 ^ -((difference & 1) as i64);
    from.wrapping_add(delta as u64)
}

/// Reads what `put` wrote, and refuses everything else.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Error> {
        let (&first, rest) = self.bytes.split_first().ok_or(TRUNCATED)?;
        self.bytes = rest;
        Ok(first)
    }

    pub(crate) fn number(&mut self) -> Result<u64, Error> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte holds the last bit only.
            if shift == 63 && bits > 1 {
                return Err(Error::BadEffect("a number over 64 bits"));
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                if byte == 0 && shift > 0 {
                    return Err(Error::BadEffect(
                        "a number that is not in its shortest form",
                    ));
                }
                return Ok(value);
            }
        }
        Err(Error::BadEffect("a number over 64 bits"))
    }

    pub(crate) fn bytes(&mut self, length: u64) -> Result<&'a [u8], Error> {
        let length = usize::try_from(length).map_err(|_| TRUNCATED)?;
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(TRUNCATED)?;
        self.bytes = rest;
        Ok(taken)
    }

    /// The bytes between this and a later state of the same reader.
    pub(crate) fn until(&self, later: &Self) -> &'a [u8] {
        let length = self.bytes.len().saturating_sub(later.bytes.len());
        self.bytes.get(..length).unwrap_or_default()
    }

    /// How many bytes are left: no list in them can have more entries than that.
    pub(crate) fn left(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.bytes.is_empty() {
            Ok(())
        } else {
            Err(Error::BadEffect("bytes after its end"))
        }
    }
}

const TRUNCATED: Error = Error::BadEffect("it ends early");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_go_both_ways(values: Vec<u64>) {
            let mut out = Vec::new();
            values.iter().for_each(|&v| put(&mut out, v));
            let mut reader = Reader::new(&out);
            for &value in &values {
                prop_assert_eq!(reader.number(), Ok(value));
            }
            prop_assert_eq!(reader.end(), Ok(()));
        }

        #[test]
        fn differences_go_both_ways(from: u64, to: u64) {
            prop_assert_eq!(advance(from, difference(from, to)), to);
        }
    }

    #[test]
    fn small_differences_are_small() {
        assert_eq!(difference(10, 10), 0);
        assert_eq!(difference(10, 9), 1);
        assert_eq!(difference(10, 11), 2);
    }

    #[test]
    fn long_forms_and_overflow_are_refused() {
        for bytes in [&[0x80u8, 0x00][..], &[0xff; 10], &[0xff; 11], &[0x80]] {
            assert!(Reader::new(bytes).number().is_err(), "{bytes:?}");
        }
    }
}
