//! Arguments as requests.
//!
//! A request names its keys and payloads by their positions among the arguments: nothing is
//! copied, and where the keys are is known by the same code that executes.

use std::ops::Range;

use rq_core::{Id, InvalidId};

use crate::commands::COMMANDS;
use crate::document;
use crate::refusal::Refusal;
use crate::table::Verb;

/// Messages of a range, unless told.
const RANGE_COUNT: u64 = 1000;
/// Parts that a queue can be cut into.
const MOST_PARTS: u64 = 65_536;

/// The words of a command, its name first.
pub trait Arguments {
    /// How many there are.
    fn len(&self) -> usize;

    /// One of them; empty beyond the end.
    fn get(&self, position: usize) -> &[u8];

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Arguments for [&[u8]] {
    fn len(&self) -> usize {
        <[&[u8]]>::len(self)
    }

    fn get(&self, position: usize) -> &[u8] {
        <[&[u8]]>::get(self, position).copied().unwrap_or_default()
    }
}

/// `RQ.PUSH`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    /// Where the payloads are.
    pub elements: Range<usize>,
}

/// `RQ.PUSHEX`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushExtended {
    /// Where the producer's name is, and the number of the first element.
    pub producer: Option<(usize, u64)>,
    /// Where the payloads are.
    pub elements: Range<usize>,
}

/// `RQ.POP`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pop {
    /// At most so many messages.
    pub count: u64,
    /// Milliseconds to wait, 0 for ever; none: do not wait.
    pub block: Option<u64>,
    /// Whether rows tell what is known of the message.
    pub with_meta: bool,
    /// Where the keys are.
    pub keys: Range<usize>,
}

/// `RQ.RECOVER`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recover {
    /// At most so many messages.
    pub count: u64,
    /// Milliseconds since their last delivery, at least.
    pub elapsed: u64,
    /// Whether rows tell what is known of the message.
    pub with_meta: bool,
}

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

/// `RQ.INSPECT`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspect {
    /// The delivered list, not the waiting one.
    pub pending: bool,
    /// First position, from the end when negative.
    pub start: i64,
    /// At most so many messages.
    pub count: u64,
}

/// Reads `RQ.PUSH key element [element ...]`.
///
/// # Errors
/// Says what was expected.
pub fn push(arguments: &(impl Arguments + ?Sized)) -> Result<Push, Refusal> {
    at_least(arguments, 3, Verb::Push)?;
    Ok(Push {
        elements: 2..arguments.len(),
    })
}

/// Reads `RQ.PUSHEX key [PRODUCER name SEQ n] ELEMENTS n element [element ...]`.
///
/// # Errors
/// Says what was expected.
pub fn push_extended(arguments: &(impl Arguments + ?Sized)) -> Result<PushExtended, Refusal> {
    at_least(arguments, 5, Verb::PushExtended)?;
    let (total, mut at, mut producer) = (arguments.len(), 2, None);
    if arguments.get(at).eq_ignore_ascii_case(b"PRODUCER") {
        if total < 9 || !arguments.get(4).eq_ignore_ascii_case(b"SEQ") {
            return Err(misplaced(Verb::PushExtended));
        }
        producer = Some((3, positive(integer(arguments.get(5), "SEQ")?, "SEQ")?));
        at = 6;
    }
    if !arguments.get(at).eq_ignore_ascii_case(b"ELEMENTS") {
        return Err(misplaced(Verb::PushExtended));
    }
    let announced = positive(integer(arguments.get(at + 1), "ELEMENTS")?, "ELEMENTS")?;
    let left = total.saturating_sub(at + 2) as u64;
    if announced != left {
        return Err(unequal("ELEMENTS", announced, left));
    }
    // Numbers are signed, so that a producer can send the one behind any that is stored.
    let last = producer.map_or(Some(0), |(_, sequence)| sequence.checked_add(left - 1));
    if last.is_none_or(|last| i64::try_from(last).is_err()) {
        return Err(Refusal::argument(
            "SEQ is out of range, expected the last element's number within 64 bits, signed",
        ));
    }
    Ok(PushExtended {
        producer,
        elements: at + 2..total,
    })
}

