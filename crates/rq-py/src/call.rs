//! Commands from Python, and their replies to Python.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyTuple};
use rq_command::parse::{self, Arguments};
use rq_command::reply::{self, Sink};
use rq_command::{Access, COMMANDS, Code, Refusal, Verb};
use rq_core::{IdText, Pop};
use rq_embedded::{Error, State, pop_of};

/// The words of a command: bytes, and numbers, which are written as such.
pub(crate) struct Held<'py>(Vec<Bound<'py, PyBytes>>);

impl<'py> Held<'py> {
    /// Those of a command of the package.
    pub(crate) fn of(command: &Bound<'py, PyAny>) -> PyResult<Self> {
        let words = command.getattr("words")?.cast_into::<PyTuple>()?;
        let word = |word: Bound<'py, PyAny>| match word.cast_into::<PyBytes>() {
            Ok(bytes) => Ok(bytes),
            Err(other) => {
                let number = other.into_inner().cast_into::<PyInt>()?;
                Ok(PyBytes::new(
                    command.py(),
                    number.str()?.to_str()?.as_bytes(),
                ))
            }
        };
        words.iter().map(word).collect::<PyResult<_>>().map(Self)
    }

    /// Their bytes.
    pub(crate) fn words(&self) -> Vec<&[u8]> {
        self.0.iter().map(|word| word.as_bytes()).collect()
    }
}

/// Which command it is.
pub(crate) fn verb(words: &[&[u8]]) -> Result<Verb, Refusal> {
    let name = Arguments::get(words, 0);
    let mut known = COMMANDS.iter().filter(|each| each.access != Access::Admin);
    let found = known.find(|each| name.eq_ignore_ascii_case(each.name.as_bytes()));
    let unknown = Refusal::new(Code::Argument, "this is no command of a queue");
    found.map(|command| command.verb).ok_or(unknown)
}

/// What a reply is made of. Nothing of it is a Python object yet: the lock is held while it is told.
enum Event {
    Array(usize),
    Map(usize),
    /// Where it ends in the bytes of all; it starts where the one before ends.
    Bytes(usize),
    Integer(u64),
    Word(&'static str),
    Null,
}

/// A reply that is told.
#[derive(Default)]
pub(crate) struct Told {
    events: Vec<Event>,
    bytes: Vec<u8>,
    /// Events and bytes that count, of rows that may yet fail.
    counted: (usize, usize),
}

impl Sink for Told {
    fn array(&mut self, length: usize) {
        self.events.push(Event::Array(length));
    }

    fn map(&mut self, pairs: usize) {
        self.events.push(Event::Map(pairs));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.events.push(Event::Bytes(self.bytes.len()));
    }

    fn integer(&mut self, number: u64) {
        self.events.push(Event::Integer(number));
    }

    fn word(&mut self, word: &'static str) {
        self.events.push(Event::Word(word));
    }

    fn null(&mut self) {
        self.events.push(Event::Null);
    }

    fn null_bytes(&mut self) {
        self.events.push(Event::Null);
    }
}

impl Told {
    /// The reply as Python objects: bytes, int, list, dict, None.
    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let mut reading = Reading {
            events: self.events.iter(),
            bytes: &self.bytes,
            at: 0,
        };
        reading.value(py)
    }
}

/// How far a reply was read.
struct Reading<'a> {
    events: std::slice::Iter<'a, Event>,
    bytes: &'a [u8],
    at: usize,
}

impl Reading<'_> {
    fn value<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self.events.next() {
            Some(&Event::Array(length)) => {
                let list = PyList::empty(py);
                for _ in 0..length {
                    list.append(self.value(py)?)?;
                }
                list.into_any()
            }
            Some(&Event::Map(pairs)) => {
                let map = PyDict::new(py);
                for _ in 0..pairs {
                    let key = self.value(py)?;
                    map.set_item(key, self.value(py)?)?;
                }
                map.into_any()
            }
            Some(&Event::Bytes(end)) => {
                let bytes = self.bytes.get(self.at..end).unwrap_or_default();
                self.at = end;
                PyBytes::new(py, bytes).into_any()
            }
            Some(&Event::Integer(number)) => number.into_pyobject(py)?.into_any(),
            Some(&Event::Word(word)) => PyBytes::new(py, word.as_bytes()).into_any(),
            Some(Event::Null) | None => py.None().into_bound(py),
        })
    }
}

/// Executes a command that does not wait.
pub(crate) fn execute(state: &mut State, verb: Verb, words: &[&[u8]]) -> Result<Told, Error> {
    let mut told = Told::default();
    if verb != Verb::Pop {
        state.command(verb, words, &mut told)?;
        return Ok(told);
    }
    let request = parse::pop(words)?;
    if request.block.is_some() {
        let text = "BLOCK is for clients of a server, expected a pop that does not wait";
        return Err(Refusal::new(Code::Argument, text).into());
    }
    let taken = take(state, &request, &pop_of(&request, words), words)?;
    Ok(taken.unwrap_or_else(|| {
        told.null();
        told
    }))
}

/// Takes messages; none when there are none to take.
pub(crate) fn take(
    state: &mut State,
    request: &parse::Pop,
    pop: &Pop<'_>,
    words: &[&[u8]],
) -> Result<Option<Told>, Error> {
    let mut told = Told::default();
    told.array(0);
    let keys = rq_command::execute::words(words, request.keys.clone());
    let taken = state.pop_all(
        keys,
        pop,
        &mut told,
        |told, key, delivery| {
            let mut text = IdText::default();
            reply::delivery(told, &mut text, key, &delivery, request.with_meta);
        },
        |told, counts| {
            if counts {
                told.counted = (told.events.len(), told.bytes.len());
            } else {
                told.events.truncate(told.counted.0.max(1));
                told.bytes.truncate(told.counted.1);
            }
        },
    )?;
    if let Some(first) = told.events.first_mut() {
        *first = Event::Array(usize::try_from(taken).unwrap_or(usize::MAX));
    }
    Ok((taken > 0).then_some(told))
}
