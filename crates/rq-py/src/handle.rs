//! One queue of a connection.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use rq_command::{Refusal, parse};
use rq_core::{Delivery, Options, Pop, Queue, Receipt};
use rq_embedded::{Error, State, is_durable, pop_of};

use crate::call::{self, Held, Told};
use crate::link::Link;
use crate::message::{Facts, Holder, Message, acknowledge_elsewhere};
use crate::row::{Rows, id_list, id_text, keep_scratch, scratch};
use crate::{body, errors};

/// A call that copies more bytes than this releases the GIL.
const LONG: usize = 64 * 1024;
/// So many messages are not copied under the GIL.
const MANY: u64 = 1000;

/// A queue of a connection, by its name. It need not exist.
///
/// Numbers are not checked here beyond their range: the package does that for every backend.
/// Times are in milliseconds. In a forked child every call goes to the `successor`, another
/// handle of the same queue.
#[pyclass(frozen, module = "reliableq._native")]
pub struct Handle {
    link: Arc<Link>,
    name: Box<[u8]>,
    text: Py<PyString>,
    successor: Option<Py<PyAny>>,
    /// Lease and deliveries of the queue, if a push from here makes it.
    new: (u64, u32),
}

impl Handle {
    pub(crate) fn new(
        link: Arc<Link>,
        name: &Bound<'_, PyString>,
        successor: Option<Py<PyAny>>,
        new: (u64, u32),
    ) -> PyResult<Self> {
        Ok(Self {
            link,
            name: name.to_str()?.as_bytes().into(),
            text: name.clone().unbind(),
            successor,
            new,
        })
    }

    pub(crate) fn name_text<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        self.text.bind(py).clone()
    }

    /// Who takes the calls in a forked child.
    fn successor<'a, 'py>(&'a self, py: Python<'py>) -> Option<&'a Bound<'py, PyAny>> {
        let successor = self.successor.as_ref().filter(|_| self.link.is_forked())?;
        Some(successor.bind(py))
    }

    pub(crate) fn acknowledge_one(&self, py: Python<'_>, receipt: Receipt) -> PyResult<bool> {
        if let Some(successor) = self.successor(py) {
            return acknowledge_elsewhere(successor, receipt);
        }
        (self.link).store(py, false, |state| {
            Ok(!state.acknowledge(&self.name, &[receipt])?.is_empty())
        })
    }

    fn take_rows(&self, py: Python<'_>, count: u64) -> PyResult<Option<Rows>> {
        let rows = self.link.work(py, count > MANY, |state| {
            let waiting = state.waiting(&self.name).min(count);
            let mut rows = Rows::with_capacity(waiting);
            let add = |delivery: Delivery<'_>| rows.add(&delivery);
            state.pop(&self.name, &Pop::of(count), add)?;
            Ok(rows)
        })?;
        Ok((!rows.is_empty()).then_some(rows))
    }

    /// The receipts of messages, if all are of this queue.
    fn own_receipts(&self, messages: &Bound<'_, PyList>) -> Option<Vec<Receipt>> {
        let mut receipts = Vec::with_capacity(messages.len());
        for message in messages {
            let message = message.cast_exact::<Message>().ok()?.get();
            let Holder::Native(handle) = &message.holder else {
                return None;
            };
            let handle = handle.get();
            if !std::ptr::eq(handle, self) && handle.name != self.name {
                return None;
            }
            receipts.push(message.meant());
        }
        Some(receipts)
    }

    fn let_go<'py>(&self, py: Python<'py>, receipts: &[Receipt]) -> PyResult<Bound<'py, PyList>> {
        let done = self.link.store(py, false, |state| {
            Ok(state.acknowledge(&self.name, receipts)?.to_vec())
        })?;
        id_list(py, done.into_iter())
    }

    /// Looks at the queue, if there is one.
    fn look<T: Send + Default>(
        &self,
        py: Python<'_>,
        long: bool,
        look: impl FnOnce(&Queue) -> T + Send,
    ) -> PyResult<T> {
        self.link.work(py, long, |state| {
            Ok(state.queue(&self.name).map_or_else(T::default, look))
        })
    }

    /// Executes a part of a command. What is refused is raised as the package says it for every place.
    fn execute<T: Send>(
        &self,
        command: &Bound<'_, PyAny>,
        (long, durable): (bool, bool),
        act: impl FnOnce(&mut State) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let py = command.py();
        let act = |state: &mut State| match act(state) {
            Err(error @ (Error::Refused(_) | Error::Store(rq_store::Error::Core(_)))) => {
                Ok(Err(Refusal::from(error)))
            }
            outcome => outcome.map(Ok),
        };
        let done = if durable {
            self.link.store(py, long, act)
        } else {
            self.link.work(py, long, act)
        };
        done?.map_err(|refusal| errors::refused(&refusal, command))
    }
}

