//! Delivered messages, by their last delivery and by the end of their leases.
//!
//! Leases mostly have one length, so that the order of delivery is the order of deadlines. A record is in one doubly linked
//! list: that of its lease's length. There are few of them; leases of further lengths share one, and have explicit
//! deadlines, as those that were extended. The order of last delivery is the merge of the lists. (At the same
//! millisecond the shorter lease comes first.)
//!
//! Invariants: times never fall in a list; a list's mark is a record of it, or none, and all records before the mark have explicit
//! deadlines; `deadlines` holds exactly the delivered records with explicit deadlines that end.

use crate::deadlines::Deadlines;
use crate::invariants::ensure;
use crate::record::{EXTENDED, NIL, Record, Records};

/// The list of those whose lease does not end.
const ENDLESS: usize = 0;
/// The list of all lengths that have none of their own.
const OTHERS: usize = 15;
/// Extended records that one step passes over: about a millisecond.
const PASSED: usize = 1 << 16;
/// In place of a length: none of its own.
const OTHER: u64 = u64::MAX;

/// The list for leases of a length, and the length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Class(usize, u64);

#[derive(Debug, Clone, Copy)]
struct List {
    /// Milliseconds of the leases.
    length: u64,
    head: u32,
    tail: u32,
    /// The first record whose deadline was not looked at.
    mark: u32,
    count: u64,
}

impl List {
    const EMPTY: List = List {
        length: 0,
        head: NIL,
        tail: NIL,
        mark: NIL,
        count: 0,
    };
}

#[derive(Debug, Clone)]
pub(crate) struct Delivered {
    endless: List,
    /// Those with ends, the list `n` at `n` - 1.
    leased: Vec<List>,
    deadlines: Deadlines,
    count: u64,
}

impl Default for Delivered {
    fn default() -> Self {
        Self {
            endless: List::EMPTY,
            leased: Vec::new(),
            deadlines: Deadlines::default(),
            count: 0,
        }
    }
}

