//! Messages in the order of a time: an ordered set of pairs of time and ordinal.
//!
//! Twelve bytes a pair, in leaves of up to [`LEAF`] pairs that grow by little, so that a scheduled message costs hardly
//! more than its pair. Pairs that come in their order fill leaves to the end.
//!
//! Invariants: leaves are not empty; pairs grow within a leaf and from leaf to leaf.

use std::collections::VecDeque;

use crate::invariants::ensure;

/// Most pairs of a leaf.
const LEAF: usize = 512;
/// Pairs that a leaf grows by.
const STEP: usize = 64;

/// A time and an ordinal, 48 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    time_high: u16,
    ordinal_high: u16,
    time_low: u32,
    ordinal_low: u32,
}

const _: () = assert!(size_of::<Pair>() == 12);

impl Pair {
    fn new((time, ordinal): (u64, u64)) -> Self {
        Self {
            time_high: (time >> 32) as u16,
            ordinal_high: (ordinal >> 32) as u16,
            time_low: time as u32,
            ordinal_low: ordinal as u32,
        }
    }

    fn get(self) -> (u64, u64) {
        (
            u64::from(self.time_high) << 32 | u64::from(self.time_low),
            u64::from(self.ordinal_high) << 32 | u64::from(self.ordinal_low),
        )
    }
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    leaves: VecDeque<Vec<Pair>>,
    /// Pairs of the first leaf that were taken off its front.
    taken: usize,
    length: usize,
    /// Pairs that leaves have room for.
    room: usize,
}

impl Clone for Index {
    fn clone(&self) -> Self {
        let leaves = self.leaves.clone();
        // A copy has less room to spare.
        Self {
            room: leaves.iter().map(Vec::capacity).sum(),
            leaves,
            ..*self
        }
    }
}

impl Index {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Bytes allocated.
    pub(crate) fn heap(&self) -> usize {
        self.room * size_of::<Pair>() + self.leaves.capacity() * size_of::<Vec<Pair>>()
    }

    pub(crate) fn first(&self) -> Option<(u64, u64)> {
        Some(self.leaves.front()?.get(self.taken)?.get())
    }