/// Hands a call to the successor, where this is a forked child.
macro_rules! or_successor {
    ($self:ident, $py:ident, $method:literal, $arguments:expr) => {
        if let Some(successor) = $self.successor($py) {
            return successor
                .call_method1($method, $arguments)?
                .extract()
                .map_err(Into::into);
        }
    };
}

#[pymethods]
impl Handle {
    /// The queue's name.
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        self.name_text(py)
    }

    /// Appends a message and returns its ID.
    pub(crate) fn push<'py>(
        &self,
        py: Python<'py>,
        body: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyString>> {
        or_successor!(self, py, "push", (body,));
        let body = body::bytes(body)?;
        let bytes = body.as_bytes();
        let produced = self.link.store(py, bytes.len() > LONG, |state| {
            state.push_new(&self.name, self.new, std::iter::once(bytes))
        })?;
        let id = produced.pushed.map(|pushed| pushed.first);
        Ok(id_text(py, id.unwrap_or_default()))
    }

    /// Appends messages, all of them or none, and returns their IDs.
    fn push_many<'py>(
        &self,
        py: Python<'py>,
        bodies: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        or_successor!(self, py, "push_many", (bodies,));
        let bodies = body::all(bodies)?;
        let slices: Vec<&[u8]> = bodies.iter().map(|body| body.as_bytes()).collect();
        let long = slices.iter().map(|slice| slice.len()).sum::<usize>() > LONG;
        let produced = self.link.store(py, long, |state| {
            state.push_new(&self.name, self.new, slices.iter().copied())
        })?;
        match produced.pushed {
            Some(pushed) => id_list(py, pushed.ids()),
            None => Ok(PyList::empty(py)),
        }
    }

    /// Appends messages that a producer numbers, those that are stored already left out. Returns
    /// the IDs, None where one is not remembered.
    fn produce<'py>(
        &self,
        py: Python<'py>,
        producer: &[u8],
        sequence: u64,
        bodies: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        or_successor!(self, py, "produce", (producer, sequence, bodies));
        let bodies = body::all(bodies)?;
        let slices: Vec<&[u8]> = bodies.iter().map(|body| body.as_bytes()).collect();
        let long = slices.iter().map(|slice| slice.len()).sum::<usize>() > LONG;
        let options = Options {
            producer: Some((producer, sequence)),
            new: (self.new != (0, 0)).then_some(self.new),
            ..Options::default()
        };
        let produced = self.link.store(py, long, |state| {
            state.push(&self.name, Some(&options), slices.iter().copied())
        })?;
        let ids = produced.ids().map(|id| id.map(|id| id_text(py, id)));
        PyList::new(py, ids.collect::<Vec<_>>())
    }

    /// Delivers the next waiting message, if there is one.
    pub(crate) fn pop<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, handle) = (slf.py(), slf.get());
        or_successor!(handle, py, "pop", ());
        let mut scratch = scratch();
        let mut found = None;
        handle.link.work(py, false, |state| {
            state.pop(&handle.name, &Pop::of(1), |delivery| {
                scratch.extend_from_slice(delivery.payload);
                found = Some(Facts::of(&delivery));
            })
        })?;
        let Some(facts) = found else {
            keep_scratch(scratch);
            return Ok(None);
        };
        let body = PyBytes::new(py, &scratch).unbind();
        keep_scratch(scratch);
        let holder = Holder::Native(slf.clone().unbind());
        let message = Message::new_of(holder, body, facts);
        Ok(Some(Bound::new(py, message)?.into_any()))
    }

    /// Delivers up to `count` waiting messages. When there are none, waits for the first until
    /// `timeout` is over, for ever when it is None.
    #[pyo3(signature = (count, timeout))]
    fn pop_many<'py>(
        slf: &Bound<'py, Self>,
        count: u64,
        timeout: Option<u64>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, handle) = (slf.py(), slf.get());
        or_successor!(handle, py, "pop_many", (count, timeout));
        let mut rows = handle.take_rows(py, count)?;
        if rows.is_none() && timeout != Some(0) {
            let what = (&*handle.name, &Pop::of(count));
            rows = (handle.link).take_later(py, what, timeout, || handle.take_rows(py, count))?;
        }
        rows.unwrap_or_default().into_list(slf)
    }

    /// Lets go of delivered messages, by ID or receipt; returns the IDs of those that this call let go.
    fn acknowledge<'py>(
        &self,
        py: Python<'py>,
        ids: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        or_successor!(self, py, "acknowledge", (ids,));
        let receipts: Vec<Receipt> = ids.iter().map(parse).collect::<PyResult<_>>()?;
        self.let_go(py, &receipts)
    }

    /// Lets go of delivered messages, given as such, by their receipts; returns the IDs of those that this call let
    /// go. None, and nothing is done, when they are not all messages of this queue.
    fn settle<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'py, PyList>,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        let receipts = self.own_receipts(messages);
        let Some(receipts) = receipts.filter(|_| !self.link.is_forked()) else {
            return Ok(None);
        };
        self.let_go(py, &receipts).map(Some)
    }

    /// The number of messages that the queue holds.
    fn length(&self, py: Python<'_>) -> PyResult<u64> {
        or_successor!(self, py, "length", ());
        self.look(py, false, Queue::len)
    }

    /// The queue as bytes that RESTORE of a server takes, or None when it holds no message, not even a dead one.
    fn dump<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        if let Some(successor) = self.successor(py) {
            return successor
                .call_method0("dump")?
                .extract()
                .map_err(Into::into);
        }
        let dump = |queue: &Queue| queue.has_messages().then(|| rq_dump::write(queue));
        let dumped = self.look(py, true, dump)?;
        Ok(dumped.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Executes the words of a command that does not wait, and gives its reply.
    fn call<'py>(&self, command: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = command.py();
        or_successor!(self, py, "call", (command,));
        let held = Held::of(command)?;
        let words = held.words();
        let verb = call::verb(&words).map_err(|refusal| errors::refused(&refusal, command))?;
        let bytes: usize = words.iter().map(|word| word.len()).sum();
        let how = (bytes > LONG, is_durable(verb, &*words));
        let told = self.execute(command, how, |state| call::execute(state, verb, &words))?;
        told.into_python(py)
    }

    /// The reply of a pop with options. It waits as pop_many() does.
    #[pyo3(signature = (pop, timeout))]
    fn take<'py>(
        &self,
        pop: &Bound<'py, PyAny>,
        timeout: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = pop.py();
        or_successor!(self, py, "take", (pop, timeout));
        let command = pop.call_method1("command", (0,))?;
        let held = Held::of(&command)?;
        let words = held.words();
        let request = parse::pop(&*words);
        let request = request.map_err(|refusal| errors::refused(&refusal, &command))?;
        let pop = pop_of(&request, &*words);
        // What is taken without an acknowledgement is gone: it must not come back.
        let how = (pop.count > MANY, pop.no_ack);
        let take = || -> PyResult<Option<Told>> {
            let take = |state: &mut State| call::take(state, &request, &pop, &words);
            self.execute(&command, how, take)
        };
        let mut told = take()?;
        if told.is_none() && timeout != Some(0) {
            told = self
                .link
                .take_later(py, (&self.name, &pop), timeout, take)?;
        }
        match told {
            Some(told) => told.into_python(py),
            None => Ok(py.None().into_bound(py)),
        }
    }
}

fn parse(receipt: &Bound<'_, PyAny>) -> PyResult<Receipt> {
    let text: &str = receipt.extract()?;
    Receipt::parse(text.as_bytes()).map_err(|_| errors::invalid_id(text))
}
