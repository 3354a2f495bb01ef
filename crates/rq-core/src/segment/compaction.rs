//! What remains of segments, in one page.

use super::{Base, GONE, LARGE, Layout, NONE, SPARSE, Segment, allocated};

impl Segment {
    /// Bytes of a page that holds the live messages only.
    pub(crate) fn compact_size(&self) -> usize {
        usize::from(self.used - self.dead) + self.live() * SPARSE
    }

    /// Whether a page for the live messages would take at most half of the bytes.
    pub(crate) fn is_wasteful(&self) -> bool {
        self.live > 0 && self.compact_size() * 2 <= self.page.len()
    }

    /// A sparse segment with the live messages of some segments, given in order with their bases;
    /// none when they lie too far apart. Large payloads are taken, not copied.
    pub(crate) fn merge(parts: &mut [(Base, &mut Segment)]) -> Option<Segment> {
        let base = parts.first()?.0;
        let fits = |s: &Segment, b: Base| {
            let Some(last) = s.slots().checked_sub(1) else {
                return true;
            };
            u32::try_from(s.ordinal(b, last) - base.ordinal).is_ok()
        };
        if !parts.iter().all(|(b, s)| fits(s, *b)) {
            return None;
        }
        let size: usize = parts.iter().map(|(_, s)| s.compact_size()).sum();
        let live: usize = parts.iter().map(|(_, s)| s.live()).sum();
        let mut merged = Self::with_page(Layout::Sparse, size);
        merged.records = Vec::with_capacity(live);
        for (from_base, from) in parts {
            for slot in 0..from.slots() {
                if from.record(slot) != GONE {
                    merged.take(base, from, *from_base, slot);
                }
            }
        }
        Some(merged)
    }

    /// Takes one message over from another segment; the page has room for it.
    fn take(&mut self, base: Base, from: &mut Segment, from_base: Base, slot: usize) {
        let (id, ordinal) = (from.id(from_base, slot), from.ordinal(from_base, slot));
        let Ok(rest) = self.encode_slot(base, id, ordinal) else {
            return;
        };
        let (bytes, flags) = from.inline(slot);
        let start = usize::from(self.used);
        if flags & LARGE != 0 {
            let number = Self::large_number(bytes);
            let payload = from.large.as_mut().and_then(|l| l.payloads.get_mut(number));
            let payload = payload.map(std::mem::take).unwrap_or_default();
            let large = self.large.get_or_insert_default();
            self.page[start..start + 2]
                .copy_from_slice(&(large.payloads.len() as u16).to_le_bytes());
            large.bytes += allocated(payload.len());
            large.payloads.push(payload);
            self.used += 2;
        } else {
            self.page[start..start + bytes.len()].copy_from_slice(bytes);
            self.used += bytes.len() as u16;
        }
        self.write_slot(self.used | flags, rest);
        let record = from.record(slot);
        self.plain += u16::from(record == NONE);
        self.records.push(record);
        self.slots += 1;
        self.live += 1;
    }
}
