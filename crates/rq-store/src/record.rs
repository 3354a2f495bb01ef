//! The body of a log record: changes of queues that happened together.
//!
//! ```text
//! unsynced (number) · change*
//! change = 1 · name · head · payloads (number) · payload*      an effect
//!        | 2 · name                                            the queue is removed
//! ```
//!
//! `unsynced` is how many records before this one, itself included, were not known to be durable when it was
//! written. It tells a hole that a power loss left from damage: see `damage`.

use crate::number::{self, Reader};

const EFFECT: u8 = 1;
const REMOVE: u8 = 2;

/// Appends an effect.
pub(crate) fn put_effect<'a>(
    out: &mut Vec<u8>,
    name: &[u8],
    head: &[u8],
    payloads: impl ExactSizeIterator<Item = &'a [u8]>,
) {
    out.push(EFFECT);
    number::put_bytes(out, name);
    number::put_bytes(out, head);
    number::put(out, payloads.len() as u64);
    for payload in payloads {
        number::put_bytes(out, payload);
    }
}

/// Appends the removal of a queue.
pub(crate) fn put_remove(out: &mut Vec<u8>, name: &[u8]) {
    out.push(REMOVE);
    number::put_bytes(out, name);
}

/// A change that was read.
#[derive(Debug, Clone)]
pub(crate) enum Change<'a> {
    Effect {
        name: &'a [u8],
        head: &'a [u8],
        payloads: Payloads<'a>,
    },
    Remove {
        name: &'a [u8],
    },
}

/// Payloads that were seen to be there.
#[derive(Debug, Clone)]
pub(crate) struct Payloads<'a>(Reader<'a>, usize);

impl<'a> Iterator for Payloads<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.1 = self.1.checked_sub(1)?;
        self.0.bytes()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.1, Some(self.1))
    }
}

impl ExactSizeIterator for Payloads<'_> {}

/// How many records before this one, itself included, were not known to be durable.
pub(crate) fn unsynced(body: &[u8]) -> Option<u64> {
    Reader(body).number()
}

/// The changes of a body.
pub(crate) struct Changes<'a>(Reader<'a>);

impl<'a> Changes<'a> {
    pub(crate) fn of(body: &'a [u8]) -> Option<Self> {
        let mut reader = Reader(body);
        reader.number()?;
        Some(Self(reader))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_done()
    }

    fn read(&mut self) -> Option<Change<'a>> {
        let (kind, name) = (self.0.byte()?, self.0.bytes()?);
        match kind {
            EFFECT => {
                let (head, count) = (self.0.bytes()?, self.0.number()?);
                let payloads = Payloads(self.0, usize::try_from(count).ok()?);
                for _ in 0..count {
                    self.0.bytes()?;
                }
                Some(Change::Effect {
                    name,
                    head,
                    payloads,
                })
            }
            REMOVE => Some(Change::Remove { name }),
            _ => None,
        }
    }
}

impl<'a> Iterator for Changes<'a> {
    /// A change, or none where the bytes are no change; nothing is read behind that.
    type Item = Option<Change<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_done() {
            return None;
        }
        let change = self.read();
        if change.is_none() {
            self.0 = Reader(&[]);
        }
        Some(change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_go_both_ways() {
        let payloads = [&b"one"[..], b"", b"three"];
        let mut out = Vec::new();
        number::put(&mut out, 3);
        put_effect(&mut out, b"a name\0", b"head", payloads.into_iter());
        put_remove(&mut out, b"");
        assert_eq!(unsynced(&out), Some(3));
        let changes: Vec<_> = Changes::of(&out).unwrap().map(Option::unwrap).collect();
        let [
            Change::Effect {
                name,
                head,
                payloads: read,
            },
            Change::Remove { name: removed },
        ] = &changes[..]
        else {
            panic!("{changes:?}")
        };
        assert_eq!(
            (*name, *head, *removed),
            (&b"a name\0"[..], &b"head"[..], &b""[..])
        );
        assert_eq!(read.len(), 3);
        assert!(read.clone().eq(payloads));
        for end in 1..out.len() {
            let read: Vec<_> = Changes::of(&out[..end]).unwrap().collect();
            assert!(read.len() < 2 || read.iter().any(Option::is_none), "{end}");
        }
    }

    #[test]
    fn counts_that_are_not_there_are_refused() {
        let body = [1, EFFECT, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0];
        assert!(Changes::of(&body).unwrap().next().unwrap().is_none());
        assert!(Changes::of(&[1, 9, 0]).unwrap().next().unwrap().is_none());
    }
}
