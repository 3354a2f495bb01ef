//! Effects and snapshots of which something is missing. For repairs alone: a queue that was salvaged is
//! no longer the one whose effects it was given.

use crate::effect::Effect;
use crate::error::Error;
use crate::id::Id;
use crate::parts::Part;
use crate::queue::{Expected, Queue};
use crate::snapshot::Loader;

impl Queue {
    /// Does what matters of an effect that [`Queue::apply`] refused, since something before it is missing:
    /// messages that it acknowledges go, whatever their state, and producers that it forgets are
    /// forgotten. Deliveries are left undone: their messages wait. False when more than that is left
    /// undone, or the effect can't be read to its end.
    pub fn salvage(&mut self, head: &[u8]) -> bool {
        match Effect::read(head) {
            Ok(Effect::Acknowledge(_, ids)) => {
                self.counters.deleted += self.remove_all(ids);
                { ids }.all(|id| id.is_ok())
            }
            Ok(Effect::Remove(_, _, ids)) => {
                self.counters.cancelled += self.remove_all(ids);
                { ids }.all(|id| id.is_ok())
            }
            Ok(Effect::Forget(tokens, names)) => {
                for name in names.flatten() {
                    if !tokens {
                        self.producers.remove(name);
                    } else if self.by_token(name).is_none() {
                        self.tokens.remove(name);
                    }
                }
                { names }.all(|name| name.is_ok())
            }
            // Messages stay where they are, and are delivered sooner or later.
            Ok(
                Effect::Deliver(..)
                | Effect::Again(..)
                | Effect::Return(..)
                | Effect::Extend(..)
                | Effect::Due(..)
                | Effect::Expire(..)
                | Effect::Redrive(..)
                | Effect::Trim(..)
                | Effect::Duplicates(_),
            ) => true,
            _ => false,
        }
    }

    /// Lets go of messages, whatever their state; how many were there.
    fn remove_all(&mut self, ids: crate::effect::Ids<'_>) -> u64 {
        let time = self.clock;
        ids.flatten()
            .filter(|&id| self.remove_one(id, time))
            .count() as u64
    }

    /// No longer expects the parts of a snapshot that would stand before this one.
    fn skip_to(&mut self, part: &[u8]) -> Result<(), Error> {
        let fresh = self.is_empty() && self.store.next_ordinal() == 0;
        let Some(mut expected) = self.expected.or(fresh.then_some(ANYTHING)) else {
            return Ok(());
        };
        match Effect::read(part)? {
            Effect::Part(Part::Messages(messages)) => {
                let last = messages.flatten().map(|message| message.id).last();
                let last = last.filter(|id| id.milliseconds < Id::MILLISECONDS_END);
                self.last_id = self.last_id.max(last.unwrap_or_default());
            }
            Effect::Part(Part::Producers(_)) => {
                expected = Expected {
                    producers: expected.producers,
                    tokens: expected.tokens,
                    ..Expected::default()
                };
            }
            Effect::Part(Part::Tokens(_)) => {
                expected = Expected {
                    tokens: expected.tokens,
                    ..Expected::default()
                };
            }
            Effect::Part(Part::End) => {
                expected = Expected::default();
                self.group.line_up_unseen(&mut self.store);
            }
            // The others name messages by rank: they are good only when all messages are there.
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
    resting: u64::MAX,
    letters: u64::MAX,
    scheduled: u64::MAX,
    lined: u64::MAX,
    producers: u64::MAX,
    tokens: u64::MAX,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consume::Pop;
    use crate::produce::Options;
    use crate::queue::Moment;
    use crate::snapshot;

    /// A queue of 1,000 messages, of which the first 100 are delivered; its producer is remembered.
    fn queue() -> (Queue, Vec<Id>) {
        let (mut queue, mut effect) = (Queue::default(), Vec::new());
        let payload = [7; 300];
        let moment = Moment::at(5, Id::default());
        let many = (0..999).map(|_| &payload[..]);
        let pushed = queue.push(&moment, None, many, &mut effect).unwrap();
        let options = Options {
            producer: Some((b"p", 1)),
            ..Options::default()
        };
        let one = [&payload[..]].into_iter();
        let produced = queue
            .push(&moment, Some(&options), one, &mut effect)
            .unwrap();
        let moment = Moment::at(6, Id::default());
        queue.pop(&moment, &Pop::of(100), &mut effect, |_| ());
        (
            queue,
            pushed.ids().chain(produced.ids()).flatten().collect(),
        )
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
            let moment = Moment::at(9, Id::default());
            queue.pop(&moment, &Pop::of(2_000), &mut effect, |m| popped.push(m.id));
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
        let manner = crate::group::Manner {
            time: 7,
            ..Default::default()
        };
        crate::effect::put_deliver(&mut effect, &manner, ids[500], 3);
        assert!(queue.salvage(&effect));
        assert_eq!(queue.delivered(), 100);
        let (mut other, mut push) = (Queue::default(), Vec::new());
        let one = [&b"one"[..]].into_iter();
        let moment = Moment::at(1, Id::default());
        other.push(&moment, None, one, &mut push).unwrap();
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
            if let Ok(Effect::Part(Part::Messages(messages))) = Effect::read(&parts[missing]) {
                lost.extend(messages.flatten().map(|message| message.id));
            }
            let left = ids.iter().filter(|id| found.get(**id).is_some());
            assert!(left.eq(ids.iter().filter(|id| !lost.contains(id))));
            let kept = !matches!(
                Effect::read(&parts[missing]),
                Ok(Effect::Part(Part::Producers(_)))
            );
            assert_eq!(found.producers.get(b"p").is_some(), kept);
            // Only the deliveries, and those only where messages may be missing.
            assert_eq!(refused, usize::from(missing == 0 || !lost.is_empty()));
        }
    }
}
