//! One page of messages in ID order.
//!
//! A page is one allocation. Payloads grow from its front, slots from its back; a message is a
//! slot and the bytes between the end of the slot before and its own end:
//!
//! ```text
//! | payload 0 | payload 1 | payload 2 |   free   | slot 2 | slot 1 | slot 0 |
//! ```
//!
//! Two layouts of slots:
//! - *dense*, 4 bytes: end, milliseconds since the base. Ordinals are consecutive. Sequences are
//!   not stored: they go on from the base's in its millisecond, and start at 1 in each later one.
//!   That is how a living queue makes IDs, so new messages nearly always fit.
//! - *sparse*, 20 bytes: end, milliseconds, ordinal, sequence. For what remains of segments after
//!   most of their messages have gone, and for queues with minutes between two messages.
//!
//! A message with fields ([`Fields`](crate::message::Fields)) is flagged, and has them before its payload. What is over [`INLINE_MAX`] has an allocation of its
//! own; its slot is flagged, too, and its bytes in the page are its number in `large`.
//!
//! Invariants: `live <= slots`; ends never fall; a slot whose record is [`GONE`] has no message;
//! slots beyond `records.len()` have no record; `plain` counts slots without record or mark; `dead` is the sum of the page bytes of gone slots.

use crate::id::Id;
use crate::message::Fields;

mod compaction;
mod invariants;

/// Largest page. Fits an allocator's size class, and 16-bit offsets with a flag bit to spare.
pub(crate) const PAGE: usize = 16 * 1024;
/// Smallest page: a queue with one short message should cost little more than that.
const PAGE_MIN: usize = 128;
/// Larger payloads are not stored in the page: at most a thirtieth of it is lost at its end.
pub(crate) const INLINE_MAX: usize = 512;

/// In place of a record number: the message was never delivered.
pub(crate) const NONE: u32 = u32::MAX;
/// In place of a record number: there is no message in this slot any more.
pub(crate) const GONE: u32 = u32::MAX - 1;
/// In place of a record number: never delivered, and waiting in a lane, not by its ordinal.
pub(crate) const LINED: u32 = u32::MAX - 2;
/// In place of a record number: never delivered, and due later.
pub(crate) const SCHEDULED: u32 = u32::MAX - 3;

/// Whether this is the number of a record, and not one of the marks above.
pub(crate) fn is_record(number: u32) -> bool {
    number < SCHEDULED
}

const LARGE: u16 = 1 << 15;
const EXTENDED: u16 = 1 << 14;
const END: u16 = EXTENDED - 1;
const DENSE: usize = 4;
const SPARSE: usize = 20;

/// The first message of a segment: what the numbers in its slots count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) id: Id,
    pub(crate) ordinal: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Dense,
    Sparse,
}

impl Layout {
    fn slot_size(self) -> usize {
        match self {
            Layout::Dense => DENSE,
            Layout::Sparse => SPARSE,
        }
    }
}

/// Why a message can't be appended to a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// There is no room, or it would be lost by growing: the page has its largest size.
    Room,
    /// Its ID or ordinal does not fit the slots of this layout.
    Distance,
}

/// Payloads with allocations of their own. A freed one leaves an empty box, so that the numbers
/// of the others stay.
#[derive(Debug, Clone, Default)]
struct Large {
    payloads: Vec<Box<[u8]>>,
    /// Bytes allocated for them.
    bytes: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Segment {
    page: Box<[u8]>,
    /// Record numbers of the group, by slot, up to the last slot that has or had one.
    records: Vec<u32>,
    large: Option<Box<Large>>,
    slots: u16,
    live: u16,
    /// Slots with neither record nor mark: what waits in the order of IDs.
    plain: u16,
    /// Bytes of payloads at the front of the page.
    used: u16,
    /// Bytes of those that belong to gone messages.
    dead: u16,
    /// First slot of the last millisecond (dense layout).
    run: u16,
    layout: Layout,
}

impl Segment {
    /// An empty segment that will hold its first payload of `length` bytes.
    pub(crate) fn new(layout: Layout, length: usize, small: bool) -> Self {
        let needed = inline_length(length) + layout.slot_size();
        let size = if small {
            needed.next_power_of_two().clamp(PAGE_MIN, PAGE)
        } else {
            PAGE
        };
        Self::with_page(layout, size)
    }