impl Delivered {
    /// Has no list for any length again. There must be no records.
    pub(crate) fn renew(&mut self) {
        self.leased.clear();
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn heap(&self) -> usize {
        self.deadlines.heap() + self.leased.capacity() * size_of::<List>()
    }

    fn list(&self, class: usize) -> Option<&List> {
        match class {
            ENDLESS => Some(&self.endless),
            _ => self.leased.get(class - 1),
        }
    }

    fn list_mut(&mut self, class: usize) -> Option<&mut List> {
        match class {
            ENDLESS => Some(&mut self.endless),
            _ => self.leased.get_mut(class - 1),
        }
    }

    /// The list for leases of a length, 0 for those without end. It is good as long as nothing is taken out.
    pub(crate) fn class(&mut self, length: u64) -> Class {
        Class(self.list_of(length), length)
    }

    fn list_of(&mut self, length: u64) -> usize {
        if length == 0 {
            return ENDLESS;
        }
        // Mostly there is one length.
        if let Some(List { length: own, .. }) = self.leased.first()
            && *own == length
            && length != OTHER
        {
            return 1;
        }
        let own = self.leased.len().min(OTHERS - 1);
        let lists = self.leased.iter().take(own);
        let found = (lists
            .clone()
            .position(|list| list.length == length && list.count > 0))
        .or_else(|| lists.clone().position(|list| list.count == 0))
        .unwrap_or(own);
        if length == OTHER || found == OTHERS - 1 {
            self.leased.resize(OTHERS, List::EMPTY);
            self.leased[OTHERS - 1].length = OTHER;
            return OTHERS;
        }
        if found == self.leased.len() {
            self.leased.push(List::EMPTY);
        }
        self.leased[found].length = length;
        found + 1
    }

    // ---- changing ----

    /// Stores a record of a delivery at the tail of a list.
    pub(crate) fn push(&mut self, records: &mut Records, mut record: Record, class: Class) -> u32 {
        let tail = self.list(class.0).map_or(NIL, |list| list.tail);
        record.link_behind(tail, class.0);
        let number = records.insert(record);
        self.linked(records, number, record.time(), class);
        number
    }

    /// Puts a stored record at the tail of a list.
    pub(crate) fn append(&mut self, records: &mut Records, number: u32, class: Class) {
        let tail = self.list(class.0).map_or(NIL, |list| list.tail);
        if let Some(record) = records.get_mut(number) {
            record.link_behind(tail, class.0);
            let time = record.time();
            self.linked(records, number, time, class);
        }
    }

    /// A record, delivered at a time, was linked behind the tail of a list.
    fn linked(&mut self, records: &mut Records, number: u32, time: u64, class: Class) {
        let Class(class, lease) = class;
        self.count += 1;
        let Some(list) = self.list_mut(class) else {
            return;
        };
        list.count += 1;
        match records.get_mut(list.tail) {
            Some(record) => record.next = number,
            None => list.head = number,
        }
        list.tail = number;
        if list.mark == NIL {
            list.mark = number;
        }
        if class == OTHERS && lease != OTHER {
            self.extend(records, number, time.saturating_add(lease));
        }
    }

    /// Gives a delivered record an explicit deadline, 0 for none.
    pub(crate) fn extend(&mut self, records: &mut Records, number: u32, deadline: u64) {
        self.forget_deadline(records, number);
        let Some(record) = records.get_mut(number) else {
            return;
        };
        record.set(EXTENDED, true);
        records.set_deadline(number, deadline);
        if deadline > 0 {
            self.deadlines.insert(records, number);
        }
    }

    fn forget_deadline(&mut self, records: &mut Records, number: u32) {
        if records.deadline(number) > 0 {
            self.deadlines.remove(records, number);
            records.set_deadline(number, 0);
        }
    }

    /// Takes a record out; it stays stored.
    pub(crate) fn unlink(&mut self, records: &mut Records, number: u32) {
        let Some(&record) = records.get(number) else {
            return;
        };
        if record.has(EXTENDED) {
            self.forget_deadline(records, number);
        }
        let Record { previous, next, .. } = record;
        self.count -= 1;
        let Some(list) = self.list_mut(record.class()) else {
            return;
        };
        list.count -= 1;
        if list.mark == number {
            list.mark = next;
        }
        match records.get_mut(previous) {
            Some(record) => record.next = next,
            None => list.head = next,
        }
        match records.get_mut(next) {
            Some(record) => record.previous = previous,
            None => list.tail = previous,
        }
    }

    /// A record has another number.
    pub(crate) fn renumber(&mut self, records: &mut Records, record: &Record, from: u32, to: u32) {
        if record.has(EXTENDED) {
            self.deadlines.renumber(records, from, to);
        }
        let Some(list) = self.list_mut(record.class()) else {
            return;
        };
        if list.mark == from {
            list.mark = to;
        }
        match records.get_mut(record.previous) {
            Some(record) => record.next = to,
            None => list.head = to,
        }
        match records.get_mut(record.next) {
            Some(record) => record.previous = to,
            None => list.tail = to,
        }
    }

    // ---- leases ----

    /// Milliseconds of a record's lease, as [`Delivered::push`] takes it; its explicit deadline, where it has one.
    pub(crate) fn lease(&self, records: &Records, number: u32) -> (u64, Option<u64>) {
        let Some(record) = records.get(number) else {
            return (0, None);
        };
        let length = self.list(record.class()).map_or(0, |list| list.length);
        let explicit = record.has(EXTENDED).then(|| records.deadline(number));
        (length, explicit)
    }

    /// When the lease of a delivered record ends; 0 for never.
    pub(crate) fn deadline(&self, records: &Records, number: u32) -> u64 {
        match (self.lease(records, number), records.get(number)) {
            ((_, Some(explicit)), _) => explicit,
            ((0 | OTHER, None), _) | (_, None) => 0,
            ((length, None), Some(record)) => record.time().saturating_add(length),
        }
    }

    /// The time of the first lease that may have ended. It may be earlier than the first that has.
    pub(crate) fn next_due(&self, records: &Records) -> Option<u64> {
        let lists = self.leased.iter().filter(|list| list.length != OTHER);
        let ends = lists.filter_map(|list| Some(records.get(list.mark)?.time() + list.length));
        ends.chain(self.deadlines.first()).min()
    }

    /// Ordinals of up to `limit` messages whose leases have ended, in the order of their ends. Those that were extended are
    /// passed over, mostly once, and no more than [`PASSED`] of them at a time.
    pub(crate) fn due(&mut self, records: &Records, now: u64, limit: usize) -> Vec<u64> {
        let mut due: Vec<(u64, u64)> = Vec::new();
        for list in self.leased.iter_mut().filter(|list| list.length != OTHER) {
            let (mut number, mut found, mut passed) = (list.mark, 0, 0);
            while found < limit
                && passed < PASSED
                && let Some(record) = records.get(number)
            {
                let end = record.time().saturating_add(list.length);
                if end > now {
                    break;
                }
                if !record.has(EXTENDED) {
                    due.push((end, record.ordinal()));
                    found += 1;
                } else {
                    passed += 1;
                    if list.mark == number {
                        list.mark = record.next;
                    }
                }
                number = record.next;
            }
        }
        let explicit = (self.deadlines.iter(records)).take_while(|&(end, _)| end <= now);
        due.extend(explicit.take(limit));
        due.sort_unstable();
        due.truncate(limit);
        due.into_iter().map(|(_, ordinal)| ordinal).collect()
    }

    // ---- looking ----

    /// Record numbers in the order of last delivery.
    pub(crate) fn iter<'a>(&self, records: &'a Records) -> Merged<'a> {
        self.merged(records, true)
    }

    /// Record numbers from the latest delivery back.
    pub(crate) fn iter_back<'a>(&self, records: &'a Records) -> Merged<'a> {
        self.merged(records, false)
    }

    fn merged<'a>(&self, records: &'a Records, forward: bool) -> Merged<'a> {
        let all = std::iter::once(&self.endless).chain(&self.leased);
        let ends = all
            .filter(|list| list.count > 0)
            .map(|list| (if forward { list.head } else { list.tail }, list.length));
        Merged {
            records,
            ends: ends.collect(),
            forward,
        }
    }

    /// What must hold between two operations; see the head of this file.
    pub(crate) fn check(&self, records: &Records) -> Result<(), String> {
        let (mut total, mut explicit) = (0, 0);
        for (class, list) in std::iter::once(&self.endless)
            .chain(&self.leased)
            .enumerate()
        {
            let (mut number, mut previous, mut count, mut time, mut marked) =
                (list.head, NIL, 0, 0, false);
            while let Some(record) = records.get(number) {
                count += 1;
                ensure(count <= list.count, "a delivered list does not end")?;
                ensure(record.previous == previous, "a delivered list is torn")?;
                ensure(record.class() == class, "a record is in another list")?;
                ensure(record.time() >= time, "times of delivery fall")?;
                marked |= number == list.mark;
                ensure(
                    marked || record.has(EXTENDED) || list.length == 0,
                    "a mark is too late",
                )?;
                if record.has(EXTENDED) && records.deadline(number) > 0 {
                    explicit += 1;
                }
                (previous, number, time) = (number, record.next, record.time());
            }
            ensure(list.tail == previous, "a delivered list has another tail")?;
            ensure(count == list.count, "a delivered list is short")?;
            total += count;
        }
        self.deadlines.check(records)?;
        ensure(
            explicit == self.deadlines.len(),
            "explicit deadlines do not add up",
        )?;
        ensure(total == self.count, "delivered records do not add up")
    }
}

/// Record numbers of several lists in the order of their times.
pub(crate) struct Merged<'a> {
    records: &'a Records,
    /// The next of each list, and the length of its leases.
    ends: Vec<(u32, u64)>,
    forward: bool,
}

impl Iterator for Merged<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let key = |&(number, length): &(u32, u64)| {
            let time = self.records.get(number).map_or(0, Record::time);
            (time, length)
        };
        let at = match self.ends.len() {
            0 => return None,
            1 => 0,
            _ => {
                let all = 0..self.ends.len();
                let key = |&at: &usize| key(&self.ends[at]);
                let found = if self.forward {
                    all.min_by_key(key)
                } else {
                    all.max_by_key(key)
                };
                found?
            }
        };
        let number = self.ends[at].0;
        let record = self.records.get(number)?;
        let next = if self.forward {
            record.next
        } else {
            record.previous
        };
        if next == NIL {
            self.ends.swap_remove(at);
        } else {
            self.ends[at].0 = next;
        }
        Some(number)
    }
}
