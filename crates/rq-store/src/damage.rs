//! What a bad record is: the end of a log whose last writes never reached the disk, or damage.
//!
//! Only the last segment may have records that were never synced, so a bad record anywhere else is
//! damage. In the last segment it is a torn tail
//! - when no whole record is behind it; or
//! - when it is a hole that a power loss left: sectors may reach the disk in any order, so records
//!   behind the hole may be whole. Then a sector of the bad record was never written, from the record or
//!   from the sector's start on it is zeros, and no record behind it says that the bad one was durable when it was
//!   written.
//!
//! Whatever was synced is therefore never cut: after a sync a record behind says so (`Log::witness`).

use crate::frame;
use crate::record;

/// The smallest piece of a file that reaches the disk whole.
const SECTOR: usize = 512;

/// Whether the bytes from `bad` on, where the record `expected` should be, are a torn tail.
pub(crate) fn is_torn(seed: u32, segment: &[u8], bad: usize, expected: u64) -> bool {
    let mut behind = whole_records(seed, segment, bad).peekable();
    let Some(next) = behind.peek().map(|record| record.start) else {
        return true;
    };
    // A whole record at the very place has another number than it should.
    next > bad
        && !behind.any(|record| record.synced >= expected)
        && has_unwritten_sector(segment, bad, next)
}

/// A whole record found by searching.
pub(crate) struct Found<'a> {
    pub(crate) start: usize,
    pub(crate) sequence: u64,
    pub(crate) body: &'a [u8],
    /// The last record that was durable when this one was written.
    synced: u64,
}

/// All whole records from an offset on, wherever they begin.
pub(crate) fn whole_records(
    seed: u32,
    segment: &[u8],
    from: usize,
) -> impl Iterator<Item = Found<'_>> {
    let mut at = from;
    std::iter::from_fn(move || {
        while let Some(bytes) = segment.get(at..).filter(|bytes| !bytes.is_empty()) {
            let start = at;
            if let Some((head, body)) = frame::read(seed, bytes)
                && let Some(unsynced) = record::unsynced(body)
            {
                at += frame::HEAD + body.len();
                return Some(Found {
                    start,
                    sequence: head.sequence,
                    body,
                    synced: head.sequence.saturating_sub(unsynced),
                });
            }
            at += 1;
        }
        None
    })
}

/// Whether some sector between `bad` and `next` holds zeros, from `bad` or from its start on until its end.
fn has_unwritten_sector(segment: &[u8], bad: usize, next: usize) -> bool {
    let sectors = (bad / SECTOR + 1..).map(|sector| sector * SECTOR);
    std::iter::once(bad)
        .chain(sectors.take_while(|&start| start < next))
        .any(|start| {
            let end = segment.len().min((start / SECTOR + 1) * SECTOR);
            let sector = segment.get(start..end).unwrap_or_default();
            sector.iter().all(|&byte| byte == 0)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records 1, 2, 3 of `size` bytes each; the last one says that `synced` was durable.
    fn segment(size: usize, synced: u64) -> (Vec<u8>, [usize; 3]) {
        let (mut out, mut starts) = (vec![9; 40], [0; 3]);
        for sequence in 1..=3u64 {
            let start = frame::begin(&mut out);
            starts[sequence as usize - 1] = start;
            let known = if sequence == 3 { synced } else { 0 };
            crate::number::put(&mut out, sequence - known);
            out.resize(out.len() + size, 7);
            assert!(frame::end(&mut out, start, 5, sequence));
        }
        (out, starts)
    }

    #[test]
    fn a_flipped_bit_with_a_record_behind_is_damage() {
        let (mut bytes, starts) = segment(100, 0);
        bytes[starts[1] + 30] ^= 1;
        assert!(!is_torn(5, &bytes, starts[1], 2));
        bytes.truncate(starts[2] + 10);
        assert!(is_torn(5, &bytes, starts[1], 2));
    }

    #[test]
    fn a_hole_is_torn_unless_it_was_durable() {
        let (mut bytes, starts) = segment(600, 0);
        bytes[starts[1]..1024].fill(0);
        assert!(is_torn(5, &bytes, starts[1], 2));
        let (mut bytes, starts) = segment(600, 1);
        bytes[starts[1]..1024].fill(0);
        assert!(is_torn(5, &bytes, starts[1], 2));
        let (mut bytes, starts) = segment(600, 2);
        bytes[starts[1]..1024].fill(0);
        assert!(!is_torn(5, &bytes, starts[1], 2));
    }

    #[test]
    fn a_record_out_of_place_is_damage() {
        let (bytes, starts) = segment(10, 0);
        assert!(!is_torn(5, &bytes, starts[1], 7));
    }
}