    fn with_page(layout: Layout, size: usize) -> Self {
        Self {
            page: vec![0; size].into_boxed_slice(),
            records: Vec::new(),
            large: None,
            slots: 0,
            live: 0,
            plain: 0,
            used: 0,
            dead: 0,
            run: 0,
            layout,
        }
    }

    pub(crate) fn slots(&self) -> usize {
        usize::from(self.slots)
    }

    pub(crate) fn live(&self) -> usize {
        usize::from(self.live)
    }

    /// Messages that wait in the order of their IDs.
    pub(crate) fn plain(&self) -> usize {
        usize::from(self.plain)
    }

    /// Bytes allocated for this segment.
    pub(crate) fn heap(&self) -> usize {
        let large = self.large.as_ref().map_or(0, |large| {
            size_of::<Large>() + large.payloads.capacity() * size_of::<Box<[u8]>>() + large.bytes
        });
        size_of::<Self>() + self.page.len() + self.records.capacity() * 4 + large
    }

    /// Forgets all messages, which are gone, and keeps the page for the next ones.
    pub(crate) fn reset(&mut self, layout: Layout) {
        debug_assert_eq!(self.live, 0);
        self.records.clear();
        self.large = None;
        (self.slots, self.used, self.dead, self.run, self.plain) = (0, 0, 0, 0, 0);
        self.layout = layout;
    }

    // ---- slots ----

    fn word<const N: usize>(&self, slot: usize, offset: usize) -> [u8; N] {
        let at = self.page.len() - (slot + 1) * self.layout.slot_size() + offset;
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.page[at..at + N]);
        bytes
    }

    fn end_word(&self, slot: usize) -> u16 {
        u16::from_le_bytes(self.word(slot, 0))
    }

    fn milliseconds(&self, slot: usize) -> u64 {
        match self.layout {
            Layout::Dense => u64::from(u16::from_le_bytes(self.word(slot, 2))),
            Layout::Sparse => {
                let [a, b, c, d, e, f] = self.word(slot, 2);
                u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
            }
        }
    }

    fn sparse_ordinal(&self, slot: usize) -> u64 {
        u64::from(u32::from_le_bytes(self.word(slot, 8)))
    }

    fn sparse_sequence(&self, slot: usize) -> u64 {
        u64::from_le_bytes(self.word(slot, 12))
    }

