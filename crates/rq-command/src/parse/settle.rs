//! What becomes of delivered messages.

use std::ops::Range;

use rq_core::Receipt;

use super::Arguments;
use super::produce::new_settings;
use super::words::{Named, Words, read_receipts, together};
use crate::refusal::Refusal;
use crate::table::Verb;

/// Bytes of a reason.
const LONGEST_REASON: usize = 4096;

/// `RQ.ACK`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acknowledge {
    /// Whether the reply tells of each what became of it.
    pub status: bool,
    /// Which messages.
    pub named: Named,
}

/// `RQ.NACK`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nack {
    /// Milliseconds until they are tried again; none: as the queue says.
    pub delay: Option<u64>,
    /// Whether they are dead at once.
    pub dead: bool,
    /// Where the reason is.
    pub reason: Option<usize>,
    /// Whether no failure is counted.
    pub silent: bool,
    /// Whether the reply tells of each what became of it.
    pub status: bool,
    /// Which messages.
    pub named: Named,
}

/// `RQ.EXTEND`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extend {
    /// From now until the lease ends, 0 for never.
    pub milliseconds: u64,
    /// Whether work on them begins.
    pub start: bool,
    /// Whether the reply tells of each what became of it.
    pub status: bool,
    /// Which messages.
    pub named: Named,
}

/// `RQ.FORWARD`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forward {
    /// Lease and deliveries of the destination if this makes it.
    pub new: Option<(u64, u32)>,
    /// Which messages are acknowledged.
    pub named: Named,
    /// Where the payloads of the new ones are.
    pub elements: Range<usize>,
}

const ACKNOWLEDGE_OPTIONS: &[&str] = &["IDS", "TOKENS", "STATUS"];

/// Reads `RQ.ACK key id [id ...]` and `RQ.ACK key [STATUS] IDS|TOKENS n ...`; IDs and receipts are
/// put into `receipts`.
///
/// # Errors
/// Says what was expected.
pub fn acknowledge(
    arguments: &(impl Arguments + ?Sized),
    receipts: &mut Vec<Receipt>,
) -> Result<Acknowledge, Refusal> {
    let mut words = Words::new(arguments, Verb::Acknowledge, 2, 3)?;
    let mut status = false;
    loop {
        match words.option(ACKNOWLEDGE_OPTIONS)? {
            Some("STATUS") => status = true,
            Some(list) => {
                let named = words.last_named(list, receipts)?;
                return Ok(Acknowledge { status, named });
            }
            None if status => return Err(words.misplaced(ACKNOWLEDGE_OPTIONS)),
            None => {
                read_receipts(arguments, words.rest(), receipts)?;
                let named = Named::Receipts;
                return Ok(Acknowledge { status, named });
            }
        }
    }
}

/// Reads `RQ.NACK key [DELAY ms] [DEAD] [REASON text] [SILENT] [STATUS] IDS|TOKENS n ...`; IDs and
/// receipts are put into `receipts`.
///
/// # Errors
/// Says what was expected.
pub fn negative_acknowledge(
    arguments: &(impl Arguments + ?Sized),
    receipts: &mut Vec<Receipt>,
) -> Result<Nack, Refusal> {
    const OPTIONS: &[&str] = &[
        "DELAY", "DEAD", "REASON", "SILENT", "STATUS", "IDS", "TOKENS",
    ];
    let mut words = Words::new(arguments, Verb::Nack, 2, 2)?;
    let mut nack = Nack {
        delay: None,
        dead: false,
        reason: None,
        silent: false,
        status: false,
        named: Named::Receipts,
    };
    loop {
        match words.one(OPTIONS)? {
            "DELAY" => nack.delay = Some(words.milliseconds("DELAY")?),
            "DEAD" => nack.dead = true,
            "REASON" => nack.reason = Some(words.text("REASON", 0, LONGEST_REASON)?),
            "SILENT" => nack.silent = true,
            "STATUS" => nack.status = true,
            list => {
                nack.named = words.last_named(list, receipts)?;
                break;
            }
        }
    }
    if nack.dead && nack.delay.is_some() {
        return Err(together("DELAY", "DEAD"));
    }
    Ok(nack)
}

/// Reads `RQ.EXTEND key ms [START] [STATUS] IDS|TOKENS n ...`; IDs and receipts are put into
/// `receipts`.
///
/// # Errors
/// Says what was expected.
pub fn extend(
    arguments: &(impl Arguments + ?Sized),
    receipts: &mut Vec<Receipt>,
) -> Result<Extend, Refusal> {
    let mut words = Words::new(arguments, Verb::Extend, 2, 3)?;
    let milliseconds = words.milliseconds("milliseconds")?;
    let (mut start, mut status) = (false, false);
    loop {
        match words.one(&["START", "STATUS", "IDS", "TOKENS"])? {
            "START" => start = true,
            "STATUS" => status = true,
            list => {
                return Ok(Extend {
                    milliseconds,
                    start,
                    status,
                    named: words.last_named(list, receipts)?,
                });
            }
        }
    }
}

/// Reads `RQ.FORWARD source destination [NEW lease deliveries] IDS|TOKENS n ... ELEMENTS n element
/// [element ...]`; IDs and receipts are put into `receipts`.
///
/// # Errors
/// Says what was expected.
pub fn forward(
    arguments: &(impl Arguments + ?Sized),
    receipts: &mut Vec<Receipt>,
) -> Result<Forward, Refusal> {
    let mut words = Words::new(arguments, Verb::Forward, 3, 3)?;
    let mut new = None;
    let name = loop {
        match words.one(&["NEW", "IDS", "TOKENS"])? {
            "NEW" => new = Some(new_settings(&mut words)?),
            list => break list,
        }
    };
    let list = words.list(name)?;
    let named = words.named(name, list, receipts)?;
    words.expect("ELEMENTS")?;
    let elements = words.last_list("ELEMENTS")?;
    Ok(Forward {
        new,
        named,
        elements,
    })
}
