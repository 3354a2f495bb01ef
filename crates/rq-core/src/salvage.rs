//! Effects and snapshots of which something is missing. For repairs alone: a queue that was salvaged is
//! no longer the one whose effects it was given.

use crate::effect::Effect;
use crate::error::Error;
use crate::id::Id;
use crate::queue::{Expected, Queue};
use crate::snapshot::Loader;

impl Queue {
    /// Does what matters of an effect that [`Queue::apply`] refused, since something before it is missing:
    /// messages that it acknowledges go, whatever their state, and producers that it forgets are
    /// forgotten. Deliveries are left undone: their messages wait. False when more than that is left
    /// undone, or the effect can't be read to its end.
    pub fn salvage(&mut self, head: &[u8]) -> bool {
        match Effect::read(head) {
            Ok(Effect::Acknowledge(ids)) => {
                let removed = ids.flatten().filter(|&id| self.remove(id)).count();
                self.counters.deleted += removed as u64;
                { ids }.all(|id| id.is_ok())
            }
            Ok(Effect::Forget(names)) => {
                names
                    .flatten()
                    .for_each(|name| _ = self.producers.remove(name));
                { names }.all(|name| name.is_ok())
            }
            Ok(Effect::Deliver { .. } | Effect::Redeliver { .. }) => true,
            _ => false,
        }
    }

    /// Lets go of a message, whatever its state; false when it is not there.
    fn remove(&mut self, id: Id) -> bool {
        self.group.remove(&mut self.store, id)
    }

    /// No longer expects the parts of a snapshot that would stand before this one.
    fn skip_to(&mut self, part: &[u8]) -> Result<(), Error> {
        let fresh = self.is_empty() && self.store.next_ordinal() == 0;
        let Some(mut expected) = self.expected.or(fresh.then_some(ANYTHING)) else {
            return Ok(());
        };
        match Effect::read(part)? {
            Effect::Messages(messages) => {
                let last = messages.flatten().map(|(id, _)| id).last();
                let last = last.filter(|id| id.milliseconds < Id::MILLISECONDS_END);
                self.last_id = self.last_id.max(last.unwrap_or_default());
            }
            Effect::Producers(_) => (expected.messages, expected.deliveries) = (0, 0),
            Effect::End => expected = Expected::default(),
            // Deliveries name messages by rank: they are good only when all messages are there.
            _ => return Ok(()),
        }
        self.expected = Some(expected);
        Ok(())
    }
}

impl Loader {
    /// Takes a part that [`Loader::feed`] refused, since one before it is missing: messages and producers,
    /// but no deliveries. True when it was the last.
    ///
    /// # Errors
    /// [`Error::BadEffect`] when it can't be taken.
    pub fn salvage(&mut self, part: &[u8]) -> Result<bool, Error> {
        self.queue.skip_to(part)?;
        self.feed(part)
    }
}

/// What a snapshot whose head is missing may bring.
const ANYTHING: Expected = Expected {
    messages: u64::MAX,
    deliveries: u64::MAX,
    producers: u64::MAX,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot;

    /// A queue of 1,000 messages, of which the first 100 are delivered; its producer is remembered.
    fn queue() -> (Queue, Vec<Id>) {
        let (mut queue, mut effect) = (Queue::default(), Vec::new());
        let payload = [7; 300];
        let pushed = queue
            .push(
                5,
                Id::default(),
                (0..999).map(|_| &payload[..]),
                &mut effect,
            )
            .unwrap();
        let one = [&payload[..]].into_iter();
        let produced = queue.produce(5, Id::default(), (b"p", 1), one, &mut effect);
        queue.pop(6, 100, &mut effect, |_| ());
        let ids = pushed.ids().chain(produced.unwrap().pushed.unwrap().ids());
        (queue, ids.collect())
    }

    #[test]
    fn what_was_acknowledged_goes_in_any_state() {
        for step in [1, 3, 7] {
            let (mut queue, ids) = queue();
            let gone: Vec<_> = ids.iter().copied().step_by(step).collect();
            let mut effect = Vec::new();
            crate::effect::put_acknowledge(&mut effect, &gone);
            assert!(queue.apply(&effect, std::iter::empty()).is_err());
            for _ in 0..2 {
                assert!(queue.salvage(&effect));
                queue.check().unwrap();
            }
            let left = ids.iter().filter(|id| queue.get(**id).is_some());
            assert!(left.eq(ids.iter().filter(|id| !gone.contains(id))));
            assert_eq!(queue.counters().deleted, gone.len() as u64);
            // What waits comes, in order.
            let mut popped = Vec::new();
            queue.pop(9, 2_000, &mut effect, |m| popped.push(m.id));
            assert!(
                popped
                    .iter()
                    .eq(ids[100..].iter().filter(|id| !gone.contains(id)))
            );
            queue.check().unwrap();
        }
    }

    #[test]
    fn deliveries_are_left_and_pushes_are_lost() {
        let (mut queue, ids) = queue();
        let mut effect = Vec::new();
        crate::effect::put_deliver(&mut effect, 7, ids[500], 3);
        assert!(queue.salvage(&effect));
        assert_eq!(queue.delivered(), 100);
        let (mut other, mut push) = (Queue::default(), Vec::new());
        let one = [&b"one"[..]].into_iter();
        other.push(1, Id::default(), one, &mut push).unwrap();
        assert!(!queue.salvage(&push));
        assert!(!queue.salvage(b"no effect"));
    }

    #[test]
    fn a_snapshot_without_a_part_has_all_others() {
        let (whole, ids) = queue();
        let mut parts = Vec::new();
        snapshot::write(&whole, |part| parts.push(part.to_vec()));
        for missing in 0..parts.len() {
            let mut loader = Loader::default();
            let mut refused = 0;
            for (_, part) in parts.iter().enumerate().filter(|(n, _)| *n != missing) {
                if loader.feed(part).is_err() && loader.salvage(part).is_err() {
                    refused += 1;
                }
            }
            let found = loader.finish();
            found.check().unwrap();
            let mut lost = Vec::new();
            if let Ok(Effect::Messages(messages)) = Effect::read(&parts[missing]) {
                lost.extend(messages.flatten().map(|(id, _)| id));
            }
            let left = ids.iter().filter(|id| found.get(**id).is_some());
            assert!(left.eq(ids.iter().filter(|id| !lost.contains(id))));
            let kept = !matches!(Effect::read(&parts[missing]), Ok(Effect::Producers(_)));
            assert_eq!(found.producers.get(b"p").is_some(), kept);
            // Only the deliveries, and those only where messages may be missing.
            assert_eq!(refused, usize::from(missing == 0 || !lost.is_empty()));
        }
    }
}
