//! Requests: arrays of bulk strings as programs send them, and lines as a person types them.
//!
//! A request is read from the bytes that came so far; what was read of one that is not complete is
//! remembered, so that a large one costs nothing twice.

use std::fmt;
use std::ops::Range;

use rq_command::parse::Arguments;

/// Arguments of a request.
const MOST_ARGUMENTS: usize = 1 << 20;
/// Bytes of an argument.
const LONGEST: usize = 512 << 20;
/// Bytes of a request.
const LARGEST: usize = 1 << 30;
/// Bytes of a line that a person typed.
const LONGEST_LINE: usize = 64 << 10;
/// Bytes of a line that holds a length.
const LONGEST_LENGTH: usize = 32;

/// The words of a request, the name of the command first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'a> {
    bytes: &'a [u8],
    places: &'a [Range<usize>],
}

impl<'a> Words<'a> {
    /// One of them; empty beyond the end.
    pub(super) fn at(&self, position: usize) -> &'a [u8] {
        let place = self.places.get(position).cloned().unwrap_or_default();
        self.bytes.get(place).unwrap_or_default()
    }

    /// Some of them.
    pub(super) fn several(
        &self,
        range: Range<usize>,
    ) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone + use<'a> {
        let bytes = self.bytes;
        let places = self.places.get(range).unwrap_or_default();
        (places.iter()).map(move |place| bytes.get(place.clone()).unwrap_or_default())
    }

    pub(super) fn count(&self) -> usize {
        self.places.len()
    }

    /// Whether a word is this one, in any letter case.
    pub(super) fn is(&self, position: usize, word: &str) -> bool {
        position < self.count() && self.at(position).eq_ignore_ascii_case(word.as_bytes())
    }
}

impl Arguments for Words<'_> {
    fn len(&self) -> usize {
        self.count()
    }

    fn get(&self, position: usize) -> &[u8] {
        self.at(position)
    }
}

/// Bytes that are no request; nothing behind them can be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Malformed {
    Arguments,
    Argument,
    NotAnArgument(u8),
    Line,
    Quotes,
    Large,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Protocol error: ")?;
        match self {
            Malformed::Arguments => f.write_str("invalid multibulk length"),
            Malformed::Argument => f.write_str("invalid bulk length"),
            Malformed::NotAnArgument(byte) => {
                write!(f, "expected '$', got '{}'", byte.escape_ascii())
            }
            Malformed::Line => f.write_str("too big inline request"),
            Malformed::Quotes => f.write_str("unbalanced quotes in request"),
            Malformed::Large => f.write_str("too big request, expected at most 1 GiB"),
        }
    }
}

/// Bytes that came, and how far they were read.
#[derive(Default)]
pub(super) struct Requests {
    bytes: Vec<u8>,
    /// Where the request begins that is read next, or being read.
    start: usize,
    /// How far it was read.
    at: usize,
    /// Arguments that are still to come; none when its first line is.
    missing: Option<usize>,
    places: Vec<Range<usize>>,
    /// The words of a typed line, without their quotes.
    typed: Option<Vec<u8>>,
}

impl Requests {
    /// Adds bytes that came.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Reads on until there is a request, which [`Self::words`] gives then; false when more bytes
    /// must come.
    pub(super) fn next(&mut self) -> Result<bool, Malformed> {
        loop {
            let missing = match self.missing {
                Some(missing) => missing,
                None => match self.begin()? {
                    None => return Ok(false),
                    Some(missing) => missing,
                },
            };
            self.missing = Some(missing);
            if missing == 0 && self.places.is_empty() {
                // An empty line, or an array of nothing: no request, and no answer.
                self.done();
            } else if missing == 0 {
                return Ok(true);
            } else if !self.argument()? {
                return Ok(false);
            } else {
                self.missing = Some(missing - 1);
            }
        }
    }

