//! What must hold between two operations.

use super::Group;
use crate::invariants::ensure;
use crate::record::{HELD, Place as Standing};
use crate::segment::{LINED, NONE, SCHEDULED, is_record};
use crate::store::Store;

impl Group {
    /// What must hold between two operations; see the head of `group`.
    pub(crate) fn check(&self, store: &Store) -> Result<(), String> {
        self.records.check()?;
        self.schedule.check()?;
        self.expiring.check()?;
        self.letters.check()?;
        self.delivered.check(&self.records)?;
        self.consumers.check(&self.records)?;
        let (mut plain, mut marked, mut standing, mut expiring) = (0, 0, [0u64; 6], 0);
        for message in store.messages() {
            let fields = message.fields();
            match message.record {
                NONE => {
                    ensure(
                        message.ordinal >= self.cursor,
                        "a message waits below the cursor",
                    )?;
                    ensure(fields.priority == 0, "a plain message has a priority")?;
                    plain += 1;
                }
                LINED => marked += 1,
                SCHEDULED => standing[0] += 1,
                number => {
                    let record = self.records.get(number).ok_or("a record is missing")?;
                    ensure(
                        record.ordinal() == message.ordinal,
                        "a record's message is another",
                    )?;
                    standing[record.place as usize] += 1;
                    let held = record.place == Standing::Delivered;
                    ensure(
                        held || !record.has(HELD),
                        "a consumer holds what is not delivered",
                    )?;
                }
            }
            if fields.expiry > 0 && !is_record(message.record) {
                expiring += 1;
            }
        }
        let [scheduled, delivered, returned, retry, redriven, dead] = standing;
        ensure(plain == self.plain, "plain messages do not add up")?;
        ensure(
            expiring == self.expiring.len(),
            "times to live do not add up",
        )?;
        ensure(
            delivered == self.delivered(),
            "delivered messages do not add up",
        )?;
        ensure(dead == self.letters.len(), "dead letters do not add up")?;
        ensure(
            scheduled + retry == self.scheduled(),
            "scheduled messages do not add up",
        )?;
        let records = delivered + returned + retry + redriven + dead;
        ensure(
            records == self.records.live() as u64,
            "records do not add up",
        )?;
        ensure(
            marked + returned + redriven == self.lanes.live(),
            "lanes do not add up",
        )?;
        self.check_lanes(store)
    }

    fn check_lanes(&self, store: &Store) -> Result<(), String> {
        for (priority, lane) in self.lanes.iter() {
            let front = lane
                .front
                .iter()
                .filter(|&&o| self.is_good(store, o, false));
            let line = lane
                .line
                .iter()
                .filter(|e| self.is_good(store, e.ordinal, e.redriven));
            let good = front.count() + line.count() + lane.returned.len();
            ensure(
                good as u64 == lane.live(),
                "entries of a lane do not add up",
            )?;
            let barriers = lane.line.iter().map(|entry| entry.barrier);
            ensure(barriers.is_sorted(), "barriers fall")?;
            let all = self
                .iter_returned(store, priority)
                .chain(self.iter_front(store, priority));
            let all = all.chain(lane.line.iter().filter_map(|e| store.of(e.ordinal)));
            for message in all {
                ensure(
                    message.fields().priority == priority,
                    "a message is in another lane",
                )?;
            }
        }
        Ok(())
    }
}
