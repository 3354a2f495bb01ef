//! One record per message from its first delivery until it is gone, in chunks that are given back.
//!
//! A record says where its message stands ([`Place`]), so that counts survive every move. What few records have, an
//! explicit deadline or a named consumer, lies beside in arrays that a chunk gets when it first needs them.
//!
//! Records are numbered. Chunks hold 1,024 of them (28 KiB, a size class of common allocators);
//! the only chunk of a small queue grows from little. New records go to the lowest chunk with room; a
//! chunk without records is freed, and when most of the room is unused, records move out of the
//! highest chunk ([`Records::relocation`]), so that stuck messages do not pin what is around them.
//!
//! Invariants: `live` is the number of records in use, in a chunk and in all; a chunk with room
//! has its bit in `open`; the last chunk has records, unless it is the only one, and small.

use std::collections::BTreeMap;

use crate::invariants::ensure;

/// In place of a record number: no record.
pub(crate) const NIL: u32 = u32::MAX;

const CHUNK: usize = 1024;
/// In place of a deadline: it is in [`Records::far`].
const FAR: u32 = u32::MAX;
const FIRST: usize = 4;

/// Where the message of a record stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// There is no message.
    Free,
    /// In the lists of `delivered`, by its links.
    Delivered,
    /// Returned, in a lane.
    Returned,
    /// In the schedule, to be returned. Its explicit deadline is when it is due.
    Retry,
    /// Redriven, in a lane.
    Redriven,
    /// Among the dead letters. Its links are the letter's number.
    Dead,
}

const CLASS: u8 = 0b0001_1111;
/// The delivery was not begun.
pub(crate) const PREFETCHED: u8 = 0b0010_0000;
/// The deadline is explicit, and does not follow from the list.
pub(crate) const EXTENDED: u8 = 0b0100_0000;
/// A named consumer holds it.
pub(crate) const HELD: u8 = 0b1000_0000;

/// What is known of a message beside its payload, once it was delivered. 28 bytes.
///
/// To add a field: here, in the snapshot's records, and in `docs/format.md`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    /// Neighbours in a delivered list; `next` also chains the free records of a chunk.
    pub(crate) previous: u32,
    pub(crate) next: u32,
    ordinal_low: u32,
    time_low: u32,
    /// How often the message was delivered.
    pub(crate) deliveries: u32,
    ordinal_high: u16,
    time_high: u16,
    /// How often a delivery came to nothing: apart from deliveries, so that a crash can be told
    /// from a refusal.
    pub(crate) failures: u16,
    /// Where the message stands.
    pub(crate) place: Place,
    /// Which delivered list it is in, and the flags above.
    flags: u8,
}

const _: () = assert!(size_of::<Record>() == 28);

impl Record {
    const FREE: Record = Record {
        previous: NIL,
        next: NIL,
        ordinal_low: 0,
        time_low: 0,
        deliveries: 0,
        ordinal_high: 0,
        time_high: 0,
        failures: 0,
        place: Place::Free,
        flags: 0,
    };

    /// A record of a delivery, in no list yet. Ordinal and time have 48 bits.
    pub(crate) fn new(ordinal: u64, time: u64, deliveries: u32, failures: u16) -> Self {
        let mut record = Self {
            ordinal_low: ordinal as u32,
            ordinal_high: (ordinal >> 32) as u16,
            deliveries,
            failures,
            place: Place::Delivered,
            ..Self::FREE
        };
        record.set_time(time);
        record
    }

    pub(crate) fn ordinal(&self) -> u64 {
        u64::from(self.ordinal_high) << 32 | u64::from(self.ordinal_low)
    }

    /// Milliseconds of the last delivery.
    pub(crate) fn time(&self) -> u64 {
        u64::from(self.time_high) << 32 | u64::from(self.time_low)
    }

    /// Which delivered list it is in.
    pub(crate) fn class(&self) -> usize {
        usize::from(self.flags & CLASS)
    }

    /// Makes it the last one of a delivered list, behind `tail`.
    pub(crate) fn link_behind(&mut self, tail: u32, class: usize) {
        (self.previous, self.next) = (tail, NIL);
        self.flags = self.flags & !(CLASS | EXTENDED) | class as u8 & CLASS;
    }

    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn set(&mut self, flag: u8, holds: bool) {
        self.flags = if holds {
            self.flags | flag
        } else {
            self.flags & !flag
        };
    }

    /// The links as one number, for a record that is in no list.
    pub(crate) fn number(&self) -> u64 {
        u64::from(self.previous) << 32 | u64::from(self.next)
    }

    pub(crate) fn set_number(&mut self, number: u64) {
        (self.previous, self.next) = ((number >> 32) as u32, number as u32);
    }