/// Reads `RQ.POP [COUNT n] [BLOCK ms] [WITHMETA] [KEYS n] key [key ...]`, and the older
/// `RQ.POP n key [key ...]`.
///
/// # Errors
/// Says what was expected.
pub fn pop(arguments: &(impl Arguments + ?Sized)) -> Result<Pop, Refusal> {
    at_least(arguments, 2, Verb::Pop)?;
    let total = arguments.len();
    let (mut count, mut block, mut keys, mut with_meta) = (None, None, None, false);
    let mut at = 1;
    if total > 2 && is_numeric(arguments.get(1)) {
        count = Some(positive(integer(arguments.get(1), "COUNT")?, "COUNT")?);
        at = 2;
    } else {
        // A word in the place of an option is one as long as something follows it.
        while keys.is_none() && at + 1 < total {
            let (word, value) = (arguments.get(at), arguments.get(at + 1));
            if word.eq_ignore_ascii_case(b"COUNT") {
                once(
                    &mut count,
                    positive(integer(value, "COUNT")?, "COUNT")?,
                    "COUNT",
                )?;
            } else if word.eq_ignore_ascii_case(b"BLOCK") {
                once(
                    &mut block,
                    not_negative(integer(value, "BLOCK")?, "BLOCK")?,
                    "BLOCK",
                )?;
            } else if word.eq_ignore_ascii_case(b"WITHMETA") {
                with_meta = flag(with_meta, "WITHMETA")?;
                at += 1;
                continue;
            } else if word.eq_ignore_ascii_case(b"KEYS") {
                keys = Some(positive(integer(value, "KEYS")?, "KEYS")?);
            } else {
                break;
            }
            at += 2;
        }
    }
    let left = (total - at) as u64;
    match keys {
        Some(announced) if announced != left => Err(unequal("KEYS", announced, left)),
        None if left == 0 => Err(usage(Verb::Pop)),
        None if total > 2 => {
            no_options_among(arguments, at..total)?;
            Ok(Pop {
                count: count.unwrap_or(1),
                block,
                with_meta,
                keys: at..total,
            })
        }
        _ => Ok(Pop {
            count: count.unwrap_or(1),
            block,
            with_meta,
            keys: at..total,
        }),
    }
}

/// Reads `RQ.ACK key id [id ...]`; the IDs are put into `ids`.
///
/// # Errors
/// Says what was expected.
pub fn acknowledge(
    arguments: &(impl Arguments + ?Sized),
    ids: &mut Vec<Id>,
) -> Result<(), Refusal> {
    at_least(arguments, 3, Verb::Acknowledge)?;
    ids.clear();
    ids.reserve(arguments.len() - 2);
    for position in 2..arguments.len() {
        ids.push(an_id(arguments.get(position))?);
    }
    Ok(())
}

/// Reads `RQ.RECOVER key count elapsed [WITHMETA]`.
///
/// # Errors
/// Says what was expected.
pub fn recover(arguments: &(impl Arguments + ?Sized)) -> Result<Recover, Refusal> {
    let with_meta = match arguments.len() {
        4 => false,
        5 if arguments.get(4).eq_ignore_ascii_case(b"WITHMETA") => true,
        5 => return Err(misplaced(Verb::Recover)),
        _ => return Err(usage(Verb::Recover)),
    };
    Ok(Recover {
        count: positive(integer(arguments.get(2), "count")?, "count")?,
        elapsed: not_negative(integer(arguments.get(3), "elapsed")?, "elapsed")?,
        with_meta,
    })
}

/// Reads `RQ.PEEK key [BACK] [WITHMETA]`.
///
/// # Errors
/// Says what was expected.
pub fn peek(arguments: &(impl Arguments + ?Sized)) -> Result<Peek, Refusal> {
    at_least(arguments, 2, Verb::Peek)?;
    let (mut back, mut with_meta) = (false, false);
    for at in 2..arguments.len() {
        let word = arguments.get(at);
        if word.eq_ignore_ascii_case(b"BACK") {
            back = flag(back, "BACK")?;
        } else if word.eq_ignore_ascii_case(b"WITHMETA") {
            with_meta = flag(with_meta, "WITHMETA")?;
        } else {
            return Err(misplaced(Verb::Peek));
        }
    }
    Ok(Peek { back, with_meta })
}

