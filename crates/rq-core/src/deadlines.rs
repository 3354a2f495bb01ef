//! Records in the order of their explicit deadlines: an ordered set of record numbers.
//!
//! Four bytes a record, in leaves of up to [`LEAF`] that grow by little; what they are ordered by, deadline and then ordinal,
//! is with the records. A leaf keeps the key of its first record, so that only the records of one leaf are looked at.
//!
//! Invariants: leaves are not empty; keys grow within a leaf and from leaf to leaf; a leaf's key is that of its first record.

use std::collections::VecDeque;

use crate::invariants::ensure;
use crate::record::Records;

/// Most records of a leaf.
const LEAF: usize = 512;
/// Records that a leaf grows by.
const STEP: usize = 64;

/// A deadline and an ordinal.
type Key = (u64, u64);

#[derive(Debug, Clone)]
struct Leaf {
    /// That of the first record.
    key: Key,
    numbers: Vec<u32>,
}

#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    leaves: VecDeque<Leaf>,
    length: usize,
    /// Numbers that leaves have room for.
    room: usize,
}

impl Clone for Deadlines {
    fn clone(&self) -> Self {
        let leaves = self.leaves.clone();
        // A copy has less room to spare.
        Self {
            room: leaves.iter().map(|leaf| leaf.numbers.capacity()).sum(),
            leaves,
            ..*self
        }
    }
}

/// What a record is ordered by.
fn key(records: &Records, number: u32) -> Key {
    let ordinal = records.get(number).map_or(0, |record| record.ordinal());
    (records.deadline(number), ordinal)
}

impl Deadlines {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Bytes allocated.
    pub(crate) fn heap(&self) -> usize {
        self.room * size_of::<u32>() + self.leaves.capacity() * size_of::<Leaf>()
    }

    /// The earliest deadline.
    pub(crate) fn first(&self) -> Option<u64> {
        self.leaves.front().map(|leaf| leaf.key.0)
    }

    /// Deadlines and ordinals, in their order.
    pub(crate) fn iter<'a>(&'a self, records: &'a Records) -> impl Iterator<Item = Key> + 'a {
        let numbers = self.leaves.iter().flat_map(|leaf| &leaf.numbers);
        numbers.map(|&number| key(records, number))
    }

    /// The leaf that holds a key, or would.
    fn leaf(&self, key: Key) -> usize {
        let after = self.leaves.partition_point(|leaf| leaf.key <= key);
        after.saturating_sub(1)
    }

    /// Adds a record, which has its deadline.
    pub(crate) fn insert(&mut self, records: &Records, number: u32) {
        let new = key(records, number);
        if self.leaves.is_empty() {
            self.leaves.push_back(Leaf {
                key: new,
                numbers: Vec::new(),
            });
        }
        let mut at = self.leaf(new);
        let numbers = &self.leaves[at].numbers;
        let mut position = numbers.partition_point(|&n| key(records, n) < new);
        if numbers.len() == LEAF {
            let last = at + 1 == self.leaves.len();
            // What comes in order leaves full leaves behind.
            let cut = if last && position == LEAF {
                LEAF
            } else {
                LEAF / 2
            };
            let right = self.leaves[at].numbers.split_off(cut);
            self.room += right.capacity();
            self.fit(at);
            let first = right.first().map_or(new, |&n| key(records, n));
            self.leaves.insert(
                at + 1,
                Leaf {
                    key: first,
                    numbers: right,
                },
            );
            if position >= cut && (position > cut || cut == LEAF) {
                (at, position) = (at + 1, position - cut);
            }
        }
        let leaf = &mut self.leaves[at];
        if leaf.numbers.len() == leaf.numbers.capacity() {
            let before = leaf.numbers.capacity();
            let more = if before == 0 { 4 } else { before.min(STEP) };
            leaf.numbers.reserve_exact(more);
            self.room += leaf.numbers.capacity() - before;
        }
        leaf.numbers.insert(position, number);
        if position == 0 {
            leaf.key = new;
        }
        self.length += 1;
    }