    pub(crate) fn set_time(&mut self, time: u64) {
        self.time_low = time as u32;
        self.time_high = (time >> 32) as u16;
    }
}

/// That a named consumer holds a message: which, and the neighbours in its list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holding {
    pub(crate) consumer: u32,
    pub(crate) previous: u32,
    pub(crate) next: u32,
}

impl Holding {
    pub(crate) const NONE: Holding = Holding {
        consumer: NIL,
        previous: NIL,
        next: NIL,
    };
}

#[derive(Debug)]
struct Chunk {
    records: Vec<Record>,
    /// Explicit deadlines by index, up to the last one that has or had one: 0 for none, milliseconds since the last delivery
    /// and 1, or [`FAR`].
    deadlines: Vec<u32>,
    /// Who holds them, likewise.
    holdings: Vec<Holding>,
    /// First of the chain of free records, as an index into the chunk.
    free: u32,
    live: u32,
}

impl Clone for Chunk {
    fn clone(&self) -> Self {
        // With the same room: a chunk is open as long as it has some.
        let mut records = Vec::with_capacity(self.records.capacity());
        records.extend_from_slice(&self.records);
        Self {
            records,
            deadlines: self.deadlines.clone(),
            holdings: self.holdings.clone(),
            ..*self
        }
    }
}

impl Chunk {
    /// Bytes of the arrays beside the records.
    fn beside(&self) -> usize {
        self.deadlines.capacity() * size_of::<u32>()
            + self.holdings.capacity() * size_of::<Holding>()
    }

    const EMPTY: Chunk = Chunk {
        records: Vec::new(),
        deadlines: Vec::new(),
        holdings: Vec::new(),
        free: NIL,
        live: 0,
    };
}

#[derive(Debug, Default)]
pub(crate) struct Records {
    chunks: Vec<Chunk>,
    /// A bit for each chunk with room.
    open: Vec<u64>,
    /// No chunk below this word of `open` has room.
    low: usize,
    /// Numbers of chunks whose memory was freed, all below the last.
    vacant: Vec<u32>,
    live: usize,
    /// Records that the chunks have room for.
    room: usize,
    /// Bytes of the arrays beside the records.
    beside: usize,
    /// Where the search for a record to move goes on, as an index into the last chunk.
    sweep: usize,
    /// Deadlines that are too far from the last delivery to lie beside the record: 49 days.
    far: BTreeMap<u32, u64>,
}

/// A record that moved: whoever knows it by its old number must learn the new one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relocation {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) record: Record,
}

impl Clone for Records {
    fn clone(&self) -> Self {
        let chunks = self.chunks.clone();
        Self {
            beside: chunks.iter().map(Chunk::beside).sum(),
            chunks,
            open: self.open.clone(),
            vacant: self.vacant.clone(),
            far: self.far.clone(),
            ..*self
        }
    }
}

impl Records {
    pub(crate) fn live(&self) -> usize {
        self.live
    }

    /// Bytes allocated.
    pub(crate) fn heap(&self) -> usize {
        self.chunks.capacity() * size_of::<Chunk>()
            + self.open.capacity() * 8
            + self.vacant.capacity() * 4
            + self.room * size_of::<Record>()
            + self.beside
            + self.far.len() * 24
    }

