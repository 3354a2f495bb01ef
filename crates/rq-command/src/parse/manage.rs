//! Settings, pauses, dead letters, consumers.

use std::ops::Range;

use rq_core::{Backoff, Change, Receipt};

use super::Arguments;
use super::words::{Named, Words, number, out_of_range, shown, together};
use crate::refusal::Refusal;
use crate::table::Verb;

/// `RQ.REDRIVE`: which dead letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redrive {
    /// All of them.
    All,
    /// So many of them, the longest dead first.
    Count(u64),
    /// These.
    Named(Named),
}

/// `RQ.PAUSE`, `RQ.RESUME`: what of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sides {
    /// Its pushes.
    pub push: bool,
    /// Its pops.
    pub pop: bool,
}

/// `RQ.CONSUMER`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsumerOf {
    /// All consumers are shown.
    List,
    /// One ends, whose name is there.
    Delete(usize),
}

/// Reads `RQ.DELETE key IDS|TOKENS n ...`; IDs and receipts are put into `receipts`.
///
/// # Errors
/// Says what was expected.
pub fn delete(
    arguments: &(impl Arguments + ?Sized),
    receipts: &mut Vec<Receipt>,
) -> Result<Named, Refusal> {
    let mut words = Words::new(arguments, Verb::Delete, 2, 2)?;
    let list = words.one(&["IDS", "TOKENS"])?;
    words.last_named(list, receipts)
}

/// Reads `RQ.REDRIVE key [COUNT n | IDS n id ... | TOKENS n token ...]`; IDs and receipts are put
/// into `receipts`.
///
/// # Errors
/// Says what was expected.
pub fn redrive(
    arguments: &(impl Arguments + ?Sized),
    receipts: &mut Vec<Receipt>,
) -> Result<Redrive, Refusal> {
    const OPTIONS: &[&str] = &["COUNT", "IDS", "TOKENS"];
    receipts.clear();
    let mut words = Words::new(arguments, Verb::Redrive, 2, 2)?;
    let redrive = match words.only(OPTIONS)? {
        None => Redrive::All,
        Some("COUNT") => Redrive::Count(words.positive("COUNT")?),
        Some(list) => Redrive::Named(words.last_named(list, receipts)?),
    };
    match words.only(OPTIONS)? {
        None => Ok(redrive),
        Some(list) => Err(together("COUNT", list)),
    }
}

/// Reads `RQ.FLUSH key [DEAD]`: whether only dead letters go.
///
/// # Errors
/// Says what was expected.
pub fn flush(arguments: &(impl Arguments + ?Sized)) -> Result<bool, Refusal> {
    let mut words = Words::new(arguments, Verb::Flush, 2, 2)?;
    let mut dead = false;
    while words.only(&["DEAD"])?.is_some() {
        dead = true;
    }
    Ok(dead)
}

/// Reads `RQ.PAUSE key [PUSH|POP|ALL]` and `RQ.RESUME key [PUSH|POP|ALL]`.
///
/// # Errors
/// Says what was expected.
pub fn sides(arguments: &(impl Arguments + ?Sized), verb: Verb) -> Result<Sides, Refusal> {
    const SIDES: &[&str] = &["PUSH", "POP", "ALL"];
    let mut words = Words::new(arguments, verb, 2, 2)?;
    let word = words.only(SIDES)?.unwrap_or("POP");
    if let Some(other) = words.only(SIDES)? {
        return Err(together(word, other));
    }
    Ok(Sides {
        push: word != "POP",
        pop: word != "PUSH",
    })
}

const SETTINGS: &[&str] = &[
    "LEASE",
    "DELIVERIES",
    "BACKOFF",
    "JITTER",
    "MAXLEN",
    "MAXBYTES",
    "REJECT",
    "DROP",
    "DEDUP",
    "EXPIRED",
    "DEADMAX",
    "DEADTTL",
    "INFLIGHT",
];

