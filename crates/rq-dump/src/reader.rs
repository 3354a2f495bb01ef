//! The server's lengths and strings, read from bytes that nobody vouches for.

use std::borrow::Cow;

use crate::lzf;
use crate::refusal::Refusal;

/// First bytes of lengths that take 4 and 8 more.
pub(crate) const LENGTH_32: u8 = 0x80;
pub(crate) const LENGTH_64: u8 = 0x81;
/// What the two high bits of a first byte say.
const LENGTH_6: u8 = 0;
const LENGTH_14: u8 = 1;
const SPECIAL: u8 = 3;
/// Specials: the text of a number in 1, 2 or 4 bytes; a compressed string.
const NUMBERS: std::ops::RangeInclusive<u8> = 0..=2;
const COMPRESSED: u8 = 3;

/// Bytes, and how far they are read.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

/// A string as it is stored.
pub(crate) enum Text<'a> {
    Plain(&'a [u8]),
    /// `length` is within what the bytes can expand to.
    Compressed {
        bytes: &'a [u8],
        length: usize,
    },
}

impl<'a> Text<'a> {
    /// What was stored; none if it can't be expanded.
    pub(crate) fn bytes(&self) -> Option<Cow<'a, [u8]>> {
        match *self {
            Text::Plain(bytes) => Some(Cow::Borrowed(bytes)),
            Text::Compressed { bytes, length } => lzf::expand(bytes, length).map(Cow::Owned),
        }
    }
}

/// A length, or what stands in the place of one.
enum Length {
    Number(u64),
    Special(u8),
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    pub(crate) fn byte(&mut self, expected: &'static str) -> Result<u8, Refusal> {
        let [byte] = self.array(expected)?;
        Ok(byte)
    }

    /// A length that stands for a number.
    pub(crate) fn number(&mut self, expected: &'static str) -> Result<u64, Refusal> {
        let offset = self.offset;
        match self.length(expected)? {
            Length::Number(number) => Ok(number),
            Length::Special(_) => Err(Refusal::Damaged {
                offset,
                why: "a special string in the place of a number",
            }),
        }
    }

    pub(crate) fn text(&mut self) -> Result<Text<'a>, Refusal> {
        const EXPECTED: &str = "a string";
        let offset = self.offset;
        let damaged = |why| Refusal::Damaged { offset, why };
        match self.length(EXPECTED)? {
            Length::Number(length) => self.take(length, EXPECTED).map(Text::Plain),
            Length::Special(COMPRESSED) => self.compressed(),
            // Parts of a snapshot begin with a version, which is no digit and no sign.
            Length::Special(kind) if NUMBERS.contains(&kind) => Err(damaged(
                "the text of a number in the place of a snapshot's part",
            )),
            Length::Special(_) => Err(damaged("a kind of string that is not known here")),
        }
    }

    fn compressed(&mut self) -> Result<Text<'a>, Refusal> {
        let stored = self.number("the length of a compressed string")?;
        let offset = self.offset;
        let length = self.number("the length of the string when expanded")?;
        let bytes = self.take(stored, "a compressed string")?;
        match usize::try_from(length) {
            Ok(length) if length <= lzf::most(bytes.len()) => {
                Ok(Text::Compressed { bytes, length })
            }
            _ => Err(Refusal::Damaged {
                offset,
                why: "a length that the compressed string can't expand to",
            }),
        }
    }

    fn length(&mut self, expected: &'static str) -> Result<Length, Refusal> {
        let offset = self.offset;
        let first = self.byte(expected)?;
        let low = first & 0x3F;
        Ok(match (first >> 6, first) {
            (LENGTH_6, _) => Length::Number(low.into()),
            (LENGTH_14, _) => {
                let next = self.byte(expected)?;
                Length::Number(u16::from_be_bytes([low, next]).into())
            }
            (SPECIAL, _) => Length::Special(low),
            (_, LENGTH_32) => Length::Number(u32::from_be_bytes(self.array(expected)?).into()),
            (_, LENGTH_64) => Length::Number(u64::from_be_bytes(self.array(expected)?)),
            _ => {
                return Err(Refusal::Damaged {
                    offset,
                    why: "a form of length that is not known here",
                });
            }
        })
    }

    fn array<const N: usize>(&mut self, expected: &'static str) -> Result<[u8; N], Refusal> {
        let (array, _) = self
            .rest()
            .split_first_chunk()
            .ok_or_else(|| self.cut_off(expected))?;
        self.offset += N;
        Ok(*array)
    }

    fn take(&mut self, count: u64, expected: &'static str) -> Result<&'a [u8], Refusal> {
        let taken = usize::try_from(count)
            .ok()
            .and_then(|count| self.rest().get(..count))
            .ok_or_else(|| self.cut_off(expected))?;
        self.offset += taken.len();
        Ok(taken)
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.offset..).unwrap_or_default()
    }

    fn cut_off(&self, expected: &'static str) -> Refusal {
        Refusal::CutOff {
            offset: self.offset,
            expected,
        }
    }
}