/// Reads `RQ.GET key [WITHMETA] IDS n id [id ...]`: whether rows tell what is known of the message;
/// the IDs are put into `ids`.
///
/// # Errors
/// Says what was expected.
pub fn get(arguments: &(impl Arguments + ?Sized), ids: &mut Vec<Id>) -> Result<bool, Refusal> {
    at_least(arguments, 5, Verb::Get)?;
    let with_meta = arguments.get(2).eq_ignore_ascii_case(b"WITHMETA");
    let at = 2 + usize::from(with_meta);
    if !arguments.get(at).eq_ignore_ascii_case(b"IDS") {
        return Err(misplaced(Verb::Get));
    }
    let announced = positive(integer(arguments.get(at + 1), "IDS")?, "IDS")?;
    let left = arguments.len().saturating_sub(at + 2) as u64;
    if announced != left {
        return Err(unequal("IDS", announced, left));
    }
    ids.clear();
    for position in at + 2..arguments.len() {
        ids.push(an_id(arguments.get(position))?);
    }
    Ok(with_meta)
}

/// Reads `RQ.RANGE key min max [REV] [COUNT n] [WITHMETA]`.
///
/// # Errors
/// Says what was expected.
pub fn range(arguments: &(impl Arguments + ?Sized)) -> Result<RangeOf, Refusal> {
    at_least(arguments, 4, Verb::Range)?;
    let low = Id::parse_lowest(arguments.get(2)).map_err(|no| no_id(arguments.get(2), no))?;
    let high = Id::parse_highest(arguments.get(3)).map_err(|no| no_id(arguments.get(3), no))?;
    let (mut reverse, mut with_meta, mut count) = (false, false, None);
    let mut at = 4;
    while at < arguments.len() {
        let word = arguments.get(at);
        if word.eq_ignore_ascii_case(b"REV") {
            reverse = flag(reverse, "REV")?;
        } else if word.eq_ignore_ascii_case(b"WITHMETA") {
            with_meta = flag(with_meta, "WITHMETA")?;
        } else if word.eq_ignore_ascii_case(b"COUNT") && at + 1 < arguments.len() {
            at += 1;
            let value = positive(integer(arguments.get(at), "COUNT")?, "COUNT")?;
            once(&mut count, value, "COUNT")?;
        } else {
            return Err(misplaced(Verb::Range));
        }
        at += 1;
    }
    Ok(RangeOf {
        bounds: low.zip(high),
        reverse,
        count: count.unwrap_or(RANGE_COUNT),
        with_meta,
    })
}

/// Reads `RQ.SPLIT key n`: the number of parts.
///
/// # Errors
/// Says what was expected.
pub fn split(arguments: &(impl Arguments + ?Sized)) -> Result<u64, Refusal> {
    exactly(arguments, 3, Verb::Split)?;
    match positive(integer(arguments.get(2), "n")?, "n")? {
        parts if parts <= MOST_PARTS => Ok(parts),
        _ => Err(Refusal::argument(format!(
            "n is out of range, expected 1 to {MOST_PARTS} parts"
        ))),
    }
}

/// Reads `RQ.INSPECT key [PENDING] start count`.
///
/// # Errors
/// Says what was expected.
pub fn inspect(arguments: &(impl Arguments + ?Sized)) -> Result<Inspect, Refusal> {
    let pending = match arguments.len() {
        4 if !arguments.get(2).eq_ignore_ascii_case(b"PENDING") => false,
        5 if arguments.get(2).eq_ignore_ascii_case(b"PENDING") => true,
        5 => return Err(misplaced(Verb::Inspect)),
        _ => return Err(usage(Verb::Inspect)),
    };
    let at = 2 + usize::from(pending);
    Ok(Inspect {
        pending,
        start: integer(arguments.get(at), "start")?,
        count: positive(integer(arguments.get(at + 1), "count")?, "count")?,
    })
}

/// Reads a command with a key and nothing else.
///
/// # Errors
/// Says what was expected.
pub fn only_key(arguments: &(impl Arguments + ?Sized), verb: Verb) -> Result<(), Refusal> {
    exactly(arguments, 2, verb)
}

/// Reads `RQ.STATUS [key ...]`: the place of the keys.
pub fn status(arguments: &(impl Arguments + ?Sized)) -> Range<usize> {
    1..arguments.len().max(1)
}

