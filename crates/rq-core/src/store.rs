//! All messages of a queue, whatever their state, in ID order.
//!
//! A directory of segments, searched by ID or by ordinal. The *ordinal* of a message is its push
//! number within this store: references to messages are ordinals, since these stay when segments
//! are compacted or merged. Ordinals are not written anywhere: a loaded queue counts anew.
//!
//! Invariants: bases never fall, by ID and by ordinal alike; every message of an entry lies at or
//! above its base and below the next entry's; an entry without segment holds nothing and stays
//! only until half of the directory is such; the first entry has a segment; only the last
//! segment may be without messages.

use std::collections::VecDeque;
use std::ops::Range;

use crate::id::Id;
use crate::invariants::ensure;
use crate::message::Fields;
use crate::segment::{Base, Full, GONE, Layout, NONE, PAGE, Segment};

#[derive(Debug, Clone)]
struct Entry {
    base: Base,
    segment: Option<Box<Segment>>,
}

/// Where a message is: entry and slot. Good until the store changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    entry: usize,
    slot: usize,
}

/// The entry that a search found last: most searches go there again, or to the next. Only a
/// guess, which is checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Hint(usize);

/// A message in the store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub(crate) id: Id,
    pub(crate) ordinal: u64,
    pub(crate) payload: &'a [u8],
    /// Its fields as they are stored; empty for none.
    pub(crate) prefix: &'a [u8],
    /// Number of its record, or one of the marks of `segment`.
    pub(crate) record: u32,
}