    /// First slot in `from..slots` for which `before` is false; `before` is true, then false.
    fn partition(&self, from: usize, before: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (from, self.slots());
        while low < high {
            let middle = (low + high) / 2;
            if before(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    pub(crate) fn id(&self, base: Base, slot: usize) -> Id {
        let delta = self.milliseconds(slot);
        let milliseconds = base.id.milliseconds + delta;
        if self.layout == Layout::Sparse {
            return Id::new(milliseconds, self.sparse_sequence(slot));
        }
        if delta == 0 {
            return base.id.plus(slot as u64);
        }
        let first = self.partition(0, |s| self.milliseconds(s) < delta);
        Id::new(milliseconds, (slot - first) as u64 + 1)
    }

    /// The ID of a slot whose predecessor's ID is known: no search.
    pub(crate) fn id_after(&self, base: Base, slot: usize, previous: Id) -> Id {
        let milliseconds = base.id.milliseconds + self.milliseconds(slot);
        if self.layout == Layout::Sparse {
            Id::new(milliseconds, self.sparse_sequence(slot))
        } else if milliseconds == previous.milliseconds {
            previous.plus(1)
        } else {
            Id::new(milliseconds, 1)
        }
    }

    pub(crate) fn ordinal(&self, base: Base, slot: usize) -> u64 {
        match self.layout {
            Layout::Dense => base.ordinal + slot as u64,
            Layout::Sparse => base.ordinal + self.sparse_ordinal(slot),
        }
    }

    /// The slot with this ID, gone or not.
    pub(crate) fn find_id(&self, base: Base, id: Id) -> Option<usize> {
        let delta = id.milliseconds.checked_sub(base.id.milliseconds)?;
        let slot = match self.layout {
            Layout::Dense if delta == 0 => {
                usize::try_from(id.sequence.checked_sub(base.id.sequence)?).ok()?
            }
            Layout::Dense => {
                let first = self.partition(0, |s| self.milliseconds(s) < delta);
                let further = usize::try_from(id.sequence.checked_sub(1)?).ok()?;
                first.checked_add(further)?
            }
            Layout::Sparse => self.partition(0, |s| {
                (self.milliseconds(s), self.sparse_sequence(s)) < (delta, id.sequence)
            }),
        };
        let found = slot < self.slots()
            && self.milliseconds(slot) == delta
            && (self.layout == Layout::Dense || self.sparse_sequence(slot) == id.sequence);
        found.then_some(slot)
    }

    /// The first slot whose ID is at least this one; `slots()` when there is none.
    pub(crate) fn seek_id(&self, base: Base, id: Id) -> usize {
        let Some(delta) = id.milliseconds.checked_sub(base.id.milliseconds) else {
            return 0;
        };
        if self.layout == Layout::Sparse {
            let wanted = (delta, id.sequence);
            return self.partition(0, |s| {
                (self.milliseconds(s), self.sparse_sequence(s)) < wanted
            });
        }
        let first = self.partition(0, |s| self.milliseconds(s) < delta);
        let end = self.partition(first, |s| self.milliseconds(s) == delta);
        let sequence = if delta == 0 { base.id.sequence } else { 1 };
        let further = usize::try_from(id.sequence.saturating_sub(sequence)).unwrap_or(usize::MAX);
        first.saturating_add(further).min(end)
    }

    /// Slots that hold a message.
    pub(crate) fn live_slots(&self) -> impl Iterator<Item = usize> {
        (0..self.slots()).filter(|&slot| self.record(slot) != GONE)
    }

    /// The first slot whose ordinal is at least this one; `slots()` when there is none.
    pub(crate) fn seek_ordinal(&self, base: Base, ordinal: u64) -> usize {
        let delta = ordinal.saturating_sub(base.ordinal);
        match self.layout {
            Layout::Dense => usize::try_from(delta)
                .unwrap_or(usize::MAX)
                .min(self.slots()),
            Layout::Sparse => self.partition(0, |s| self.sparse_ordinal(s) < delta),
        }
    }

    // ---- payloads ----

    /// The bytes of a slot in the page, and its flags.
    fn inline(&self, slot: usize) -> (&[u8], u16) {
        let start = match slot.checked_sub(1) {
            Some(before) => self.end_word(before) & END,
            None => 0,
        };
        let word = self.end_word(slot);
        let bytes = &self.page[usize::from(start)..usize::from(word & END)];
        (bytes, word & !END)
    }

    fn large_number(bytes: &[u8]) -> usize {
        match bytes {
            [low, high] => usize::from(u16::from_le_bytes([*low, *high])),
            _ => usize::MAX,
        }
    }

    /// Fields as they are stored, empty for none, and payload.
    pub(crate) fn message(&self, slot: usize) -> (&[u8], &[u8]) {
        let (mut bytes, flags) = self.inline(slot);
        if flags & LARGE != 0 {
            let large = self.large.as_ref();
            bytes = large
                .and_then(|large| large.payloads.get(Self::large_number(bytes)))
                .map_or(&[], |payload| payload);
        }
        if flags & EXTENDED == 0 {
            return (&[], bytes);
        }
        bytes.split_at(Fields::stored(bytes).1)
    }

    // ---- changes ----

    /// Appends a message behind all others; bytes that were allocated for it.
    pub(crate) fn append(
        &mut self,
        base: Base,
        id: Id,
        ordinal: u64,
        (prefix, payload): (&[u8], &[u8]),
    ) -> Result<usize, Full> {
        let length = prefix.len() + payload.len();
        let slot = self.encode_slot(base, id, ordinal)?;
        let last = self
            .slots()
            .checked_sub(1)
            .map(|last| self.milliseconds(last));
        let mut allocated = self.make_room(inline_length(length))?;
        let start = usize::from(self.used);
        let mut word = if prefix.is_empty() { 0 } else { EXTENDED };
        if length <= INLINE_MAX {
            let middle = start + prefix.len();
            self.page[start..middle].copy_from_slice(prefix);
            self.page[middle..start + length].copy_from_slice(payload);
        } else {
            let before = self.heap();
            let number = self.add_large(prefix, payload);
            allocated += self.heap() - before;
            self.page[start..start + 2].copy_from_slice(&number.to_le_bytes());
            word |= LARGE;
        }
        self.used += inline_length(length) as u16;
        self.write_slot(self.used | word, slot);
        if last != Some(id.milliseconds - base.id.milliseconds) {
            self.run = self.slots;
        }
        self.slots += 1;
        self.live += 1;
        self.plain += 1;
        Ok(allocated)
    }

    /// Stores fields and payload in an allocation of their own; its number.
    fn add_large(&mut self, prefix: &[u8], payload: &[u8]) -> u16 {
        let large = self.large.get_or_insert_default();
        // Two bytes a large payload: a page holds far fewer than 65,536.
        let number = large.payloads.len() as u16;
        large.payloads.push(if prefix.is_empty() {
            payload.into()
        } else {
            [prefix, payload].concat().into()
        });
        large.bytes += allocated(prefix.len() + payload.len());
        number
    }

    /// The numbers of a slot but its end; an error when they do not fit.
    fn encode_slot(&self, base: Base, id: Id, ordinal: u64) -> Result<[u8; SPARSE - 2], Full> {
        let mut slot = [0; SPARSE - 2];
        let delta = (id.milliseconds)
            .checked_sub(base.id.milliseconds)
            .ok_or(Full::Distance)?;
        if self.layout == Layout::Dense {
            let narrow = u16::try_from(delta).map_err(|_| Full::Distance)?;
            if ordinal != base.ordinal + u64::from(self.slots) || !self.follows(base, id) {
                return Err(Full::Distance);
            }
            slot[..2].copy_from_slice(&narrow.to_le_bytes());
        } else {
            let ordinal = u32::try_from(ordinal - base.ordinal).map_err(|_| Full::Distance)?;
            // Milliseconds have 48 bits.
            slot[..6].copy_from_slice(&delta.to_le_bytes()[..6]);
            slot[6..10].copy_from_slice(&ordinal.to_le_bytes());
            slot[10..].copy_from_slice(&id.sequence.to_le_bytes());
        }
        Ok(slot)
    }

    /// Whether an ID is the one that a dense slot behind all others would be read as.
    fn follows(&self, base: Base, id: Id) -> bool {
        let Some(last) = self.slots().checked_sub(1) else {
            return id == base.id;
        };
        let last = base.id.milliseconds + self.milliseconds(last);
        if id.milliseconds > last {
            return id.sequence == 1;
        }
        let further = u64::from(self.slots - self.run);
        let next = if self.run == 0 {
            base.id.plus(further)
        } else {
            Id::new(last, 1 + further)
        };
        id == next
    }

    /// Makes room for one more slot and `length` bytes, by growing a page below its largest size; by how much.
    fn make_room(&mut self, length: usize) -> Result<usize, Full> {
        let slots = (self.slots() + 1) * self.layout.slot_size();
        let needed = usize::from(self.used) + length + slots;
        let before = self.page.len();
        if needed <= before {
            return Ok(0);
        }
        if needed > PAGE {
            return Err(Full::Room);
        }
        self.resize(needed.next_power_of_two().min(PAGE));
        Ok(self.page.len() - before)
    }

    /// Gives back the room for marks of messages that will not come.
    pub(crate) fn seal(&mut self) {
        if self.records.capacity() > self.slots() {
            self.records.shrink_to(self.slots());
        }
    }

    /// Gives back the room of a page that nothing will be appended to, where it is worth it.
    pub(crate) fn trim(&mut self) {
        let needed = usize::from(self.used) + self.slots() * self.layout.slot_size();
        if needed * 4 < self.page.len() * 3 {
            self.resize(needed);
        }
    }

    fn resize(&mut self, size: usize) {
        let mut page = vec![0; size].into_boxed_slice();
        let used = usize::from(self.used);
        page[..used].copy_from_slice(&self.page[..used]);
        let table = self.slots() * self.layout.slot_size();
        let (to, from) = (size - table, self.page.len() - table);
        page[to..].copy_from_slice(&self.page[from..]);
        self.page = page;
    }

    fn write_slot(&mut self, end: u16, rest: [u8; SPARSE - 2]) {
        let size = self.layout.slot_size();
        let at = self.page.len() - (self.slots() + 1) * size;
        self.page[at..at + 2].copy_from_slice(&end.to_le_bytes());
        self.page[at + 2..at + size].copy_from_slice(&rest[..size - 2]);
    }

    pub(crate) fn record(&self, slot: usize) -> u32 {
        self.records.get(slot).copied().unwrap_or(NONE)
    }

    /// Messages from a slot on that wait in the order of their IDs.
    pub(crate) fn plain_from(&self, slot: usize) -> usize {
        if slot == 0 || self.records.is_empty() {
            return if slot == 0 {
                self.plain()
            } else {
                self.slots() - slot
            };
        }
        (slot..self.slots())
            .filter(|&s| self.record(s) == NONE)
            .count()
    }

    /// Sets the record of a slot. `sealed`: no message will be appended, so that the array
    /// gets its final size at once.
    pub(crate) fn set_record(&mut self, slot: usize, record: u32, sealed: bool) {
        if let Some(entry) = self.records.get_mut(slot) {
            self.plain -= u16::from(*entry == NONE);
            *entry = record;
            return;
        }
        self.plain -= 1;
        let further = self.slots() - self.records.len();
        if sealed && self.records.capacity() < self.slots() {
            self.records.reserve_exact(further);
        }
        self.records.resize(slot, NONE);
        self.records.push(record);
    }

    /// Whether the message in a slot has fields.
    pub(crate) fn is_extended(&self, slot: usize) -> bool {
        self.end_word(slot) & EXTENDED != 0
    }

    /// Lets go of the message in a slot; the bytes of its fields and payload.
    pub(crate) fn remove(&mut self, slot: usize, sealed: bool) -> usize {
        let (bytes, flags) = self.inline(slot);
        let (length, number) = (bytes.len() as u16, Self::large_number(bytes));
        let mut stored = bytes.len();
        if flags & LARGE != 0
            && let Some(large) = self.large.as_mut()
            && let Some(payload) = large.payloads.get_mut(number)
        {
            stored = payload.len();
            large.bytes -= allocated(stored);
            *payload = Box::default();
        }
        self.set_record(slot, GONE, sealed);
        self.dead += length;
        self.live -= 1;
        stored
    }
}

/// Bytes that a payload takes in the page.
fn inline_length(length: usize) -> usize {
    if length <= INLINE_MAX { length } else { 2 }
}

/// Bytes that an allocation takes from common allocators, which have four sizes from one power of
/// two to the next.
fn allocated(length: usize) -> usize {
    match length {
        0 => 0,
        1..=128 => length.next_multiple_of(16),
        _ => length.next_multiple_of((length - 1).next_power_of_two() / 8),
    }
}
