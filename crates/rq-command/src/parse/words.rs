//! What requests are read with: options, numbers, counted lists.

use std::ops::Range;

use rq_core::{InvalidId, Receipt};

use super::Arguments;
use crate::commands::COMMANDS;
use crate::document;
use crate::refusal::Refusal;
use crate::table::Verb;

/// Durations and times are below this, so that the end of any is a time that an ID can have.
const MILLISECONDS_END: u64 = 1 << 47;
/// Bytes of a consumer's name.
const LONGEST_CONSUMER: usize = 1024;

/// The messages of a counted list, `IDS n id ...` or `TOKENS n token ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// By IDs and receipts, which were put into the caller's list.
    Receipts,
    /// By tokens, which are at these positions.
    Tokens(Range<usize>),
}

/// The words of a command from one of them on.
pub(super) struct Words<'a, A: ?Sized> {
    arguments: &'a A,
    verb: Verb,
    at: usize,
    end: usize,
    /// A bit for each option that was met.
    met: u32,
}

impl<'a, A: Arguments + ?Sized> Words<'a, A> {
    /// The words from `at` on; refused when the command has less than `least` in all.
    pub(super) fn new(
        arguments: &'a A,
        verb: Verb,
        at: usize,
        least: usize,
    ) -> Result<Self, Refusal> {
        if arguments.len() < least {
            return Err(usage(verb));
        }
        Ok(Self {
            arguments,
            verb,
            at,
            end: arguments.len(),
            met: 0,
        })
    }

    /// Leaves the last words to a later reader.
    pub(super) fn without_last(mut self, count: usize) -> Self {
        self.end = self.end.saturating_sub(count);
        self
    }

    /// Goes on behind the end that was set.
    pub(super) fn with_last(mut self) -> Self {
        self.end = self.arguments.len();
        self
    }

    pub(super) fn left(&self) -> usize {
        self.end.saturating_sub(self.at)
    }

    /// All that is left, as positions.
    pub(super) fn rest(&self) -> Range<usize> {
        self.at..self.end.max(self.at)
    }

