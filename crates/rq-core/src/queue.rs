//! The queue: what it is made of, its time, and its sizes.
//!
//! Operations are in files of their own: `produce`, `consume`, `settle`, `manage`, `expire`; so is looking: `look`, `search`. An operation takes the time and gives
//! its outcome; what changed goes as an effect into the caller's buffer, which stays empty when nothing did. To add an
//! operation: a method there, an effect in `effect`, its application in `apply`, and what is kept in `snapshot`.

use crate::counters::Counters;
use crate::group::Group;
use crate::id::Id;
use crate::outcome::{Delivery, Meta, Paused, State};
use crate::policy::Policy;
use crate::record::Record;
use crate::remembered::{Producer, Remembered};
use crate::store::{Store, Stored};

/// Times are stored in 48 bits.
pub(crate) const TIME_END: u64 = Id::MILLISECONDS_END;

/// When and where an operation happens.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// Unix milliseconds, by the clock of the place.
    pub now: u64,
    /// The largest ID that was ever given by whoever keeps queues.
    pub floor: Id,
    /// Settings for queues that have none of their own.
    pub defaults: &'a Policy,
}

impl Moment<'static> {
    /// A time at a place without defaults.
    #[must_use]
    pub fn at(now: u64, floor: Id) -> Self {
        Self {
            now,
            floor,
            defaults: &Policy::NONE,
        }
    }
}

/// A reliable queue.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    pub(crate) store: Store,
    pub(crate) group: Group,
    /// The last ID made; no ID is made at or below it.
    pub(crate) last_id: Id,
    /// The latest time of an operation that has one. Times never go back within a queue, whatever the caller's
    /// clock does: the delivered lists are ordered by time.
    pub(crate) clock: u64,
    /// Where the queue's time is ahead of the caller's: both, when that was noticed. Not stored.
    ahead: Option<(u64, u64)>,
    pub(crate) counters: Counters,
    pub(crate) policy: Policy,
    pub(crate) paused: Paused,
    /// Bytes of payloads and headers of all messages but dead ones.
    pub(crate) bytes: u64,
    /// Producers that number their pushes.
    pub(crate) producers: Remembered<Producer>,
    /// Tokens of messages, and of those that left not long ago.
    pub(crate) tokens: Remembered<Id>,
    /// What a snapshot that is being loaded has still to bring.
    pub(crate) expected: Option<Expected>,
}

/// What a snapshot has still to bring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) messages: u64,
    pub(crate) deliveries: u64,
    pub(crate) resting: u64,
    pub(crate) letters: u64,
    pub(crate) scheduled: u64,
    pub(crate) lined: u64,
    pub(crate) producers: u64,
    pub(crate) tokens: u64,
}

impl Queue {
    /// A queue without messages, whose IDs are above `floor`.
    #[must_use]
    pub fn new(floor: Id) -> Self {
        Self {
            last_id: floor,
            ..Self::default()
        }
    }

    /// Makes a queue that holds nothing as a new one is, but for some memory that it keeps to use
    /// again.
    pub fn renew(&mut self, floor: Id) {
        if self.is_empty() {
            self.store.renew();
            self.group.renew();
            self.last_id = floor;
            self.clock = 0;
            self.ahead = None;
            self.counters = Counters::ZERO;
            self.policy = Policy::NONE;
        }
    }

    // ---- time ----

    /// The queue's time, when the caller's is `now`. It does not stand still while it is ahead: it is drawn towards the
    /// caller's by a hundredth.
    pub(crate) fn time(&self, now: u64) -> u64 {
        let now = now.min(TIME_END - 1);
        self.own_time(now).unwrap_or(0).max(now).max(self.clock)
    }

    /// The queue's time by what was noted of it; none when nothing was, or the caller's time went back since.
    fn own_time(&self, now: u64) -> Option<u64> {
        let (queue, caller) = self.ahead?;
        let passed = now.checked_sub(caller)?;
        let own = queue.saturating_add(passed - passed / 100);
        Some(own.min(TIME_END - 1))
    }

    /// Notes the caller's time, so that a queue whose own is ahead goes on from now. It is no change.
    pub fn tick(&mut self, now: u64) {
        self.advance(now);
    }

    /// The same as [`Queue::time`], for an operation that changes something.
    pub(crate) fn advance(&mut self, now: u64) -> u64 {
        let time = self.time(now);
        let now = now.min(TIME_END - 1);
        if time == now {
            self.ahead = None;
        } else {
            self.lag(time, now);
        }
        time
    }

    /// Notes that the queue's time is ahead of the caller's, unless what was noted says so: it would not be drawn towards
    /// the caller's if it was noted anew all the time.
    #[cold]
    fn lag(&mut self, time: u64, now: u64) {
        if self.own_time(now) != Some(time) {
            self.ahead = Some((time, now));
        }
    }

    /// Whether the queue's time was ahead of the caller's when that was noted last.
    pub(crate) fn is_ahead(&self) -> bool {
        self.ahead.is_some()
    }

