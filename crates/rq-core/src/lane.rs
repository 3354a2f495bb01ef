//! What waits outside the plain order of IDs: by priority, and within one what was returned, pushed to the front, or came
//! to the tail later than its ID says.
//!
//! At priority 0 most messages are in none of these: they wait in the store, by their ordinals. What joined their tail later
//! remembers the next ordinal of then, its *barrier*: it goes before the first plain message at or behind that.
//!
//! A message that is cancelled leaves its entry behind, which is passed over, and swept when more than half are such. An
//! entry is good as long as its message stands where the entry was made: never delivered ([`LINED`]), or redriven.
//!
//! Invariants: `live` counts the good entries of a lane; a lane above 0 without entries is not kept.
//!
//! [`LINED`]: crate::segment::LINED

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A message that came to the tail of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) ordinal: u64,
    /// At priority 0, the next ordinal when it came.
    pub(crate) barrier: u64,
    /// It was redriven, and not delivered for the first time.
    pub(crate) redriven: bool,
}

/// Where in a lane an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Returned,
    Front,
    Line,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Lane {
    pub(crate) returned: BTreeSet<u64>,
    /// The next one last.
    pub(crate) front: VecDeque<u64>,
    pub(crate) line: VecDeque<Entry>,
    /// Good entries.
    live: u64,
}

impl Lane {
    pub(crate) fn live(&self) -> u64 {
        self.live
    }

    fn entries(&self) -> usize {
        self.returned.len() + self.front.len() + self.line.len()
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Lanes {
    base: Lane,
    higher: BTreeMap<u8, Lane>,
    live: u64,
}

impl Lanes {
    /// Messages that wait here.
    pub(crate) fn live(&self) -> u64 {
        self.live
    }

    pub(crate) fn heap(&self) -> usize {
        let lanes = self.iter();
        let bytes = lanes.map(|(_, lane)| {
            lane.returned.len() * 16
                + lane.front.capacity() * 8
                + lane.line.capacity() * size_of::<Entry>()
        });
        bytes.sum::<usize>() + self.higher.len() * 2 * size_of::<Lane>()
    }

    /// Lanes with entries, the highest priority first, 0 always and last.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u8, &Lane)> {
        let higher = self
            .higher
            .iter()
            .rev()
            .map(|(&priority, lane)| (priority, lane));
        higher.chain(std::iter::once((0, &self.base)))
    }

    pub(crate) fn get(&self, priority: u8) -> Option<&Lane> {
        if priority == 0 {
            Some(&self.base)
        } else {
            self.higher.get(&priority)
        }
    }

    fn get_mut(&mut self, priority: u8) -> &mut Lane {
        if priority == 0 {
            &mut self.base
        } else {
            self.higher.entry(priority).or_default()
        }
    }

    // ---- adding ----

    pub(crate) fn push_returned(&mut self, priority: u8, ordinal: u64) {
        let lane = self.get_mut(priority);
        if lane.returned.insert(ordinal) {
            lane.live += 1;
            self.live += 1;
        }
    }

    /// Adds to the front; the messages of one push are added from the last to the first.
    pub(crate) fn push_front(&mut self, priority: u8, ordinal: u64) {
        let lane = self.get_mut(priority);
        lane.front.push_back(ordinal);
        lane.live += 1;
        self.live += 1;
    }

    pub(crate) fn push_line(&mut self, priority: u8, entry: Entry) {
        let lane = self.get_mut(priority);
        lane.line.push_back(entry);
        lane.live += 1;
        self.live += 1;
    }

    // ---- taking ----

    /// Passes over entries at the ends that are not good, and gives the next good one of a lane.
    pub(crate) fn next(
        &mut self,
        priority: u8,
        good: impl Fn(u64, bool) -> bool,
    ) -> Option<(Part, Entry)> {
        let lane = if priority == 0 {
            &mut self.base
        } else {
            self.higher.get_mut(&priority)?
        };
        let plain = |ordinal| Entry {
            ordinal,
            barrier: 0,
            redriven: false,
        };
        if let Some(&ordinal) = lane.returned.first() {
            return Some((Part::Returned, plain(ordinal)));
        }
        while let Some(&ordinal) = lane.front.back() {
            if good(ordinal, false) {
                return Some((Part::Front, plain(ordinal)));
            }
            lane.front.pop_back();
        }
        while let Some(&entry) = lane.line.front() {
            if good(entry.ordinal, entry.redriven) {
                return Some((Part::Line, entry));
            }
            lane.line.pop_front();
        }
        None
    }

    /// The highest priority above 0 that has entries.
    pub(crate) fn highest(&self) -> Option<u8> {
        let mut lanes = self.higher.iter().rev();
        lanes
            .find(|(_, lane)| lane.live > 0)
            .map(|(&priority, _)| priority)
    }

    /// Takes what [`Lanes::next`] gave.
    pub(crate) fn take(&mut self, priority: u8, part: Part) {
        let lane = self.get_mut(priority);
        match part {
            Part::Returned => drop(lane.returned.pop_first()),
            Part::Front => drop(lane.front.pop_back()),
            Part::Line => drop(lane.line.pop_front()),
        }
        self.taken(priority);
    }

    /// Takes a returned message.
    pub(crate) fn take_returned(&mut self, priority: u8, ordinal: u64) {
        self.get_mut(priority).returned.remove(&ordinal);
        self.taken(priority);
    }

    fn taken(&mut self, priority: u8) {
        self.live -= 1;
        let lane = self.get_mut(priority);
        lane.live -= 1;
        let (live, line, front) = (lane.live, &mut lane.line, &mut lane.front);
        for capacity in [line.capacity(), front.capacity()] {
            if capacity > 64 && line.len().max(front.len()) * 4 < capacity {
                line.shrink_to(line.len() * 2);
                front.shrink_to(front.len() * 2);
            }
        }
        if live == 0 {
            (lane.line, lane.front) = (VecDeque::new(), VecDeque::new());
            if priority > 0 {
                self.higher.remove(&priority);
            }
        }
    }

    /// A message that waits in a lane, but was not returned, goes: its entry is not good any more. `good` says which are.
    pub(crate) fn abandon(&mut self, priority: u8, good: impl Fn(u64, bool) -> bool) {
        self.taken(priority);
        let lane = self.get_mut(priority);
        if lane.entries() > 16 && lane.live * 2 < lane.entries() as u64 {
            lane.front.retain(|&ordinal| good(ordinal, false));
            lane.line
                .retain(|entry| good(entry.ordinal, entry.redriven));
        }
        if priority > 0 && self.get(priority).is_some_and(|lane| lane.entries() == 0) {
            self.higher.remove(&priority);
        }
    }
}