impl<'a> Stored<'a> {
    /// What travels with it.
    pub(crate) fn fields(&self) -> Fields<'a> {
        if self.prefix.is_empty() {
            return Fields::default();
        }
        Fields::stored(self.prefix).0
    }

    /// Bytes of payload and headers.
    pub(crate) fn bytes(&self) -> u64 {
        self.payload.len() as u64 + self.fields().headers.bytes()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Store {
    entries: VecDeque<Entry>,
    /// Entries without a segment.
    holes: usize,
    next_ordinal: u64,
    live: u64,
    /// Bytes allocated by segments.
    heap: usize,
}

impl Clone for Store {
    fn clone(&self) -> Self {
        let entries = self.entries.clone();
        // A copy has less room to spare.
        let segments = entries.iter().filter_map(|entry| entry.segment.as_deref());
        Self {
            heap: segments.map(Segment::heap).sum(),
            entries,
            ..*self
        }
    }
}

impl Place {
    /// Where a search for this place would end.
    pub(crate) fn hint(self) -> Hint {
        Hint(self.entry)
    }
}

impl Store {
    /// Makes a store without messages as a new one is.
    pub(crate) fn renew(&mut self) {
        let fresh = |segment: &Segment| segment.slots() == 0;
        if self.entries.len() == 1 && self.segment(0).is_some_and(|(_, segment)| fresh(segment)) {
            self.next_ordinal = 0;
            return;
        }
        let mut entries = std::mem::take(&mut self.entries);
        entries.truncate(1);
        entries.retain(|entry| entry.segment.is_some());
        let mut heap = 0;
        for segment in entries.iter_mut().filter_map(|e| e.segment.as_deref_mut()) {
            segment.reset(Layout::Dense);
            heap = segment.heap();
        }
        *self = Self {
            entries,
            heap,
            ..Self::default()
        };
    }

    /// Messages held.
    pub(crate) fn live(&self) -> u64 {
        self.live
    }

    /// The ordinal that the next message will get.
    pub(crate) fn next_ordinal(&self) -> u64 {
        self.next_ordinal
    }

    /// Bytes allocated.
    pub(crate) fn heap(&self) -> usize {
        self.heap + self.entries.capacity() * size_of::<Entry>()
    }

    /// Segments held: what freeing costs.
    pub(crate) fn segments(&self) -> usize {
        self.entries.len() - self.holes
    }

    // ---- appending ----

    /// Appends a message that waits elsewhere than by its ordinal; its ID is above all others. Its ordinal.
    pub(crate) fn append_marked(&mut self, id: Id, message: (&[u8], &[u8]), mark: u32) -> u64 {
        self.append(id, message);
        if let Some(last) = self.last() {
            self.set_record(last, mark);
        }
        self.next_ordinal - 1
    }

    /// Appends a message, its fields and payload; its ID is above all others.
    pub(crate) fn append(&mut self, id: Id, message: (&[u8], &[u8])) {
        let ordinal = self.next_ordinal;
        self.next_ordinal += 1;
        self.live += 1;
        let next = Base { id, ordinal };
        // The first segments grow from little, later ones have full pages.
        let (mut layout, mut small) = (Layout::Dense, self.heap < 2 * PAGE);
        if let Some(entry) = self.entries.back_mut()
            && let Some(segment) = entry.segment.as_deref_mut()
        {
            if segment.slots() == 0 {
                entry.base = next;
            }
            let full = match segment.append(entry.base, id, ordinal, message) {
                Ok(allocated) => {
                    self.heap += allocated;
                    return;
                }
                Err(full) => full,
            };
            let before = segment.heap();
            if full == Full::Distance {
                // Bursts that lie far apart: no full pages for them, and where they have few
                // messages, slots in which they can share a page.
                segment.trim();
                small = true;
                if segment.slots() < 16 {
                    layout = Layout::Sparse;
                }
            }
            segment.seal();
            self.heap = self.heap + segment.heap() - before;
        }
        self.open(next, layout, small, message);
    }

    fn open(&mut self, base: Base, layout: Layout, small: bool, message: (&[u8], &[u8])) {
        let length = message.0.len() + message.1.len();
        let mut segment = Box::new(Segment::new(layout, length, small));
        // An empty segment takes any message: its own base is never too far, and it has room.
        let outcome = segment.append(base, base.id, base.ordinal, message);
        debug_assert!(outcome.is_ok());
        self.heap += segment.heap();
        let segment = Some(segment);
        self.entries.push_back(Entry { base, segment });
    }

    // ---- finding ----

    /// The last entry whose base is at or below what is searched for.
    fn search(&self, hint: &mut Hint, at_or_below: impl Fn(&Base) -> bool) -> Option<usize> {
        let is = |i: usize| {
            self.entries.get(i).is_some_and(|e| at_or_below(&e.base))
                && (self.entries.get(i + 1)).is_none_or(|e| !at_or_below(&e.base))
        };
        // Entries that were taken off the front shift the others by one at a time.
        let near = [hint.0, hint.0 + 1, hint.0.wrapping_sub(1)];
        let found = match near.into_iter().find(|&i| is(i)) {
            Some(near) => near,
            None => (self.entries)
                .partition_point(|e| at_or_below(&e.base))
                .checked_sub(1)?,
        };
        hint.0 = found;
        Some(found)
    }

    fn segment(&self, entry: usize) -> Option<(Base, &Segment)> {
        let entry = self.entries.get(entry)?;
        Some((entry.base, entry.segment.as_deref()?))
    }

    /// The place of a message with this ID, or of one that has gone and left its slot.
    pub(crate) fn find(&self, id: Id, hint: &mut Hint) -> Option<Place> {
        let entry = self.search(hint, |base| base.id <= id)?;
        let (base, segment) = self.segment(entry)?;
        let slot = segment.find_id(base, id)?;
        Some(Place { entry, slot })
    }

    /// The place of the first message, gone or not, whose ordinal is at least this one.
    pub(crate) fn seek(&self, ordinal: u64, hint: &mut Hint) -> Option<Place> {
        let Some(entry) = self.search(hint, |base| base.ordinal <= ordinal) else {
            return self.place_from(0, 0);
        };
        let slot = self
            .segment(entry)
            .map_or(0, |(base, segment)| segment.seek_ordinal(base, ordinal));
        self.place_from(entry, slot)
    }

    /// The place of the first message, gone or not, whose ID is at least this one.
    pub(crate) fn seek_id(&self, id: Id) -> Option<Place> {
        let Some(entry) = self.search(&mut Hint::default(), |base| base.id <= id) else {
            return self.place_from(0, 0);
        };
        let slot = (self.segment(entry)).map_or(0, |(base, segment)| segment.seek_id(base, id));
        self.place_from(entry, slot)
    }

    /// The ordinals of messages between two IDs, both included, and of some that have gone.
    pub(crate) fn ordinals(&self, low: Id, high: Id) -> Range<u64> {
        let from = |id: Option<Id>| {
            let message = id.and_then(|id| self.get(self.seek_id(id)?));
            message.map_or(self.next_ordinal, |message| message.ordinal)
        };
        let start = from(Some(low));
        start..from(high.successor()).max(start)
    }

    /// Ordinals and record numbers, or marks, of the messages with these ordinals.
    pub(crate) fn records(&self, span: Range<u64>) -> impl Iterator<Item = (u64, u32)> {
        let first = self.seek(span.start, &mut Hint::default());
        std::iter::successors(first, |&place| self.after(place))
            .filter_map(|place| {
                let (base, segment) = self.segment(place.entry)?;
                Some((
                    segment.ordinal(base, place.slot),
                    segment.record(place.slot),
                ))
            })
            .take_while(move |(ordinal, _)| *ordinal < span.end)
    }

    /// The last place of all.
    pub(crate) fn last(&self) -> Option<Place> {
        self.place_before(self.entries.len(), 0)
    }

    /// The place before this one.
    pub(crate) fn before(&self, place: Place) -> Option<Place> {
        self.place_before(place.entry, place.slot)
    }

    fn place_before(&self, mut entry: usize, mut slot: usize) -> Option<Place> {
        loop {
            if let Some(slot) = slot.checked_sub(1) {
                return Some(Place { entry, slot });
            }
            entry = entry.checked_sub(1)?;
            slot = self
                .segment(entry)
                .map_or(0, |(_, segment)| segment.slots());
        }
    }

    /// IDs of messages that cut the store into parts of nearly equal counts, from the counts of
    /// the segments.
    pub(crate) fn split(&self, parts: u64) -> Vec<Id> {
        let parts = parts.min(self.live.max(1));
        // In 128 bits: the product may not fit 64.
        let position =
            |part: u64| (u128::from(self.live) * u128::from(part) / u128::from(parts)) as u64;
        let mut positions = (1..parts).map(position).peekable();
        let (mut cuts, mut passed) = (Vec::new(), 0);
        for entry in 0..self.entries.len() {
            let Some((base, segment)) = self.segment(entry) else {
                continue;
            };
            let end = passed + segment.live() as u64;
            let mut slots = segment.live_slots();
            while let Some(position) = positions.next_if(|&position| position < end) {
                if let Some(slot) = slots.nth((position - passed) as usize) {
                    cuts.push(segment.id(base, slot));
                }
                passed = position + 1;
            }
            passed = end;
        }
        cuts
    }

    /// This place, or the first one behind it that exists.
    fn place_from(&self, mut entry: usize, mut slot: usize) -> Option<Place> {
        loop {
            match self.entries.get(entry)?.segment.as_deref() {
                Some(segment) if slot < segment.slots() => return Some(Place { entry, slot }),
                _ => (entry, slot) = (entry + 1, 0),
            }
        }
    }

    /// The place behind this one.
    pub(crate) fn after(&self, place: Place) -> Option<Place> {
        self.place_from(place.entry, place.slot + 1)
    }

    /// The first place in a segment behind this one.
    pub(crate) fn next_segment(&self, place: Place) -> Option<Place> {
        self.place_from(place.entry + 1, 0)
    }

    /// Messages from this place to the end of its segment that wait in the order of their IDs.
    pub(crate) fn plain_in_segment(&self, place: Place) -> usize {
        self.segment(place.entry)
            .map_or(0, |(_, segment)| segment.plain_from(place.slot))
    }

    /// The first place at or behind this one whose message waits in the order of IDs.
    pub(crate) fn plain_from(&self, mut place: Place) -> Option<Place> {
        loop {
            let (_, segment) = self.segment(place.entry)?;
            let mut slots = place.slot..segment.slots();
            if segment.plain() > 0
                && let Some(slot) = slots.find(|&slot| segment.record(slot) == NONE)
            {
                let entry = place.entry;
                return Some(Place { entry, slot });
            }
            place = self.next_segment(place)?;
        }
    }

    /// The record number of a place.
    pub(crate) fn record(&self, place: Place) -> u32 {
        self.segment(place.entry)
            .map_or(GONE, |(_, segment)| segment.record(place.slot))
    }

    /// The place of the message with this ordinal, where it is still there.
    pub(crate) fn at(&self, ordinal: u64, hint: &mut Hint) -> Option<Place> {
        let place = self.seek(ordinal, hint)?;
        let (base, segment) = self.segment(place.entry)?;
        let found =
            segment.ordinal(base, place.slot) == ordinal && segment.record(place.slot) != GONE;
        found.then_some(place)
    }

    /// The message with this ordinal, where it is still there.
    pub(crate) fn of(&self, ordinal: u64) -> Option<Stored<'_>> {
        self.get(self.at(ordinal, &mut Hint::default())?)
    }

    /// Fields as they are stored, empty for none, and payload of the message at a place.
    pub(crate) fn message(&self, place: Place) -> (&[u8], &[u8]) {
        self.segment(place.entry)
            .map_or((&[], &[]), |(_, segment)| segment.message(place.slot))
    }

    /// The message at a place.
    pub(crate) fn get(&self, place: Place) -> Option<Stored<'_>> {
        let (base, segment) = self.segment(place.entry)?;
        let (prefix, payload) = segment.message(place.slot);
        Some(Stored {
            id: segment.id(base, place.slot),
            ordinal: segment.ordinal(base, place.slot),
            payload,
            prefix,
            record: segment.record(place.slot),
        })
    }

    /// The message at a place whose predecessor is known; cheaper than [`Store::get`].
    pub(crate) fn get_after(
        &self,
        place: Place,
        previous: Option<(Place, Id)>,
    ) -> Option<Stored<'_>> {
        let (base, segment) = self.segment(place.entry)?;
        let id = match previous {
            Some((before, id)) if before.entry == place.entry && before.slot + 1 == place.slot => {
                segment.id_after(base, place.slot, id)
            }
            _ => segment.id(base, place.slot),
        };
        let (prefix, payload) = segment.message(place.slot);
        Some(Stored {
            id,
            ordinal: segment.ordinal(base, place.slot),
            payload,
            prefix,
            record: segment.record(place.slot),
        })
    }

    /// The first place at or behind this one that holds a message.
    pub(crate) fn live_from(&self, place: Place) -> Option<Place> {
        std::iter::successors(Some(place), |&p| self.after(p)).find(|&p| self.record(p) != GONE)
    }

    /// Every message, in ID order.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Stored<'_>> {
        let mut previous = None;
        std::iter::successors(self.place_from(0, 0), |&p| self.after(p))
            .filter(|&p| self.record(p) != GONE)
            .filter_map(move |p| {
                let message = self.get_after(p, previous)?;
                previous = Some((p, message.id));
                Some(message)
            })
    }

    // ---- changing ----

    /// Sets the record of the message at a place.
    pub(crate) fn set_record(&mut self, place: Place, record: u32) {
        let sealed = place.entry + 1 < self.entries.len();
        if let Some(segment) = self.segment_mut(place.entry) {
            let before = segment.heap();
            segment.set_record(place.slot, record, sealed);
            let after = segment.heap();
            self.heap = self.heap + after - before;
        }
    }

    /// Gives plain messages the records that `number` says, from a place to the end of its segment, or to where it says
    /// none.
    pub(crate) fn enlist(
        &mut self,
        place: Place,
        mut number: impl FnMut(&Stored<'_>) -> Option<u32>,
    ) {
        let sealed = place.entry + 1 < self.entries.len();
        let Some(entry) = self.entries.get_mut(place.entry) else {
            return;
        };
        let (base, Some(segment)) = (entry.base, entry.segment.as_deref_mut()) else {
            return;
        };
        let (before, mut previous) = (segment.heap(), None);
        for slot in place.slot..segment.slots() {
            if segment.record(slot) != NONE {
                previous = None;
                continue;
            }
            let id = match previous {
                Some(id) => segment.id_after(base, slot, id),
                None => segment.id(base, slot),
            };
            let (prefix, payload) = segment.message(slot);
            let message = Stored {
                id,
                ordinal: segment.ordinal(base, slot),
                payload,
                prefix,
                record: NONE,
            };
            let Some(record) = number(&message) else {
                break;
            };
            segment.set_record(slot, record, sealed);
            previous = Some(id);
        }
        self.heap = self.heap + segment.heap() - before;
    }

    fn segment_mut(&mut self, entry: usize) -> Option<&mut Segment> {
        self.entries.get_mut(entry)?.segment.as_deref_mut()
    }

    /// Whether the message at a place has fields.
    pub(crate) fn is_extended(&self, place: Place) -> bool {
        self.segment(place.entry)
            .is_some_and(|(_, segment)| segment.is_extended(place.slot))
    }

    /// Lets go of the message at a place; the bytes of its fields and payload. Other places are no longer good afterwards.
    pub(crate) fn remove(&mut self, place: Place) -> u64 {
        let sealed = place.entry + 1 < self.entries.len();
        let Some(segment) = self.segment_mut(place.entry) else {
            return 0;
        };
        let before = segment.heap();
        let stored = segment.remove(place.slot, sealed);
        let live = segment.live();
        if live == 0 && !sealed {
            segment.reset(Layout::Dense);
        }
        let after = segment.heap();
        self.heap = self.heap + after - before;
        self.live -= 1;
        if live == 0 && sealed {
            self.drop_segment(place.entry);
        }
        stored as u64
    }

    fn drop_segment(&mut self, entry: usize) {
        if let Some(segment) = self.entries.get_mut(entry).and_then(|e| e.segment.take()) {
            self.heap -= segment.heap();
            self.holes += 1;
        }
        while self.entries.front().is_some_and(|e| e.segment.is_none()) {
            self.entries.pop_front();
            self.holes -= 1;
        }
        if self.holes > 16 && self.holes * 2 > self.entries.len() {
            self.entries.retain(|e| e.segment.is_some());
            self.holes = 0;
        }
        let capacity = self.entries.capacity();
        if capacity > 16 && self.entries.len() * 4 < capacity {
            self.entries.shrink_to(self.entries.len() * 2);
        }
    }

    /// Rewrites a segment that is mostly dead, together with the one before where both fit half a
    /// page, so that a stuck message pins neither the page nor the slots of its neighbours. The
    /// open last segment is left alone. Places are no longer good afterwards.
    pub(crate) fn compact(&mut self, id: Id, mut hint: Hint) {
        let Some(entry) = self.search(&mut hint, |base| base.id <= id) else {
            return;
        };
        if entry + 1 >= self.entries.len() {
            return;
        }
        let Some((_, segment)) = self.segment(entry) else {
            return;
        };
        if !segment.is_wasteful() {
            return;
        }
        let size = segment.compact_size();
        match self.small_neighbour(entry, PAGE / 2 - size.min(PAGE / 2)) {
            Some(neighbour) => self.merge(neighbour, entry),
            None => self.merge(entry, entry),
        }
    }

    /// The segment before, when its live messages take at most `room` bytes.
    fn small_neighbour(&self, entry: usize, room: usize) -> Option<usize> {
        // Holes lie between; a few steps are enough to find what is there to be found.
        (entry.saturating_sub(8)..entry)
            .rev()
            .find(|&i| self.segment(i).is_some())
            .filter(|&i| {
                self.segment(i)
                    .is_some_and(|(_, s)| s.compact_size() <= room)
            })
    }

    /// Replaces the segments from `first` to `last`, the only ones between them, by one at `last`.
    fn merge(&mut self, first: usize, last: usize) {
        let mut taken: Vec<(usize, Base, Box<Segment>)> = Vec::with_capacity(2);
        for entry in [first, last] {
            if let Some(e) = self.entries.get_mut(entry)
                && let Some(segment) = e.segment.take()
            {
                self.heap -= segment.heap();
                taken.push((entry, e.base, segment));
            }
        }
        let mut parts: Vec<(Base, &mut Segment)> = taken
            .iter_mut()
            .map(|(_, base, segment)| (*base, &mut **segment))
            .collect();
        let Some(merged) = Segment::merge(&mut parts) else {
            // Too far apart to share a base: back as they were.
            for (entry, _, segment) in taken {
                self.heap += segment.heap();
                if let Some(e) = self.entries.get_mut(entry) {
                    e.segment = Some(segment);
                }
            }
            return;
        };
        self.heap += merged.heap();
        let base = self.entries[first].base;
        self.entries
            .range_mut(first..=last)
            .for_each(|e| e.base = base);
        self.entries[last].segment = Some(Box::new(merged));
        if first != last {
            self.holes += 1;
            self.drop_segment(first);
        }
    }

    /// What must hold between two operations; see the head of this file.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (mut live, mut heap, mut holes) = (0, 0, 0);
        for (i, entry) in self.entries.iter().enumerate() {
            if let Some(next) = self.entries.get(i + 1) {
                ensure(entry.base.id <= next.base.id, "bases fall by ID")?;
                ensure(
                    entry.base.ordinal <= next.base.ordinal,
                    "bases fall by ordinal",
                )?;
            }
            let Some(segment) = entry.segment.as_deref() else {
                holes += 1;
                continue;
            };
            segment.check(entry.base)?;
            live += segment.live() as u64;
            heap += segment.heap();
            let last = i + 1 == self.entries.len();
            ensure(
                last || segment.live() > 0,
                "an empty segment before the last",
            )?;
            if let (Some(slot), Some(next)) =
                (segment.slots().checked_sub(1), self.entries.get(i + 1))
            {
                ensure(
                    segment.id(entry.base, slot) < next.base.id,
                    "a message above the next base",
                )?;
            }
        }
        ensure(
            self.entries.front().is_none_or(|e| e.segment.is_some()),
            "a hole in front",
        )?;
        ensure(live == self.live, "live messages do not add up")?;
        ensure(heap == self.heap, "bytes do not add up")?;
        ensure(holes == self.holes, "holes do not add up")
    }
}