/// Reads `RQ.SETUP key [LEASE ms] [DELIVERIES n] [BACKOFF base factor max] [JITTER percent]
/// [MAXLEN n] [MAXBYTES n] [REJECT|DROP] [DEDUP ms] [EXPIRED DROP|DEAD] [DEADMAX n] [DEADTTL ms]
/// [INFLIGHT n]`; a change that is empty asks for the settings.
///
/// # Errors
/// Says what was expected.
pub fn setup(arguments: &(impl Arguments + ?Sized)) -> Result<Change, Refusal> {
    let mut words = Words::new(arguments, Verb::Setup, 2, 2)?;
    let mut change = Change::default();
    while let Some(name) = words.only(SETTINGS)? {
        match name {
            "LEASE" => change.lease = Some(words.milliseconds(name)?),
            "DELIVERIES" => change.deliveries = Some(words.tries(name)?),
            "BACKOFF" => change.backoff = Some(backoff(arguments, &mut words)?),
            "JITTER" => change.jitter = Some(words.percent(name)?),
            "MAXLEN" => change.max_length = Some(words.count(name)?),
            "MAXBYTES" => change.max_bytes = Some(words.count(name)?),
            "REJECT" | "DROP" if change.drops.is_some() => {
                return Err(together("REJECT", "DROP"));
            }
            "REJECT" => change.drops = Some(false),
            "DROP" => change.drops = Some(true),
            "DEDUP" => change.dedup = Some(words.milliseconds(name)?),
            "EXPIRED" => change.expired_dead = Some(expired(arguments, &mut words)?),
            "DEADMAX" => change.dead_max = Some(words.count(name)?),
            "DEADTTL" => change.dead_ttl = Some(words.milliseconds(name)?),
            _ => change.inflight = Some(words.count(name)?),
        }
    }
    Ok(change)
}

fn backoff<A: Arguments + ?Sized>(
    arguments: &A,
    words: &mut Words<'_, A>,
) -> Result<Backoff, Refusal> {
    let base = words.milliseconds("BACKOFF's base")?;
    let factor = thousandths(arguments.get(words.value("BACKOFF's factor")?));
    let factor = factor.filter(|factor| Backoff::FACTORS.contains(factor));
    Ok(Backoff {
        base,
        factor: factor.ok_or_else(|| {
            let what = "a number from 1 to 1000 with at most three decimals, such as 1.5";
            out_of_range("BACKOFF's factor", what)
        })?,
        max: words.milliseconds("BACKOFF's max")?,
    })
}

/// A decimal number that is not negative, with at most three decimals, in thousandths.
fn thousandths(text: &[u8]) -> Option<u32> {
    let dot = text.iter().position(|&byte| byte == b'.');
    let (whole, decimals) = text.split_at(dot.unwrap_or(text.len()));
    let decimals = match decimals {
        [] => 0,
        [_, digits @ ..] if (1..=3).contains(&digits.len()) => {
            let mut padded = digits.iter().chain(b"000").take(3);
            padded.try_fold(0, |sum, digit| {
                digit
                    .is_ascii_digit()
                    .then(|| sum * 10 + u32::from(digit - b'0'))
            })?
        }
        _ => return None,
    };
    let whole = u32::try_from(number(whole)?).ok()?;
    whole.checked_mul(1000)?.checked_add(decimals)
}

fn expired<A: Arguments + ?Sized>(
    arguments: &A,
    words: &mut Words<'_, A>,
) -> Result<bool, Refusal> {
    if words.take("DEAD") {
        return Ok(true);
    }
    if words.take("DROP") {
        return Ok(false);
    }
    let word = shown(arguments.get(words.value("EXPIRED")?));
    Err(Refusal::argument(format!(
        "EXPIRED is '{word}', expected DROP or DEAD"
    )))
}

/// Reads `RQ.CONSUMER LIST key` and `RQ.CONSUMER DELETE key consumer`.
///
/// # Errors
/// Says what was expected.
pub fn consumer(arguments: &(impl Arguments + ?Sized)) -> Result<ConsumerOf, Refusal> {
    let mut words = Words::new(arguments, Verb::Consumer, 1, 2)?;
    let word = words.one(&["LIST", "DELETE"])?;
    words.value(word)?;
    let of = match word {
        "LIST" => ConsumerOf::List,
        _ => ConsumerOf::Delete(words.name("consumer")?),
    };
    words.finish()?;
    Ok(of)
}

/// Reads `RQ.APPLY key effect [payload ...]`: the place of the payloads.
///
/// # Errors
/// Says what was expected.
pub fn apply(arguments: &(impl Arguments + ?Sized)) -> Result<Range<usize>, Refusal> {
    Ok(Words::new(arguments, Verb::Apply, 3, 3)?.rest())
}
