//! What changes nothing.

use std::ops::Range;

use rq_core::{Id, Receipt};

use super::Arguments;
use super::words::{Named, Words, no_bound};
use crate::refusal::Refusal;
use crate::table::Verb;

/// Messages of a range, unless told.
const RANGE_COUNT: u64 = 1000;
/// Parts that a queue can be cut into.
const MOST_PARTS: u64 = 65_536;

/// `RQ.RANGE`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeOf {
    /// The lowest ID, and the highest; none when there can be no ID between the bounds.
    pub bounds: Option<(Id, Id)>,
    /// From the highest to the lowest.
    pub reverse: bool,
    /// At most so many messages.
    pub count: u64,
    /// Whether rows tell what is known of the message.
    pub with_meta: bool,
}

/// `RQ.PEEK`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peek {
    /// The last of those that wait, not the first.
    pub back: bool,
    /// Whether the row tells what is known of the message.
    pub with_meta: bool,
}

/// `RQ.GET`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Get {
    /// Whether rows tell what is known of the message.
    pub with_meta: bool,
    /// Which messages.
    pub named: Named,
}

/// Which messages of a queue are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those to be delivered.
    Waiting,
    /// Those delivered and not settled.
    Pending,
    /// Dead letters.
    Dead,
    /// Those not yet to be delivered.
    Scheduled,
}

/// Which IDs are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// All.
    Everything,
    /// Those from the first to the second, both included.
    Between(Id, Id),
    /// None: there can be no ID between the bounds.
    Nothing,
}

/// `RQ.INSPECT`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspect {
    /// Which messages.
    pub which: Which,
    /// Milliseconds since their last delivery, at least.
    pub idle: u64,
    /// Where the name is of the consumer that holds them, or held them last; none: anybody.
    pub consumer: Option<usize>,
    /// Their IDs.
    pub within: Within,
    /// First position among them, from the end when negative.
    pub start: i64,
    /// At most so many messages.
    pub count: u64,
}

/// Reads `RQ.PEEK key [BACK] [WITHMETA]`.
///
/// # Errors
/// Says what was expected.
pub fn peek(arguments: &(impl Arguments + ?Sized)) -> Result<Peek, Refusal> {
    let mut words = Words::new(arguments, Verb::Peek, 2, 2)?;
    let (mut back, mut with_meta) = (false, false);
    while let Some(option) = words.only(&["BACK", "WITHMETA"])? {
        match option {
            "BACK" => back = true,
            _ => with_meta = true,
        }
    }
    Ok(Peek { back, with_meta })
}

/// Reads `RQ.GET key [WITHMETA] IDS|TOKENS n ...`; IDs and receipts are put into `receipts`.
///
/// # Errors
/// Says what was expected.
pub fn get(
    arguments: &(impl Arguments + ?Sized),
    receipts: &mut Vec<Receipt>,
) -> Result<Get, Refusal> {
    let mut words = Words::new(arguments, Verb::Get, 2, 2)?;
    let mut with_meta = false;
    loop {
        match words.one(&["WITHMETA", "IDS", "TOKENS"])? {
            "WITHMETA" => with_meta = true,
            list => {
                let named = words.last_named(list, receipts)?;
                return Ok(Get { with_meta, named });
            }
        }
    }
}

/// Reads `RQ.RANGE key min max [REV] [COUNT n] [WITHMETA]`.
///
/// # Errors
/// Says what was expected.
pub fn range(arguments: &(impl Arguments + ?Sized)) -> Result<RangeOf, Refusal> {
    let mut words = Words::new(arguments, Verb::Range, 2, 4)?;
    let mut range = RangeOf {
        bounds: bounds(arguments, &mut words, ["min", "max"])?,
        reverse: false,
        count: RANGE_COUNT,
        with_meta: false,
    };
    while let Some(option) = words.only(&["REV", "COUNT", "WITHMETA"])? {
        match option {
            "REV" => range.reverse = true,
            "COUNT" => range.count = words.positive(option)?,
            _ => range.with_meta = true,
        }
    }
    Ok(range)
}

/// The lowest and the highest ID, the next two words.
fn bounds<A: Arguments + ?Sized>(
    arguments: &A,
    words: &mut Words<'_, A>,
    [min, max]: [&str; 2],
) -> Result<Option<(Id, Id)>, Refusal> {
    let low = arguments.get(words.value(min)?);
    let high = arguments.get(words.value(max)?);
    let low = Id::parse_lowest(low).map_err(|_| no_bound(min, low))?;
    let high = Id::parse_highest(high).map_err(|_| no_bound(max, high))?;
    Ok(low.zip(high))
}

/// Reads `RQ.SPLIT key n`: the number of parts.
///
/// # Errors
/// Says what was expected.
pub fn split(arguments: &(impl Arguments + ?Sized)) -> Result<u64, Refusal> {
    let mut words = Words::new(arguments, Verb::Split, 2, 3)?;
    let parts = words.within("n", 1..=MOST_PARTS, "a number of parts from 1 to 65536")?;
    words.finish()?;
    Ok(parts)
}

/// Reads `RQ.INSPECT key [PENDING|DEAD|SCHEDULED] [IDLE ms] [CONSUMER c] [RANGE min max] start count`.
///
/// # Errors
/// Says what was expected.
pub fn inspect(arguments: &(impl Arguments + ?Sized)) -> Result<Inspect, Refusal> {
    let mut words = Words::new(arguments, Verb::Inspect, 2, 4)?.without_last(2);
    let which = if words.take("PENDING") {
        Which::Pending
    } else if words.take("DEAD") {
        Which::Dead
    } else if words.take("SCHEDULED") {
        Which::Scheduled
    } else {
        Which::Waiting
    };
    let (mut idle, mut consumer, mut within) = (0, None, Within::Everything);
    while let Some(option) = words.only(&["IDLE", "CONSUMER", "RANGE"])? {
        match option {
            "IDLE" if which != Which::Pending => return Err(only_with(option, "PENDING")),
            "IDLE" => idle = words.patience(option)?,
            "CONSUMER" if !matches!(which, Which::Pending | Which::Dead) => {
                return Err(only_with(option, "PENDING or DEAD"));
            }
            "CONSUMER" => consumer = Some(words.name(option)?),
            _ => {
                let names = ["RANGE's min", "RANGE's max"];
                let bounds = bounds(arguments, &mut words, names)?;
                within = bounds.map_or(Within::Nothing, |(low, high)| Within::Between(low, high));
            }
        }
    }
    let mut words = words.with_last();
    Ok(Inspect {
        which,
        idle,
        consumer,
        within,
        start: words.integer("start")?,
        count: words.positive("count")?,
    })
}

fn only_with(option: &str, state: &str) -> Refusal {
    Refusal::argument(format!(
        "{option} is not for these messages, expected it with {state} only"
    ))
}

/// Reads a command with a key and nothing else.
///
/// # Errors
/// Says what was expected.
pub fn only_key(arguments: &(impl Arguments + ?Sized), verb: Verb) -> Result<(), Refusal> {
    Words::new(arguments, verb, 2, 2)?.finish()
}

/// Reads `RQ.STATUS [key ...]`: the place of the keys.
pub fn status(arguments: &(impl Arguments + ?Sized)) -> Range<usize> {
    1..arguments.len().max(1)
}