/// Reads `RQ.APPLY key effect [payload ...]`: the place of the payloads.
///
/// # Errors
/// Says what was expected.
pub fn apply(arguments: &(impl Arguments + ?Sized)) -> Result<Range<usize>, Refusal> {
    at_least(arguments, 3, Verb::Apply)?;
    Ok(3..arguments.len())
}

// ---- parts ----

fn at_least(
    arguments: &(impl Arguments + ?Sized),
    count: usize,
    verb: Verb,
) -> Result<(), Refusal> {
    if arguments.len() >= count {
        Ok(())
    } else {
        Err(usage(verb))
    }
}

fn exactly(arguments: &(impl Arguments + ?Sized), count: usize, verb: Verb) -> Result<(), Refusal> {
    if arguments.len() == count {
        Ok(())
    } else {
        Err(usage(verb))
    }
}

fn usage(verb: Verb) -> Refusal {
    expected("wrong number of arguments", verb)
}

fn misplaced(verb: Verb) -> Refusal {
    expected("an argument is unknown or not in its place", verb)
}

fn expected(what: &str, verb: Verb) -> Refusal {
    let syntax = (COMMANDS.iter().find(|command| command.verb == verb)).map(document::syntax);
    Refusal::argument(format!("{what}, expected: {}", syntax.unwrap_or_default()))
}

fn unequal(name: &str, announced: u64, left: u64) -> Refusal {
    Refusal::argument(format!(
        "{name} says {announced}, but {left} follow, expected equal numbers"
    ))
}

/// Options stand before the keys. One among keys that were not announced is a mistake, or the name
/// of a queue, which only `KEYS` can tell.
fn no_options_among(
    arguments: &(impl Arguments + ?Sized),
    mut keys: Range<usize>,
) -> Result<(), Refusal> {
    let is_option = |word: &[u8]| {
        let words: [&[u8]; 4] = [b"COUNT", b"BLOCK", b"KEYS", b"WITHMETA"];
        words.iter().any(|option| word.eq_ignore_ascii_case(option))
    };
    match keys.find(|&at| is_option(arguments.get(at))) {
        None => Ok(()),
        Some(at) => Err(Refusal::argument(format!(
            "{} stands among the keys, expected options before them; for a queue of that name announce the keys with KEYS",
            String::from_utf8_lossy(arguments.get(at))
        ))),
    }
}

/// Whether an argument is meant as a number, well-formed or not.
fn is_numeric(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

fn an_id(text: &[u8]) -> Result<Id, Refusal> {
    Id::parse(text).map_err(|invalid| no_id(text, invalid))
}

fn no_id(text: &[u8], invalid: InvalidId) -> Refusal {
    let text = String::from_utf8_lossy(shown(text)).into_owned();
    Refusal::argument(format!("'{text}': {invalid}"))
}

/// As much of an argument as an error should repeat.
fn shown(text: &[u8]) -> &[u8] {
    text.get(..64).unwrap_or(text)
}

/// A decimal number of 64 bits with its sign, in its shortest form.
fn number(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let shortest = match digits {
        [] => false,
        [b'0'] => text.len() == 1,
        [first, ..] => first.is_ascii_digit() && *first != b'0',
    };
    if !shortest || digits.len() > 19 {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn integer(text: &[u8], name: &str) -> Result<i64, Refusal> {
    number(text).ok_or_else(|| {
        Refusal::argument(format!(
            "{name} is not a number, expected a signed integer of 64 bits"
        ))
    })
}

fn positive(number: i64, name: &str) -> Result<u64, Refusal> {
    match u64::try_from(number) {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(Refusal::argument(format!(
            "{name} is out of range, expected a positive integer"
        ))),
    }
}

fn not_negative(number: i64, name: &str) -> Result<u64, Refusal> {
    u64::try_from(number).map_err(|_| {
        Refusal::argument(format!(
            "{name} is out of range, expected milliseconds, 0 or more"
        ))
    })
}

fn flag(given: bool, name: &str) -> Result<bool, Refusal> {
    if given {
        return Err(Refusal::argument(format!(
            "{name} is given twice, expected it once"
        )));
    }
    Ok(true)
}

fn once(option: &mut Option<u64>, value: u64, name: &str) -> Result<(), Refusal> {
    match option.replace(value) {
        None => Ok(()),
        Some(_) => Err(Refusal::argument(format!(
            "{name} is given twice, expected it once"
        ))),
    }
}

#[cfg(test)]
mod tests;
