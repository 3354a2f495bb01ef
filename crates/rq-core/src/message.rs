//! What travels with a message beside its payload: the fields that few messages have.
//!
//! A message with any of them is stored as a *prefix* and its payload; a plain one has none. The prefix is a
//! byte of flags and the fields that it names, in their order:
//!
//! | flag | field |
//! |---|---|
//! | 1 | priority, a byte |
//! | 2 | number: milliseconds at which its time to live is over |
//! | 4 | number: tries after the first |
//! | 8 | text: token |
//! | 16 | headers: a number of pairs, then texts |
//!
//! The bytes are those of `docs/format.md`, in effects and snapshots as in memory.

use crate::error::Error;
use crate::varint::{self, Reader};

const PRIORITY: u8 = 1;
const EXPIRY: u8 = 2;
const RETRIES: u8 = 4;
const TOKEN: u8 = 8;
const HEADERS: u8 = 16;

/// The fields of a message, beside its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fields<'a> {
    /// Higher ones are delivered first.
    pub priority: u8,
    /// Milliseconds at which its time to live is over; 0: never.
    pub expiry: u64,
    /// Tries after the first; none: as the queue says.
    pub retries: Option<u32>,
    /// What it is known by beside its ID.
    pub token: Option<&'a [u8]>,
    /// Names and values, in their order.
    pub headers: Headers<'a>,
}

/// Names and values that travel with a message: order, duplicates and bytes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Headers<'a>(&'a [u8]);

impl<'a> Headers<'a> {
    /// Writes headers as they are stored.
    pub fn encode<'b>(pairs: impl ExactSizeIterator<Item = (&'b [u8], &'b [u8])>) -> Vec<u8> {
        let mut out = Vec::new();
        if pairs.len() > 0 {
            varint::put(&mut out, pairs.len() as u64);
            for (name, value) in pairs {
                put_text(&mut out, name);
                put_text(&mut out, value);
            }
        }
        out
    }

    /// Headers that [`Headers::encode`] wrote; none of them for no bytes.
    #[must_use]
    pub fn new(encoded: &'a [u8]) -> Self {
        Self(encoded)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many pairs there are.
    #[must_use]
    pub fn count(&self) -> usize {
        let mut reader = Reader::new(self.0);
        let count = if self.0.is_empty() {
            Ok(0)
        } else {
            reader.number()
        };
        usize::try_from(count.unwrap_or(0)).unwrap_or(0)
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut reader = Reader::new(self.0);
        let _ = reader.number();
        std::iter::from_fn(move || {
            Some((read_text(&mut reader).ok()?, read_text(&mut reader).ok()?))
        })
    }

    /// Bytes of names and values.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.iter().map(|(n, v)| (n.len() + v.len()) as u64).sum()
    }
}

impl<'a> Fields<'a> {
    /// Whether there are none, so that no prefix is needed.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.priority == 0
            && self.expiry == 0
            && self.retries.is_none()
            && self.token.is_none()
            && self.headers.is_empty()
    }

    /// Writes the prefix; nothing for none.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        if self.is_plain() {
            return;
        }
        let flag = |holds: bool, flag: u8| if holds { flag } else { 0 };
        out.push(
            flag(self.priority > 0, PRIORITY)
                | flag(self.expiry > 0, EXPIRY)
                | flag(self.retries.is_some(), RETRIES)
                | flag(self.token.is_some(), TOKEN)
                | flag(!self.headers.is_empty(), HEADERS),
        );
        if self.priority > 0 {
            out.push(self.priority);
        }
        if self.expiry > 0 {
            varint::put(out, self.expiry);
        }
        if let Some(retries) = self.retries {
            varint::put(out, retries.into());
        }
        if let Some(token) = self.token {
            put_text(out, token);
        }
        out.extend_from_slice(self.headers.0);
    }

    /// Reads a prefix, strictly: only what `put` writes.
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let flags = reader.byte()?;
        if flags == 0 || flags >= 32 {
            return Err(Error::BadEffect(
                "fields of a message that are not known here",
            ));
        }
        let mut fields = Fields::default();
        if flags & PRIORITY != 0 {
            fields.priority = reader.byte()?;
        }
        if flags & EXPIRY != 0 {
            fields.expiry = reader.number()?;
        }
        if flags & RETRIES != 0 {
            let retries = u32::try_from(reader.number()?);
            fields.retries =
                Some(retries.map_err(|_| Error::BadEffect("a number of tries out of range"))?);
        }
        if flags & TOKEN != 0 {
            fields.token = Some(read_text(reader)?);
        }
        if flags & HEADERS != 0 {
            let start = *reader;
            let count = reader.number()?;
            if count == 0 || count > reader.left() {
                return Err(Error::BadEffect("a number of headers out of range"));
            }
            for _ in 0..count * 2 {
                read_text(reader)?;
            }
            fields.headers = Headers(start.until(reader));
        }
        let given = flags & PRIORITY == 0 || fields.priority > 0;
        if !given
            || (flags & EXPIRY != 0 && fields.expiry == 0)
            || fields.expiry >= crate::queue::TIME_END
        {
            return Err(Error::BadEffect(
                "fields of a message that are out of range",
            ));
        }
        Ok(fields)
    }

    /// Reads the prefix at the front of stored bytes, which `put` wrote; the fields, and where the payload begins.
    pub(crate) fn stored(bytes: &'a [u8]) -> (Self, usize) {
        let mut reader = Reader::new(bytes);
        match Self::read(&mut reader) {
            Ok(fields) => (fields, bytes.len() - reader.left() as usize),
            Err(_) => (Self::default(), 0),
        }
    }
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    varint::put(out, text.len() as u64);
    out.extend_from_slice(text);
}

pub(crate) fn read_text<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    let length = reader.number()?;
    reader.bytes(length)
}