    /// The request that was read.
    pub(super) fn words(&self) -> Words<'_> {
        Words {
            bytes: self.typed.as_deref().unwrap_or(&self.bytes),
            places: &self.places,
        }
    }

    /// Lets go of the request that was read.
    pub(super) fn done(&mut self) {
        self.start = self.at;
        self.missing = None;
        self.places.clear();
        self.typed = None;
    }

    /// Gives back the room of what was read. The bytes of a request that is not complete stay.
    pub(super) fn shrink(&mut self) {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            for place in &mut self.places {
                *place = place.start - self.start..place.end - self.start;
            }
            self.at -= self.start;
            self.start = 0;
        }
        if self.bytes.is_empty() && self.bytes.capacity() > LONGEST_LINE {
            self.bytes = Vec::new();
        }
        if self.places.is_empty() && self.places.capacity() > LONGEST_LINE {
            self.places = Vec::new();
        }
    }

    /// Reads the first line: how many arguments follow it.
    fn begin(&mut self) -> Result<Option<usize>, Malformed> {
        match self.bytes.get(self.at) {
            None => Ok(None),
            Some(b'*') => {
                let length = self.length(Malformed::Arguments)?;
                let Some(length) = length else {
                    return Ok(None);
                };
                match usize::try_from(length) {
                    // Less than nothing is nothing.
                    Err(_) => Ok(Some(0)),
                    Ok(length) if length <= MOST_ARGUMENTS => Ok(Some(length)),
                    Ok(_) => Err(Malformed::Arguments),
                }
            }
            Some(_) => self.typed_line(),
        }
    }

    /// Reads an argument, where all of it came.
    fn argument(&mut self) -> Result<bool, Malformed> {
        let before = self.at;
        match self.bytes.get(self.at) {
            None => return Ok(false),
            Some(b'$') => {}
            Some(&byte) => return Err(Malformed::NotAnArgument(byte)),
        }
        let Some(length) = self.length(Malformed::Argument)? else {
            return Ok(false);
        };
        let length = usize::try_from(length).ok();
        let length = length.filter(|&length| length <= LONGEST);
        let length = length.ok_or(Malformed::Argument)?;
        if exceeds(self.at - self.start, length) {
            return Err(Malformed::Large);
        }
        let end = self.at + length;
        if self.bytes.len() < end + 2 {
            // Its length is read again when more has come.
            self.at = before;
            return Ok(false);
        }
        self.places.push(self.at..end);
        self.at = end + 2;
        Ok(true)
    }

    /// Reads a line that holds a mark and a length.
    fn length(&mut self, malformed: Malformed) -> Result<Option<i64>, Malformed> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let line = rest.get(..LONGEST_LENGTH).unwrap_or(rest);
        let Some(end) = line.windows(2).position(|two| two == b"\r\n") else {
            return match line.len() {
                LONGEST_LENGTH => Err(malformed),
                _ => Ok(None),
            };
        };
        let digits = line.get(1..end).unwrap_or_default();
        let text = std::str::from_utf8(digits).ok();
        let number = text.and_then(|text| text.parse().ok()).ok_or(malformed)?;
        self.at += end + 2;
        Ok(Some(number))
    }

    fn typed_line(&mut self) -> Result<Option<usize>, Malformed> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(end) = rest.iter().position(|&byte| byte == b'\n') else {
            return match rest.len() {
                0..=LONGEST_LINE => Ok(None),
                _ => Err(Malformed::Line),
            };
        };
        if end > LONGEST_LINE {
            return Err(Malformed::Line);
        }
        let line = rest.get(..end).unwrap_or_default();
        let mut typed = Vec::new();
        split(line, &mut typed, &mut self.places)?;
        self.typed = Some(typed);
        self.at += end + 1;
        Ok(Some(0))
    }
}

/// Whether a request is too large with one more argument.
fn exceeds(read: usize, length: usize) -> bool {
    read + length > LARGEST
}

/// Splits a line at its blanks. Quotes keep blanks: in double ones `\n`, `\r`, `\t`, `\a`, `\b`, `\xhh`
/// and any escaped sign stand for a byte, in single ones only `\'`.
fn split(line: &[u8], out: &mut Vec<u8>, places: &mut Vec<Range<usize>>) -> Result<(), Malformed> {
    let mut rest = line.trim_ascii_start();
    while !rest.is_empty() {
        let start = out.len();
        rest = word(rest, out)?;
        places.push(start..out.len());
        rest = rest.trim_ascii_start();
    }
    Ok(())
}

/// Takes a word, which may end in quotes; what follows it.
fn word<'a>(text: &'a [u8], out: &mut Vec<u8>) -> Result<&'a [u8], Malformed> {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'');
    let (plain, rest) = text.split_at(text.iter().position(ends).unwrap_or(text.len()));
    out.extend_from_slice(plain);
    let rest = match rest {
        [quote @ (b'"' | b'\''), rest @ ..] => quoted(*quote, rest, out)?,
        rest => rest,
    };
    match rest.first() {
        Some(byte) if !byte.is_ascii_whitespace() => Err(Malformed::Quotes),
        _ => Ok(rest),
    }
}

/// Takes a word up to its closing quote; what follows it.
fn quoted<'a>(quote: u8, text: &'a [u8], out: &mut Vec<u8>) -> Result<&'a [u8], Malformed> {
    let mut rest = text;
    loop {
        rest = match (quote, rest) {
            (_, []) => return Err(Malformed::Quotes),
            (_, [byte, rest @ ..]) if *byte == quote => return Ok(rest),
            (b'\'', [b'\\', b'\'', rest @ ..]) => {
                out.push(b'\'');
                rest
            }
            (b'"', [b'\\', b'x', high, low, rest @ ..])
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                let digit = |digit: u8| char::from(digit).to_digit(16).unwrap_or(0) as u8;
                out.push(digit(*high) << 4 | digit(*low));
                rest
            }
            (b'"', [b'\\', byte, rest @ ..]) => {
                out.push(match byte {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'a' => 7,
                    b'b' => 8,
                    other => *other,
                });
                rest
            }
            (_, [byte, rest @ ..]) => {
                out.push(*byte);
                rest
            }
        };
    }
}

#[cfg(test)]
mod tests;