    /// When, by the caller's clock, the queue's time is `time`.
    pub(crate) fn callers(&self, now: u64, time: u64) -> u64 {
        let own = self.time(now);
        if own <= now {
            return time;
        }
        let left = time.saturating_sub(own);
        // At the latest when the caller's time is there: the queue's is not behind it.
        now.saturating_add(left)
            .saturating_add(left / 99)
            .min(time.max(now))
    }

    // ---- looking ----

    /// Messages held, dead letters not counted.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.store.live() - self.group.letters.len()
    }

    /// Whether the queue holds messages, dead letters included.
    #[must_use]
    pub fn has_messages(&self) -> bool {
        self.store.live() > 0
    }

    /// Whether the queue holds nothing, neither messages nor what must be remembered, so that it
    /// need not be kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.store.live() == 0
            && self.producers.is_empty()
            && self.tokens.is_empty()
            && !self.policy.kept
            && self.paused == Paused::default()
    }

    /// Whether it matters when a message leaves: its token is to be remembered from then on.
    #[must_use]
    pub fn has_tokens(&self) -> bool {
        !self.tokens.is_empty()
    }

    /// Messages waiting.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.group.waiting()
    }

    /// Messages delivered and not acknowledged.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.group.delivered()
    }

    /// Messages that are due later.
    #[must_use]
    pub fn scheduled(&self) -> u64 {
        self.group.scheduled()
    }

    /// Dead letters.
    #[must_use]
    pub fn dead_letters(&self) -> u64 {
        self.group.letters.len()
    }

    /// What happened so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Its settings.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What is refused for now.
    #[must_use]
    pub fn paused(&self) -> Paused {
        self.paused
    }

    /// Bytes allocated, this value included.
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.store.heap()
            + self.group.heap()
            + self.producers.heap()
            + self.tokens.heap()
    }

    /// How many allocations freeing takes, roughly.
    #[must_use]
    pub fn free_effort(&self) -> usize {
        let remembered = self.producers.len() + self.tokens.len() + self.group.letters.len();
        let entries =
            self.group.schedule.len() / 512 + usize::try_from(remembered).unwrap_or(usize::MAX);
        (self.store.segments() * 2 + 1).saturating_add(entries)
    }
}

/// What a delivery shows of a message, whose record is as it will be.
pub(crate) fn delivery<'a>(
    message: &Stored<'a>,
    record: &Record,
    lease: u64,
    consumer: &'a [u8],
) -> Delivery<'a> {
    let time = record.time();
    Delivery {
        id: message.id,
        payload: message.payload,
        meta: Meta {
            state: State::Delivered,
            deliveries: record.deliveries,
            failures: record.failures.into(),
            enqueued: message.id.milliseconds,
            last_delivery: time,
            deadline: if lease == 0 {
                0
            } else {
                time.saturating_add(lease)
            },
            consumer,
            died: 0,
            reason: &[],
            fields: message.fields(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consume::Pop;

    /// A queue whose time is 100 seconds ahead of 1,000, with a message whose lease ends 60 seconds later.
    fn ahead() -> Queue {
        let (mut queue, mut effect) = (Queue::default(), Vec::new());
        let moment = Moment::at(101_000, Id::default());
        let one = [&b"one"[..]].into_iter();
        queue.push(&moment, None, one, &mut effect).unwrap();
        let pop = Pop {
            lease: Some(60_000),
            ..Pop::of(1)
        };
        queue.pop(&moment, &pop, &mut effect, |_| ());
        queue
    }

    #[test]
    fn time_that_is_ahead_goes_on_and_is_drawn_to_the_callers() {
        // However often it is asked for.
        for step in [1, 7, 1_000, 30_000] {
            let (mut queue, mut effect) = (ahead(), Vec::new());
            let mut now = 1_000;
            while !queue.expire(&Moment::at(now, Id::default()), 10, &mut effect) {
                now += step;
            }
            // 60 seconds and a hundredth of them.
            assert!((61_600..61_610 + step).contains(&now), "{now} by {step}");
            // It meets the caller's time, and is it from then on.
            while queue.advance(now) > now {
                now += step;
                queue.clock = queue.time(now);
            }
            let expected = 1_000 + 100_000 * 100;
            assert!(now.abs_diff(expected) <= step + 200, "{now} by {step}");
            assert_eq!(queue.time(now + 5), now + 5);
        }
    }

    #[test]
    fn the_next_due_time_is_told_in_the_callers_time() {
        let (mut queue, mut effect) = (ahead(), Vec::new());
        let moment = Moment::at(1_000, Id::default());
        assert!(!queue.expire(&moment, 10, &mut effect));
        let due = queue.next_due(&moment).unwrap();
        assert!(due.abs_diff(61_606) <= 2, "{due}");
        assert!(queue.expire(&Moment::at(due + 1, Id::default()), 10, &mut effect));
    }
}
