//! Pushes.

use std::ops::Range;

use super::Arguments;
use super::words::{Words, out_of_range, together, twice};
use crate::refusal::Refusal;
use crate::table::Verb;

/// `RQ.PUSH`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    /// Where the payloads are.
    pub elements: Range<usize>,
}

/// When a message may be delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Due {
    /// At once.
    #[default]
    Now,
    /// After so many milliseconds.
    After(u64),
    /// At this time, Unix milliseconds.
    At(u64),
}

impl Due {
    /// Milliseconds from now, by the time of the place and by its wall clock. A time is turned into a delay once: the queue's
    /// own time goes its own way from then on. Where both clocks agree, but for a rounding, it is this very time.
    #[must_use]
    pub fn delay(self, now: u64, wall: u64) -> u64 {
        match self {
            Due::Now => 0,
            Due::After(delay) => delay,
            Due::At(time) if now.abs_diff(wall) <= 1 => time.saturating_sub(now),
            Due::At(time) => time.saturating_sub(wall),
        }
    }
}

/// `RQ.PUSHEX`
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PushExtended {
    /// Before those never delivered of its priority.
    pub front: bool,
    /// When the messages may be delivered.
    pub due: Due,
    /// Milliseconds from then until the first delivery, at most; 0: no limit.
    pub ttl: u64,
    /// Tries after the first; none: as the queue says.
    pub retries: Option<u32>,
    /// Higher ones are delivered first.
    pub priority: u8,
    /// Where names and values of headers are, in turn.
    pub headers: Range<usize>,
    /// Where the token is.
    pub token: Option<usize>,
    /// Whether a known token is an error.
    pub unique: bool,
    /// Where the producer's name is, and the number of the first element.
    pub producer: Option<(usize, u64)>,
    /// Lease (milliseconds) and deliveries of the queue, if this makes it.
    pub new: Option<(u64, u32)>,
    /// Where the payloads are.
    pub elements: Range<usize>,
}

const PUSH_OPTIONS: &[&str] = &[
    "FRONT", "DELAY", "AT", "TTL", "RETRIES", "PRIORITY", "HEADERS", "TOKEN", "UNIQUE", "PRODUCER",
    "SEQ", "NEW", "ELEMENTS",
];

/// Reads `RQ.PUSH key element [element ...]`.
///
/// # Errors
/// Says what was expected.
pub fn push(arguments: &(impl Arguments + ?Sized)) -> Result<Push, Refusal> {
    let words = Words::new(arguments, Verb::Push, 2, 3)?;
    Ok(Push {
        elements: words.rest(),
    })
}

/// Reads `RQ.PUSHEX key [FRONT] [DELAY ms | AT unix-ms] [TTL ms] [RETRIES n] [PRIORITY p]
/// [HEADERS n field value ...] [TOKEN t [UNIQUE]] [PRODUCER name SEQ n] [NEW lease deliveries]
/// ELEMENTS n element [element ...]`.
///
/// # Errors
/// Says what was expected.
pub fn push_extended(arguments: &(impl Arguments + ?Sized)) -> Result<PushExtended, Refusal> {
    let mut words = Words::new(arguments, Verb::PushExtended, 2, 2)?;
    let mut push = PushExtended::default();
    loop {
        match words.one(PUSH_OPTIONS)? {
            "ELEMENTS" => break,
            option => push.read(option, &mut words)?,
        }
    }
    push.elements = words.last_list("ELEMENTS")?;
    push.checked()
}

impl PushExtended {
    /// Whether the messages are those that `RQ.PUSH` would store, whoever numbered them.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.front
            && matches!(self.due, Due::Now | Due::After(0))
            && self.ttl == 0
            && self.retries.is_none()
            && self.priority == 0
            && self.headers.is_empty()
            && self.token.is_none()
    }

    fn read<A: Arguments + ?Sized>(
        &mut self,
        option: &str,
        words: &mut Words<'_, A>,
    ) -> Result<(), Refusal> {
        match option {
            "FRONT" => self.front = true,
            "DELAY" | "AT" if self.due != Due::Now => return Err(together("DELAY", "AT")),
            "DELAY" => self.due = Due::After(words.milliseconds(option)?),
            "AT" => self.due = Due::At(words.milliseconds(option)?),
            "TTL" => self.ttl = words.lifetime(option)?,
            "RETRIES" => self.retries = Some(words.tries(option)?),
            "PRIORITY" => self.priority = words.fitting(option, "an integer from 0 to 255")?,
            "HEADERS" => self.headers = headers(words)?,
            "TOKEN" => {
                self.token = Some(words.text(option, 1, usize::MAX)?);
                self.unique = words.take("UNIQUE");
            }
            "PRODUCER" => self.producer = Some(producer(words)?),
            "NEW" => self.new = Some(new_settings(words)?),
            "UNIQUE" if self.unique => return Err(twice(option)),
            "UNIQUE" => return Err(behind(option, "TOKEN and its value")),
            _ => return Err(behind(option, "PRODUCER and its name")),
        }
        Ok(())
    }

    fn checked(self) -> Result<Self, Refusal> {
        let count = self.elements.len() as u64;
        if self.token.is_some() && count != 1 {
            return Err(Refusal::argument(format!(
                "TOKEN is given for {count} elements, expected ELEMENTS 1"
            )));
        }
        // Numbers are signed, so that a producer can send the one behind any that is stored.
        let last = (self.producer).map_or(Some(0), |(_, first)| first.checked_add(count - 1));
        if last.is_none_or(|last| i64::try_from(last).is_err()) {
            return Err(out_of_range("SEQ", "the last element's number below 2^63"));
        }
        Ok(self)
    }
}

/// Lease and deliveries behind `NEW`.
pub(super) fn new_settings<A: Arguments + ?Sized>(
    words: &mut Words<'_, A>,
) -> Result<(u64, u32), Refusal> {
    let lease = words.milliseconds("NEW's lease")?;
    Ok((lease, words.tries("NEW's deliveries")?))
}

/// An option that belongs to another.
fn behind(option: &str, what: &str) -> Refusal {
    Refusal::argument(format!(
        "{option} is not in its place, expected it right behind {what}"
    ))
}

fn headers<A: Arguments + ?Sized>(words: &mut Words<'_, A>) -> Result<Range<usize>, Refusal> {
    let pairs = words.positive("HEADERS")?;
    let count = usize::try_from(pairs).ok().and_then(|n| n.checked_mul(2));
    count.and_then(|count| words.pass(count)).ok_or_else(|| {
        Refusal::argument(format!(
            "HEADERS says {pairs}, but {} words follow, expected a name and a value for each",
            words.left()
        ))
    })
}

fn producer<A: Arguments + ?Sized>(words: &mut Words<'_, A>) -> Result<(usize, u64), Refusal> {
    let name = words.name("PRODUCER")?;
    if !words.take("SEQ") {
        return Err(Refusal::argument(
            "PRODUCER lacks a number, expected PRODUCER name SEQ n",
        ));
    }
    Ok((name, words.positive("SEQ")?))
}