    /// All pairs, in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let pairs = self.leaves.iter().flatten().skip(self.taken);
        pairs.map(|pair| pair.get())
    }

    /// The leaf that holds a pair, or would.
    fn leaf(&self, pair: (u64, u64)) -> usize {
        let after = |leaf: &Vec<Pair>| leaf.first().is_some_and(|first| first.get() <= pair);
        self.leaves.partition_point(after).saturating_sub(1)
    }

    /// Adds a pair; false when it is there already.
    pub(crate) fn insert(&mut self, time: u64, ordinal: u64) -> bool {
        let pair = (time, ordinal);
        if self.leaves.is_empty() {
            self.leaves.push_back(Vec::new());
        }
        let mut at = self.leaf(pair);
        if at == 0 {
            self.settle_front();
        }
        let position = match self.search(at, pair) {
            Ok(_) => return false,
            Err(position) => position,
        };
        let mut position = position;
        if self.leaves[at].len() == LEAF {
            let last = at + 1 == self.leaves.len();
            // What comes in order leaves full leaves behind.
            let cut = if last && position == LEAF {
                LEAF
            } else {
                LEAF / 2
            };
            let right = self.leaves[at].split_off(cut);
            self.room += right.capacity();
            self.fit(at);
            self.leaves.insert(at + 1, right);
            if position >= cut && (position > cut || cut == LEAF) {
                (at, position) = (at + 1, position - cut);
            }
        }
        let leaf = &mut self.leaves[at];
        if leaf.len() == leaf.capacity() {
            let before = leaf.capacity();
            leaf.reserve_exact(if before == 0 { 4 } else { before.min(STEP) });
            self.room += leaf.capacity() - before;
        }
        leaf.insert(position, Pair::new(pair));
        self.length += 1;
        true
    }

    fn search(&self, leaf: usize, pair: (u64, u64)) -> Result<usize, usize> {
        self.leaves[leaf].binary_search_by(|probe| probe.get().cmp(&pair))
    }

    /// Gives back the room of a leaf that lost pairs.
    fn fit(&mut self, at: usize) {
        let leaf = &mut self.leaves[at];
        let before = leaf.capacity();
        if before > leaf.len() + 2 * STEP {
            leaf.shrink_to(leaf.len() + STEP / 2);
            self.room = self.room + leaf.capacity() - before;
        }
    }

    /// Really takes off what was taken off the front.
    fn settle_front(&mut self) {
        let taken = std::mem::take(&mut self.taken);
        if taken > 0
            && let Some(leaf) = self.leaves.front_mut()
        {
            leaf.drain(..taken);
        }
    }

    /// Takes a pair out; false when it is not there.
    pub(crate) fn remove(&mut self, time: u64, ordinal: u64) -> bool {
        if self.leaves.is_empty() {
            return false;
        }
        let at = self.leaf((time, ordinal));
        if at == 0 {
            self.settle_front();
        }
        let Ok(position) = self.search(at, (time, ordinal)) else {
            return false;
        };
        self.leaves[at].remove(position);
        self.length -= 1;
        self.drop_if_empty(at);
        true
    }

    fn drop_if_empty(&mut self, at: usize) {
        if self.leaves[at].is_empty() {
            if let Some(leaf) = self.leaves.remove(at) {
                self.room -= leaf.capacity();
            }
            if self.leaves.len() * 4 < self.leaves.capacity() && self.leaves.capacity() > 16 {
                self.leaves.shrink_to(self.leaves.len() * 2);
            }
        } else {
            self.fit(at);
        }
    }

    /// Takes the first pair.
    pub(crate) fn pop_first(&mut self) -> Option<(u64, u64)> {
        let first = self.first()?;
        self.taken += 1;
        self.length -= 1;
        if self.taken == self.leaves.front().map_or(0, Vec::len) {
            self.taken = 0;
            if let Some(leaf) = self.leaves.pop_front() {
                self.room -= leaf.capacity();
            }
            if self.leaves.len() * 4 < self.leaves.capacity() && self.leaves.capacity() > 16 {
                self.leaves.shrink_to(self.leaves.len() * 2);
            }
        }
        Some(first)
    }

    /// Keeps only some pairs.
    pub(crate) fn retain(&mut self, keep: impl Fn(u64, u64) -> bool) {
        let kept: Vec<(u64, u64)> = self.iter().filter(|&(t, o)| keep(t, o)).collect();
        *self = Self::default();
        for (time, ordinal) in kept {
            self.insert(time, ordinal);
        }
    }

    /// What must hold between two operations; see the head of this file.
    pub(crate) fn check(&self) -> Result<(), String> {
        let room: usize = self.leaves.iter().map(Vec::capacity).sum();
        ensure(room == self.room, "room for pairs does not add up")?;
        ensure(
            self.leaves.iter().all(|leaf| !leaf.is_empty()),
            "an empty leaf",
        )?;
        ensure(self.iter().count() == self.length, "pairs do not add up")?;
        let ordered = self.iter().zip(self.iter().skip(1)).all(|(a, b)| a < b);
        ensure(ordered, "pairs are not in order")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn behaves_as_an_ordered_set(steps in prop::collection::vec((0u8..6, 0u64..3000, 0u64..4), 1..3000)) {
            let (mut index, mut model) = (Index::default(), BTreeSet::new());
            for (what, time, ordinal) in steps {
                match what {
                    0..=2 => assert_eq!(index.insert(time, ordinal), model.insert((time, ordinal))),
                    3 => assert_eq!(index.remove(time, ordinal), model.remove(&(time, ordinal))),
                    4 => assert_eq!(index.pop_first(), model.pop_first()),
                    _ => assert_eq!(index.first(), model.first().copied()),
                }
            }
            index.check().unwrap();
            assert!(index.iter().eq(model.iter().copied()));
            index.retain(|time, _| time % 2 == 0);
            index.check().unwrap();
            assert!(index.iter().eq(model.iter().copied().filter(|(time, _)| time % 2 == 0)));
        }
    }

    #[test]
    fn a_pair_costs_little_in_any_order() {
        for random in [false, true] {
            let mut index = Index::default();
            for n in 0..200_000u64 {
                let time = if random {
                    n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20
                } else {
                    n
                };
                index.insert(time, n);
            }
            let each = index.heap() as f64 / 200_000.0;
            assert!(each < 14.0, "{each} bytes a pair");
            while index.pop_first().is_some() {}
            assert!(index.heap() < 2000, "{}", index.heap());
        }
    }
}
