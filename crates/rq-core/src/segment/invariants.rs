//! What must hold in a segment between two operations.

use super::{Base, GONE, NONE, Segment, allocated};
use crate::invariants::ensure;

impl Segment {
    /// What must hold between two operations; see the head of `segment`.
    pub(crate) fn check(&self, base: Base) -> Result<(), String> {
        let gone = self.records.iter().filter(|&&r| r == GONE).count();
        let dead: usize = (0..self.slots())
            .filter(|&s| self.record(s) == GONE)
            .map(|s| self.inline(s).0.len())
            .sum();
        let table = self.slots() * self.layout.slot_size();
        ensure(
            self.records.len() <= self.slots(),
            "more records than slots",
        )?;
        ensure(
            self.live() + gone == self.slots(),
            "live and gone slots do not add up",
        )?;
        let plain = (0..self.slots()).filter(|&s| self.record(s) == NONE);
        ensure(
            plain.count() == self.plain(),
            "plain messages do not add up",
        )?;
        ensure(dead == usize::from(self.dead), "dead bytes do not add up")?;
        ensure(
            usize::from(self.used) + table <= self.page.len(),
            "page overfull",
        )?;
        for slot in 0..self.slots() {
            let id = self.id(base, slot);
            ensure(
                self.find_id(base, id) == Some(slot),
                "a slot is not found by its ID",
            )?;
            let ordinal = self.ordinal(base, slot);
            ensure(
                self.seek_ordinal(base, ordinal) == slot,
                "a slot is not found by its ordinal",
            )?;
            ensure(
                self.seek_id(base, id) == slot,
                "a slot is not sought by its ID",
            )?;
            if slot > 0 {
                let before = self.id(base, slot - 1);
                ensure(before < id, "IDs do not grow")?;
                ensure(
                    self.id_after(base, slot, before) == id,
                    "an ID does not follow",
                )?;
                ensure(
                    self.ordinal(base, slot - 1) < ordinal,
                    "ordinals do not grow",
                )?;
            }
        }
        let large = self
            .large
            .as_ref()
            .map_or(0, |l| l.payloads.iter().map(|p| allocated(p.len())).sum());
        ensure(
            large == self.large.as_ref().map_or(0, |l| l.bytes),
            "large bytes do not add up",
        )
    }
}