    fn split(number: u32) -> (usize, usize) {
        (number as usize / CHUNK, number as usize % CHUNK)
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Record> {
        let (chunk, index) = Self::split(number);
        self.chunks.get(chunk)?.records.get(index)
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Record> {
        let (chunk, index) = Self::split(number);
        self.chunks.get_mut(chunk)?.records.get_mut(index)
    }

    /// The explicit deadline of a record; 0 when it has none.
    pub(crate) fn deadline(&self, number: u32) -> u64 {
        let (chunk, index) = Self::split(number);
        let Some(chunk) = self.chunks.get(chunk) else {
            return 0;
        };
        match chunk.deadlines.get(index) {
            None | Some(0) => 0,
            Some(&FAR) => self.far.get(&number).copied().unwrap_or(0),
            Some(&after) => chunk.records.get(index).map_or(0, Record::time) + u64::from(after) - 1,
        }
    }

    /// Gives a record an explicit deadline, 0 for none. Until that is taken away, its last delivery must stay.
    pub(crate) fn set_deadline(&mut self, number: u32, deadline: u64) {
        let time = self.get(number).map_or(0, Record::time);
        let after = deadline
            .checked_sub(time)
            .and_then(|n| u32::try_from(n + 1).ok());
        let after = match deadline {
            0 => 0,
            _ => after.unwrap_or(FAR),
        };
        if !self.far.is_empty() {
            self.far.remove(&number);
        }
        if after == FAR {
            self.far.insert(number, deadline);
        }
        self.set_beside(number, after, 0, |chunk| &mut chunk.deadlines);
    }

    /// Who holds the message of a record by name.
    pub(crate) fn holding(&self, number: u32) -> Holding {
        let (chunk, index) = Self::split(number);
        let chunk = self.chunks.get(chunk);
        chunk.map_or(Holding::NONE, |chunk| {
            chunk.holdings.get(index).copied().unwrap_or(Holding::NONE)
        })
    }

    pub(crate) fn set_holding(&mut self, number: u32, holding: Holding) {
        self.set_beside(number, holding, Holding::NONE, |chunk| &mut chunk.holdings);
    }

    fn set_beside<T: Clone>(
        &mut self,
        number: u32,
        value: T,
        none: T,
        array: impl Fn(&mut Chunk) -> &mut Vec<T>,
    ) {
        let (at, index) = Self::split(number);
        let Some(chunk) = self.chunks.get_mut(at) else {
            return;
        };
        let (before, room) = (chunk.beside(), chunk.records.capacity());
        let values = array(chunk);
        if values.len() <= index {
            values.reserve_exact(room.max(index + 1) - values.len());
            values.resize(index + 1, none);
        }
        values[index] = value;
        self.beside = self.beside + chunk.beside() - before;
    }

    // ---- taking and giving back ----

    /// Stores a record and gives its number.
    pub(crate) fn insert(&mut self, record: Record) -> u32 {
        let number = self.lowest_open().unwrap_or_else(|| self.add_room());
        let chunk = &mut self.chunks[number];
        let index = chunk.free;
        if index == NIL {
            chunk.records.push(record);
        } else {
            let slot = &mut chunk.records[index as usize];
            chunk.free = slot.next;
            *slot = record;
        }
        let index = if index == NIL {
            chunk.records.len() as u32 - 1
        } else {
            index
        };
        chunk.live += 1;
        self.live += 1;
        if chunk.live as usize == chunk.records.capacity().min(CHUNK) {
            self.mark(number, false);
        }
        (number * CHUNK) as u32 + index
    }

    /// Gives a record back.
    pub(crate) fn remove(&mut self, number: u32) {
        let (at, index) = Self::split(number);
        let chunk = &mut self.chunks[at];
        if let Some(deadline) = chunk.deadlines.get_mut(index)
            && std::mem::take(deadline) == FAR
        {
            self.far.remove(&number);
        }
        chunk.records[index] = Record {
            next: chunk.free,
            ..Record::FREE
        };
        chunk.free = index as u32;
        chunk.live -= 1;
        self.live -= 1;
        let empty = chunk.live == 0;
        self.mark(at, true);
        if empty {
            self.release(at);
        }
    }

    fn lowest_open(&mut self) -> Option<usize> {
        while let Some(&word) = self.open.get(self.low) {
            if word != 0 {
                return Some(self.low * 64 + word.trailing_zeros() as usize);
            }
            self.low += 1;
        }
        None
    }

    fn mark(&mut self, chunk: usize, open: bool) {
        let (word, bit) = (chunk / 64, 1u64 << (chunk % 64));
        if open {
            self.open[word] |= bit;
            self.low = self.low.min(word);
        } else {
            self.open[word] &= !bit;
        }
    }

    /// Room for more records, when every chunk is full: in a chunk that was freed, in a larger
    /// first chunk, or in a new one.
    fn add_room(&mut self) -> usize {
        let growing = self.chunks.len() == 1 && self.room < CHUNK;
        let number = match self.vacant.pop() {
            Some(vacant) => vacant as usize,
            None if growing => 0,
            None => {
                if self.chunks.is_empty() {
                    // Most queues need one only.
                    self.chunks.reserve_exact(1);
                }
                self.chunks.push(Chunk::EMPTY);
                self.open.resize(self.chunks.len().div_ceil(64), 0);
                self.chunks.len() - 1
            }
        };
        let only = self.chunks.len() == 1;
        let chunk = &mut self.chunks[number];
        let before = chunk.records.capacity();
        let wanted = if only {
            (before * 4).clamp(FIRST, CHUNK)
        } else {
            CHUNK
        };
        chunk.records.reserve_exact(wanted - chunk.records.len());
        self.room += chunk.records.capacity() - before;
        self.mark(number, true);
        number
    }

    /// Frees the memory of a chunk without records. The numbers of later chunks stay. An only chunk that is small is kept:
    /// most queues are emptied again and again.
    fn release(&mut self, number: usize) {
        if self.room <= FIRST {
            let chunk = &mut self.chunks[number];
            chunk.records.clear();
            chunk.free = NIL;
            return;
        }
        let chunk = std::mem::replace(&mut self.chunks[number], Chunk::EMPTY);
        self.room -= chunk.records.capacity();
        self.beside -= chunk.beside();
        self.mark(number, false);
        if number + 1 < self.chunks.len() {
            self.vacant.push(number as u32);
            return;
        }
        while self.chunks.last().is_some_and(|c| c.live == 0) {
            self.chunks.pop();
        }
        let length = self.chunks.len();
        self.vacant.retain(|&v| (v as usize) < length);
        self.open.truncate(length.div_ceil(64));
        self.sweep = 0;
        if self.chunks.capacity() > 16 && length * 4 < self.chunks.capacity() {
            self.chunks.shrink_to(length * 2);
            self.vacant.shrink_to(length);
        }
    }

    // ---- moving ----

    /// Moves one record out of the last chunk when less than half of the room is used. Called
    /// after each removal, it does a bounded step.
    pub(crate) fn relocation(&mut self) -> Option<Relocation> {
        let last = self.chunks.len().checked_sub(1)?;
        if last == 0 || self.live * 2 >= self.room || self.lowest_open()? == last {
            return None;
        }
        for _ in 0..8 {
            let index = self.sweep;
            let Some(&record) = self.chunks[last].records.get(index) else {
                self.sweep = 0;
                return None;
            };
            self.sweep += 1;
            if record.place != Place::Free {
                let (from, to) = ((last * CHUNK + index) as u32, self.insert(record));
                let (deadline, holding) = (self.deadline(from), self.holding(from));
                if deadline != 0 {
                    self.set_deadline(to, deadline);
                }
                if record.has(HELD) {
                    self.set_holding(to, holding);
                }
                self.remove(from);
                return Some(Relocation { from, to, record });
            }
        }
        None
    }

    /// What must hold between two operations; see the head of this file.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (mut live, mut room, mut beside) = (0, 0, 0);
        for (number, chunk) in self.chunks.iter().enumerate() {
            let used = chunk
                .records
                .iter()
                .filter(|r| r.place != Place::Free)
                .count();
            ensure(
                used == chunk.live as usize,
                "records of a chunk do not add up",
            )?;
            let open = self.open[number / 64] >> (number % 64) & 1 == 1;
            let has_room = used < chunk.records.capacity();
            ensure(open == has_room, "a chunk's mark of room is wrong")?;
            ensure(
                !open || number / 64 >= self.low,
                "a chunk with room is passed over",
            )?;
            live += used;
            room += chunk.records.capacity();
            beside += chunk.beside();
        }
        let vacant = self
            .chunks
            .iter()
            .filter(|c| c.records.capacity() == 0)
            .count();
        ensure(vacant == self.vacant.len(), "freed chunks do not add up")?;
        ensure(live == self.live, "records do not add up")?;
        ensure(room == self.room, "room for records does not add up")?;
        ensure(beside == self.beside, "arrays beside records do not add up")?;
        ensure(
            self.room <= FIRST || self.chunks.last().is_none_or(|c| c.live > 0),
            "the last chunk is empty",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_given_back_in_any_order() {
        let mut records = Records::default();
        let numbers: Vec<u32> = (0..5000)
            .map(|n| records.insert(Record::new(n, n, 1, 0)))
            .collect();
        assert_eq!(records.live(), 5000);
        records.check().unwrap();
        for &number in numbers
            .iter()
            .step_by(2)
            .chain(numbers.iter().skip(1).step_by(2))
        {
            records.remove(number);
            records.check().unwrap();
        }
        assert_eq!((records.live(), records.room), (0, 0));
    }

    #[test]
    fn records_move_together_when_most_are_gone() {
        let mut records = Records::default();
        let numbers: Vec<u32> = (0..20_000)
            .map(|n| records.insert(Record::new(n, n, 1, 0)))
            .collect();
        let mut place: Vec<u32> = numbers.clone();
        for n in (0..20_000).filter(|n| n % 100 != 0) {
            records.remove(place[n]);
            while let Some(moved) = records.relocation() {
                place[moved.record.ordinal() as usize] = moved.to;
            }
        }
        records.check().unwrap();
        assert_eq!(records.live(), 200);
        assert!(records.room <= 2 * CHUNK, "{}", records.room);
        for n in (0..20_000).step_by(100) {
            assert_eq!(records.get(place[n]).map(Record::ordinal), Some(n as u64));
        }
    }

    #[test]
    fn a_single_record_takes_little() {
        let mut records = Records::default();
        records.insert(Record::new(1, 2, 3, 4));
        assert!(records.heap() < 400, "{}", records.heap());
    }
}