    /// Takes a record out, which still has its deadline.
    pub(crate) fn remove(&mut self, records: &Records, number: u32) {
        let old = key(records, number);
        let at = self.leaf(old);
        let Some(leaf) = self.leaves.get_mut(at) else {
            return;
        };
        let position = (leaf.numbers).partition_point(|&n| key(records, n) < old);
        if leaf.numbers.get(position) != Some(&number) {
            return;
        }
        leaf.numbers.remove(position);
        self.length -= 1;
        match leaf.numbers.first() {
            None => {
                self.room -= leaf.numbers.capacity();
                self.leaves.remove(at);
                let (length, capacity) = (self.leaves.len(), self.leaves.capacity());
                if capacity > 16 && length * 4 < capacity {
                    self.leaves.shrink_to(length * 2);
                }
            }
            Some(&first) => {
                if position == 0 {
                    leaf.key = key(records, first);
                }
                self.fit(at);
            }
        }
    }

    /// A record has another number, and is found by that already.
    pub(crate) fn renumber(&mut self, records: &Records, from: u32, to: u32) {
        let at = self.leaf(key(records, to));
        let numbers = self.leaves.get_mut(at).map(|leaf| &mut leaf.numbers);
        // The old number is no record any more, so that order does not lead to it.
        let found = numbers.and_then(|numbers| numbers.iter_mut().find(|n| **n == from));
        if let Some(number) = found {
            *number = to;
        }
    }

    /// Gives back the room of a leaf that lost records.
    fn fit(&mut self, at: usize) {
        let numbers = &mut self.leaves[at].numbers;
        let before = numbers.capacity();
        if before > numbers.len() + 2 * STEP {
            numbers.shrink_to(numbers.len() + STEP / 2);
            self.room = self.room + numbers.capacity() - before;
        }
    }

    /// What must hold between two operations; see the head of this file.
    pub(crate) fn check(&self, records: &Records) -> Result<(), String> {
        let room: usize = self.leaves.iter().map(|leaf| leaf.numbers.capacity()).sum();
        ensure(room == self.room, "room for deadlines does not add up")?;
        for leaf in &self.leaves {
            let first = leaf.numbers.first().ok_or("an empty leaf of deadlines")?;
            ensure(leaf.key == key(records, *first), "a leaf has another key")?;
        }
        let all: Vec<Key> = self.iter(records).collect();
        ensure(all.len() == self.length, "deadlines do not add up")?;
        ensure(
            all.is_sorted_by(|a, b| a < b),
            "deadlines are not in their order",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn behaves_as_an_ordered_set(steps in prop::collection::vec((0u8..4, 0u32..3000, 1u64..9), 1..4000)) {
            let (mut records, mut deadlines, mut model) = (Records::default(), Deadlines::default(), BTreeSet::new());
            for n in 0..3000 {
                records.insert(Record::new(n, 0, 1, 0));
            }
            for (what, number, deadline) in steps {
                let old = records.deadline(number);
                if old > 0 {
                    deadlines.remove(&records, number);
                    prop_assert!(model.remove(&(old, u64::from(number))));
                    records.set_deadline(number, 0);
                }
                if what > 0 {
                    records.set_deadline(number, deadline);
                    deadlines.insert(&records, number);
                    model.insert((deadline, u64::from(number)));
                }
                prop_assert_eq!(deadlines.first(), model.first().map(|&(deadline, _)| deadline));
            }
            deadlines.check(&records).unwrap();
            prop_assert!(deadlines.iter(&records).eq(model.iter().copied()));
        }
    }

    #[test]
    fn a_deadline_costs_little_in_any_order() {
        for random in [false, true] {
            let (mut records, mut deadlines) = (Records::default(), Deadlines::default());
            let numbers: Vec<u32> = (0..200_000)
                .map(|n| records.insert(Record::new(n, 0, 1, 0)))
                .collect();
            for &number in &numbers {
                let n = u64::from(number);
                let drawn = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
                records.set_deadline(number, if random { drawn + 1 } else { n + 1 });
                deadlines.insert(&records, number);
            }
            let each = deadlines.heap() as f64 / 200_000.0;
            assert!(each < 4.8, "{each} bytes a record");
            for &number in &numbers {
                deadlines.remove(&records, number);
            }
            assert!(deadlines.heap() < 2000, "{}", deadlines.heap());
        }
    }
}
