//! What requests are read with: options, numbers, counted lists.

use std::ops::{Range, RangeInclusive};

use rq_core::Receipt;

use super::Arguments;
use crate::commands::COMMANDS;
use crate::document;
use crate::refusal::Refusal;
use crate::table::Verb;

/// Durations and times are up to this, so that the end of any is a time that an ID can have.
const LONGEST: u64 = (1 << 47) - 1;
/// Bytes of the name of a consumer or a producer.
const LONGEST_NAME: usize = 1024;
/// Options that end a command.
const LISTS: &[&str] = &["IDS", "TOKENS", "ELEMENTS"];

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
    /// Where the last option is.
    option: usize,
    /// The last option that takes any words, and those that it took.
    took: Range<usize>,
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
            option: 0,
            took: 0..0,
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
            return Err(twice(name));
        }
        self.met |= 1 << bit;
        self.option = self.at;
        self.at += 1;
        Ok(Some(name))
    }

    /// The next of these options; none at the end, and anything else is refused.
    pub(super) fn only(&mut self, names: &[&'static str]) -> Result<Option<&'static str>, Refusal> {
        match self.option(names)? {
            None if self.left() > 0 => Err(self.misplaced(names)),
            option => Ok(option),
        }
    }

    /// Passes a word that must follow.
    pub(super) fn expect(&mut self, token: &str) -> Result<(), Refusal> {
        match self.take(token) {
            true => Ok(()),
            false => Err(self.misplaced(&[token])),
        }
    }

    /// The next of these options, where one must follow.
    pub(super) fn one(&mut self, names: &[&'static str]) -> Result<&'static str, Refusal> {
        self.option(names)?.ok_or_else(|| self.misplaced(names))
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
            self.took = self.option..self.at;
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

    /// The name of a consumer or a producer.
    pub(super) fn name(&mut self, name: &str) -> Result<usize, Refusal> {
        self.text(name, 1, LONGEST_NAME)
    }

    /// A number that its type can hold; `what` says which these are.
    pub(super) fn fitting<T: TryFrom<i64>>(
        &mut self,
        name: &str,
        what: &str,
    ) -> Result<T, Refusal> {
        let text = self.arguments.get(self.value(name)?);
        if !is_integer(text) {
            let text = shown(text);
            return Err(Refusal::argument(format!(
                "{name} is not an integer: '{text}', expected {what}"
            )));
        }
        let number = number(text).and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| out_of_range(name, what))
    }

    /// A number within bounds; `what` says which these are.
    pub(super) fn within(
        &mut self,
        name: &str,
        bounds: RangeInclusive<u64>,
        what: &str,
    ) -> Result<u64, Refusal> {
        let number = self.fitting(name, what)?;
        match bounds.contains(&number) {
            true => Ok(number),
            false => Err(out_of_range(name, what)),
        }
    }

    /// Any number.
    pub(super) fn integer(&mut self, name: &str) -> Result<i64, Refusal> {
        self.fitting(name, "an integer of 64 bits, with its sign")
    }

    /// A number above 0.
    pub(super) fn positive(&mut self, name: &str) -> Result<u64, Refusal> {
        self.within(name, 1..=u64::MAX, "a positive integer below 2^63")
    }

    /// A number, 0 for none.
    pub(super) fn count(&mut self, name: &str) -> Result<u64, Refusal> {
        self.fitting(name, "an integer, 0 or more, below 2^63")
    }

    /// How often something may fail: failures are counted in 16 bits, and no higher limit would be reached.
    pub(super) fn tries(&mut self, name: &str) -> Result<u32, Refusal> {
        let tries: u16 = self.fitting(name, "an integer from 0 to 65535")?;
        Ok(tries.into())
    }

    /// A part of a hundred.
    pub(super) fn percent(&mut self, name: &str) -> Result<u8, Refusal> {
        const WHAT: &str = "percent, 0 to 100";
        match self.fitting(name, WHAT)? {
            percent @ 0..=100 => Ok(percent),
            _ => Err(out_of_range(name, WHAT)),
        }
    }

    /// Milliseconds that are only compared or waited for.
    pub(super) fn patience(&mut self, name: &str) -> Result<u64, Refusal> {
        self.fitting(name, "milliseconds, 0 or more, below 2^63")
    }

    /// Milliseconds that make a time, or are one.
    pub(super) fn milliseconds(&mut self, name: &str) -> Result<u64, Refusal> {
        self.within(name, 0..=LONGEST, "milliseconds, 0 or more, below 2^47")
    }

    /// Milliseconds that pass before something.
    pub(super) fn lifetime(&mut self, name: &str) -> Result<u64, Refusal> {
        self.within(name, 1..=LONGEST, "milliseconds, 1 or more, below 2^47")
    }

    /// So many words, as positions; none when there are fewer.
    pub(super) fn pass(&mut self, count: usize) -> Option<Range<usize>> {
        if count > self.left() {
            return None;
        }
        self.at += count;
        self.took = self.option..self.at;
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
        read_receipts(self.arguments, list, receipts).map_err(|refusal| {
            let text = refusal.text;
            Refusal::argument(format!("{name} takes {text}"))
        })?;
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

    /// The next word is none of those that can stand here, or there is none.
    pub(super) fn misplaced(&self, names: &[&str]) -> Refusal {
        let taken = self.taken(names);
        if self.at < self.end {
            let word = shown(self.word());
            let what = format!("'{word}' is unknown or not in its place{taken}");
            return expected(&what, self.verb);
        }
        let is_list = |name: &&str| LISTS.contains(name);
        let mut missing: Vec<&str> = names.iter().copied().filter(is_list).collect();
        if missing.is_empty() {
            missing = names.to_vec();
        }
        let what = format!("{} is missing{taken}", missing.join(" or "));
        expected(&what, self.verb)
    }

    /// What an option took right before, or that another option was among it: its count may be wrong, or its value left out.
    fn taken(&self, names: &[&str]) -> String {
        let mut words = self.took.clone().map(|at| self.arguments.get(at));
        let Some(option) = words.next().filter(|_| self.took.start > 0) else {
            return String::new();
        };
        let is_option = |word: &[u8]| {
            let mut names = names.iter();
            names.any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
        };
        if self.took.end != self.at && !words.clone().any(is_option) {
            return String::new();
        }
        let (first, last) = (words.len().min(3), words.len().saturating_sub(3));
        let quoted = |word: &[u8]| format!(" '{}'", shown(word.get(..20).unwrap_or(word)));
        let mut taken: String = words.clone().take(first).map(quoted).collect();
        if last > first {
            taken.push_str(" ...");
        }
        taken.extend(words.skip(first.max(last)).map(quoted));
        format!(", {} before it took{taken}", shown(option).to_uppercase())
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

/// An option that was given before.
pub(super) fn twice(name: &str) -> Refusal {
    Refusal::argument(format!("{name} is given twice, expected it once"))
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

/// What is no bound of a range.
pub(super) fn no_bound(name: &str, text: &[u8]) -> Refusal {
    Refusal::argument(format!(
        "{name} is '{}', expected -, +, an ID such as 1601155608777-1, or ( and an ID",
        shown(text)
    ))
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

/// Whether a text is a decimal number without decimals, in its shortest form, however large.
fn is_integer(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    match digits {
        [b'0'] => text.len() == 1,
        [first, ..] => *first != b'0' && digits.iter().all(u8::is_ascii_digit),
        [] => false,
    }
}

/// A decimal number of 64 bits with its sign, in its shortest form.
pub(super) fn number(text: &[u8]) -> Option<i64> {
    if !is_integer(text) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}