    fn word(&self) -> &'a [u8] {
        if self.at < self.end {
            self.arguments.get(self.at)
        } else {
            &[]
        }
    }

    /// Whether the next word is this one, which is passed then.
    pub(super) fn take(&mut self, token: &str) -> bool {
        let is = self.word().eq_ignore_ascii_case(token.as_bytes());
        self.at += usize::from(is);
        is
    }

    /// The next word, if it is one of these options, each at most once. It must be the same list of
    /// up to 32 for all words of a command.
    pub(super) fn option(
        &mut self,
        names: &[&'static str],
    ) -> Result<Option<&'static str>, Refusal> {
        let word = self.word();
        let mut all = names.iter().zip(0..u32::BITS);
        let Some((&name, bit)) = all.find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes()))
        else {
            return Ok(None);
        };
        if self.met & (1 << bit) != 0 {
            return Err(Refusal::argument(format!(
                "{name} is given twice, expected it once"
            )));
        }
        self.met |= 1 << bit;
        self.at += 1;
        Ok(Some(name))
    }

    /// The next of these options; none at the end, and anything else is refused.
    pub(super) fn only(&mut self, names: &[&'static str]) -> Result<Option<&'static str>, Refusal> {
        match self.option(names)? {
            None if self.left() > 0 => Err(self.misplaced()),
            option => Ok(option),
        }
    }

    /// The next of these options, where one must follow.
    pub(super) fn one(&mut self, names: &[&'static str]) -> Result<&'static str, Refusal> {
        self.option(names)?.ok_or_else(|| self.misplaced())
    }

    /// The position of the value that must follow.
    pub(super) fn value(&mut self, name: &str) -> Result<usize, Refusal> {
        if self.at >= self.end {
            let what = format!("{name} lacks its value");
            return Err(expected(&what, self.verb));
        }
        self.at += 1;
        Ok(self.at - 1)
    }

    /// Any bytes, but not more, nor less, than so many.
    pub(super) fn text(&mut self, name: &str, least: usize, most: usize) -> Result<usize, Refusal> {
        let position = self.value(name)?;
        let length = self.arguments.get(position).len();
        if (least..=most).contains(&length) {
            return Ok(position);
        }
        let what = match most {
            usize::MAX => format!("at least {least}"),
            _ => format!("{least} to {most}"),
        };
        Err(Refusal::argument(format!(
            "{name} has {length} bytes, expected {what}"
        )))
    }

    /// The name of a consumer.
    pub(super) fn consumer(&mut self, name: &str) -> Result<usize, Refusal> {
        self.text(name, 1, LONGEST_CONSUMER)
    }

    /// Any number.
    pub(super) fn integer(&mut self, name: &str) -> Result<i64, Refusal> {
        let position = self.value(name)?;
        number(self.arguments.get(position)).ok_or_else(|| {
            Refusal::argument(format!(
                "{name} is not a number, expected a signed integer of 64 bits"
            ))
        })
    }

    /// A number that its type can hold; `what` says which these are.
    pub(super) fn fitting<T: TryFrom<i64>>(
        &mut self,
        name: &str,
        what: &str,
    ) -> Result<T, Refusal> {
        T::try_from(self.integer(name)?).map_err(|_| out_of_range(name, what))
    }

    /// A number above 0.
    pub(super) fn positive(&mut self, name: &str) -> Result<u64, Refusal> {
        match self.fitting(name, "a positive integer")? {
            0 => Err(out_of_range(name, "a positive integer")),
            number => Ok(number),
        }
    }

    /// A number, 0 for none.
    pub(super) fn count(&mut self, name: &str) -> Result<u64, Refusal> {
        self.fitting(name, "an integer, 0 or more")
    }

    /// Milliseconds that are only compared or waited for.
    pub(super) fn patience(&mut self, name: &str) -> Result<u64, Refusal> {
        self.fitting(name, "milliseconds, 0 or more")
    }

    /// Milliseconds that make a time, or are one.
    pub(super) fn milliseconds(&mut self, name: &str) -> Result<u64, Refusal> {
        const WHAT: &str = "milliseconds, 0 or more, below 2^47";
        match self.fitting(name, WHAT)? {
            number if number < MILLISECONDS_END => Ok(number),
            _ => Err(out_of_range(name, WHAT)),
        }
    }

    /// So many words, as positions; none when there are fewer.
    pub(super) fn pass(&mut self, count: usize) -> Option<Range<usize>> {
        if count > self.left() {
            return None;
        }
        self.at += count;
        Some(self.at - count..self.at)
    }

    /// A number and as many words, as positions.
    pub(super) fn list(&mut self, name: &str) -> Result<Range<usize>, Refusal> {
        let announced = self.positive(name)?;
        let list = usize::try_from(announced)
            .ok()
            .and_then(|count| self.pass(count));
        list.ok_or_else(|| unequal(name, announced, self.left()))
    }

    /// A number and as many words, behind which nothing stands.
    pub(super) fn last_list(&mut self, name: &str) -> Result<Range<usize>, Refusal> {
        let list = self.list(name)?;
        match self.left() {
            0 => Ok(list),
            more => Err(unequal(name, list.len() as u64, list.len() + more)),
        }
    }

    /// Messages by what the option `name` says that they are called by.
    pub(super) fn named(
        &self,
        name: &str,
        list: Range<usize>,
        receipts: &mut Vec<Receipt>,
    ) -> Result<Named, Refusal> {
        if name == "TOKENS" {
            receipts.clear();
            return Ok(Named::Tokens(list));
        }
        read_receipts(self.arguments, list, receipts)?;
        Ok(Named::Receipts)
    }

    /// A counted list of messages, behind which nothing stands.
    pub(super) fn last_named(
        &mut self,
        name: &str,
        receipts: &mut Vec<Receipt>,
    ) -> Result<Named, Refusal> {
        let list = self.last_list(name)?;
        self.named(name, list, receipts)
    }

    /// The next word is not what can stand here.
    pub(super) fn misplaced(&self) -> Refusal {
        if self.at >= self.end {
            return usage(self.verb);
        }
        let word = shown(self.word());
        let what = format!("'{word}' is unknown or not in its place");
        expected(&what, self.verb)
    }

    /// Refuses what is left.
    pub(super) fn finish(&self) -> Result<(), Refusal> {
        if self.left() == 0 {
            Ok(())
        } else {
            Err(usage(self.verb))
        }
    }
}

/// Puts the receipts at these positions into the list, and nothing else.
pub(super) fn read_receipts(
    arguments: &(impl Arguments + ?Sized),
    positions: Range<usize>,
    receipts: &mut Vec<Receipt>,
) -> Result<(), Refusal> {
    receipts.clear();
    receipts.reserve(positions.len());
    for position in positions {
        let text = arguments.get(position);
        receipts.push(Receipt::parse(text).map_err(|invalid| {
            Refusal::argument(format!(
                "'{}': {invalid}, or with @ and the number of a delivery",
                shown(text)
            ))
        })?);
    }
    Ok(())
}

/// Two options that exclude each other.
pub(super) fn together(one: &str, other: &str) -> Refusal {
    Refusal::argument(format!(
        "{one} and {other} are given together, expected one of them"
    ))
}

pub(super) fn out_of_range(name: &str, what: &str) -> Refusal {
    Refusal::argument(format!("{name} is out of range, expected {what}"))
}

pub(super) fn no_id(text: &[u8], invalid: InvalidId) -> Refusal {
    Refusal::argument(format!("'{}': {invalid}", shown(text)))
}

pub(super) fn usage(verb: Verb) -> Refusal {
    expected("wrong number of arguments", verb)
}

fn expected(what: &str, verb: Verb) -> Refusal {
    let syntax = (COMMANDS.iter().find(|command| command.verb == verb)).map(document::syntax);
    Refusal::argument(format!("{what}, expected: {}", syntax.unwrap_or_default()))
}

fn unequal(name: &str, announced: u64, left: usize) -> Refusal {
    Refusal::argument(format!(
        "{name} says {announced}, but {left} follow, expected equal numbers"
    ))
}

/// As much of an argument as an error should repeat.
pub(super) fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text.get(..64).unwrap_or(text)).into_owned()
}

/// A decimal number of 64 bits with its sign, in its shortest form.
pub(super) fn number(text: &[u8]) -> Option<i64> {
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
