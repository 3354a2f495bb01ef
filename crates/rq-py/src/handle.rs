//! One queue of a connection.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use rq_core::{Counters, Id, Info, Queue};
use rq_embedded::clock;

use crate::link::Link;
use crate::message::{Holder, Message, acknowledge_elsewhere};
use crate::row::{Rows, id_list, id_text, keep_scratch, scratch};
use crate::{body, errors};

/// A call that copies more bytes than this releases the GIL.
const LONG: usize = 64 * 1024;
/// So many messages are not copied under the GIL.
const MANY: u64 = 1000;
/// Bytes after which a range ends; it has a message if there is one.
const RANGE_BYTES: usize = 8 << 20;

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
}

impl Handle {
    pub(crate) fn new(
        link: Arc<Link>,
        name: &Bound<'_, PyString>,
        successor: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        Ok(Self {
            link,
            name: name.to_str()?.as_bytes().into(),
            text: name.clone().unbind(),
            successor,
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

    pub(crate) fn acknowledge_one(&self, py: Python<'_>, id: Id) -> PyResult<bool> {
        if let Some(successor) = self.successor(py) {
            return acknowledge_elsewhere(successor, id);
        }
        (self.link).store(py, false, |state| state.acknowledge_one(&self.name, id))
    }

    fn take(&self, py: Python<'_>, count: u64) -> PyResult<Option<Rows>> {
        let rows = self.link.work(py, count > MANY, |state| {
            let waiting = state.waiting(&self.name).min(count);
            if waiting == 0 {
                return Ok(Rows::default());
            }
            let mut rows = Rows::with_capacity(waiting);
            let add = |delivery: rq_core::Delivery<'_>| rows.add_delivery(&delivery);
            state.pop(clock::now(), &self.name, count, add)?;
            Ok(rows)
        })?;
        Ok((!rows.is_empty()).then_some(rows))
    }

    /// The IDs of messages, if all are of this queue.
    fn own_ids(&self, messages: &Bound<'_, PyList>) -> Option<Vec<Id>> {
        let mut ids = Vec::with_capacity(messages.len());
        for message in messages {
            let message = message.cast_exact::<Message>().ok()?.get();
            let Holder::Native(handle) = &message.holder else {
                return None;
            };
            let handle = handle.get();
            if !std::ptr::eq(handle, self) && handle.name != self.name {
                return None;
            }
            ids.push(message.id);
        }
        Some(ids)
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
        let pushed = self.link.store(py, bytes.len() > LONG, |state| {
            state.push(clock::now(), &self.name, std::iter::once(bytes))
        })?;
        Ok(id_text(py, pushed.first))
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
        let pushed = self.link.store(py, long, |state| {
            state.push(clock::now(), &self.name, slices.iter().copied())
        })?;
        id_list(py, pushed.ids())
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
        let produced = self.link.store(py, long, |state| {
            let elements = slices.iter().copied();
            state.produce(clock::now(), &self.name, (producer, sequence), elements)
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
            state.pop(clock::now(), &handle.name, 1, |delivery| {
                scratch.extend_from_slice(delivery.payload);
                found = Some((delivery.id, delivery.meta()));
            })
        })?;
        let Some((id, meta)) = found else {
            keep_scratch(scratch);
            return Ok(None);
        };
        let body = PyBytes::new(py, &scratch).unbind();
        keep_scratch(scratch);
        let message = Message {
            holder: Holder::Native(slf.clone().unbind()),
            id,
            body,
            state: meta.state.name().into(),
            deliveries: meta.deliveries,
            last_delivery: meta.last_delivery,
        };
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
        let mut rows = handle.take(py, count)?;
        if rows.is_none() && timeout != Some(0) {
            rows =
                (handle.link).take_later(py, &handle.name, timeout, || handle.take(py, count))?;
        }
        rows.unwrap_or_default().into_list(slf)
    }

    /// Lets go of delivered messages; returns the IDs of those that this call let go.
    fn acknowledge<'py>(
        &self,
        py: Python<'py>,
        ids: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        or_successor!(self, py, "acknowledge", (ids,));
        let ids: Vec<Id> = ids.iter().map(parse).collect::<PyResult<_>>()?;
        let done = self.link.store(py, false, |state| {
            let mut done = Vec::new();
            state.acknowledge(&self.name, &ids, &mut done)?;
            Ok(done)
        })?;
        id_list(py, done.into_iter())
    }

    /// Lets go of delivered messages, given as such; returns the IDs of those that this call let go.
    /// None, and nothing is done, when they are not all messages of this queue.
    fn settle<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'py, PyList>,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        let Some(ids) = self.own_ids(messages).filter(|_| !self.link.is_forked()) else {
            return Ok(None);
        };
        let done = self.link.store(py, false, |state| {
            let mut done = Vec::with_capacity(ids.len());
            state.acknowledge(&self.name, &ids, &mut done)?;
            Ok(done)
        })?;
        Ok(Some(id_list(py, done.into_iter())?))
    }

    /// Delivers again up to `count` messages that were delivered at least `elapsed` ago.
    fn recover<'py>(
        slf: &Bound<'py, Self>,
        count: u64,
        elapsed: u64,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, handle) = (slf.py(), slf.get());
        or_successor!(handle, py, "recover", (count, elapsed));
        let rows = handle.link.work(py, count > MANY, |state| {
            let mut rows = Rows::default();
            let add = |delivery: rq_core::Delivery<'_>| rows.add_delivery(&delivery);
            state.recover(clock::now(), &handle.name, count, elapsed, add)?;
            Ok(rows)
        })?;
        rows.into_list(slf)
    }

    /// Messages from a position on, the waiting or the delivered ones.
    fn inspect<'py>(
        slf: &Bound<'py, Self>,
        start: i64,
        count: u64,
        pending: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, handle) = (slf.py(), slf.get());
        or_successor!(handle, py, "inspect", (start, count, pending));
        let rows = handle.look(py, count > MANY, |queue| {
            let mut rows = Rows::default();
            if pending {
                for message in queue.inspect_pending(clock::now(), start, count) {
                    rows.add_pending(&message);
                }
            } else {
                for message in queue.inspect_waiting(start, count) {
                    rows.add_waiting(&message);
                }
            }
            rows
        })?;
        rows.into_list(slf)
    }

    /// The message that is delivered next, or with `back` last of those that wait, left where it is.
    fn peek<'py>(slf: &Bound<'py, Self>, back: bool) -> PyResult<Option<Py<Message>>> {
        let (py, handle) = (slf.py(), slf.get());
        if let Some(successor) = handle.successor(py) {
            return Ok(successor.call_method1("peek", (back,))?.extract()?);
        }
        let rows = handle.look(py, false, |queue| {
            let mut rows = Rows::default();
            if let Some(message) = queue.peek(back) {
                rows.add_held(&message);
            }
            rows
        })?;
        Ok(rows.into_messages(slf)?.pop())
    }

    /// The message with each ID, whatever its state, left where it is; None for one that is gone.
    fn get<'py>(
        slf: &Bound<'py, Self>,
        ids: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, handle) = (slf.py(), slf.get());
        or_successor!(handle, py, "get", (ids,));
        let ids: Vec<Id> = ids.iter().map(parse).collect::<PyResult<_>>()?;
        let long = ids.len() as u64 > MANY;
        let (rows, found) = handle.look(py, long, |queue| {
            let mut rows = Rows::default();
            let found = |&id: &Id| {
                queue
                    .get(id)
                    .map(|message| rows.add_held(&message))
                    .is_some()
            };
            let found: Vec<bool> = ids.iter().map(found).collect();
            (rows, found)
        })?;
        let mut messages = rows.into_messages(slf)?.into_iter();
        let each = (0..ids.len()).map(|at| {
            let found = found.get(at).copied().unwrap_or(false);
            if found { messages.next() } else { None }
        });
        PyList::new(py, each.collect::<Vec<_>>())
    }

    /// Messages from one ID to another in the order of their IDs, whatever their state. A bound
    /// is an ID, `(` and an ID that is left out, or `-` and `+` for the ends. Ends early at about 8 MiB.
    fn range<'py>(
        slf: &Bound<'py, Self>,
        first: &str,
        last: &str,
        count: u64,
        reverse: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, handle) = (slf.py(), slf.get());
        or_successor!(handle, py, "range", (first, last, count, reverse));
        let low = Id::parse_lowest(first.as_bytes()).map_err(|_| errors::invalid_id(first))?;
        let high = Id::parse_highest(last.as_bytes()).map_err(|_| errors::invalid_id(last))?;
        let Some((low, high)) = low.zip(high) else {
            return Ok(PyList::empty(py));
        };
        let rows = handle.look(py, count > MANY, |queue| {
            let mut rows = Rows::default();
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            for message in queue.range(low, high, reverse).take(count) {
                if !rows.is_empty() && rows.bytes() + message.payload.len() > RANGE_BYTES {
                    break;
                }
                rows.add_held(&message);
            }
            rows
        })?;
        rows.into_list(slf)
    }

    /// Up to `parts` - 1 IDs that cut the queue into parts of nearly equal counts.
    fn split<'py>(&self, py: Python<'py>, parts: u64) -> PyResult<Bound<'py, PyList>> {
        or_successor!(self, py, "split", (parts,));
        let cuts = self.look(py, false, |queue| queue.split(parts))?;
        id_list(py, cuts.into_iter())
    }

    /// The number of messages that the queue holds.
    fn length(&self, py: Python<'_>) -> PyResult<u64> {
        or_successor!(self, py, "length", ());
        self.look(py, false, Queue::len)
    }

    /// The queue in numbers, or None when it holds no message.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if let Some(successor) = self.successor(py) {
            return successor
                .call_method0("info")?
                .extract()
                .map_err(Into::into);
        }
        let look = |queue: &Queue| queue.has_messages().then(|| queue.info(clock::now()));
        let info = self.look(py, false, look)?;
        info.map(|info| describe(py, &info)).transpose()
    }

    /// The queue as bytes that RESTORE of a server takes, or None when it holds no message.
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
}

fn parse(id: &Bound<'_, PyAny>) -> PyResult<Id> {
    let text: &str = id.extract()?;
    Id::parse(text.as_bytes()).map_err(|_| errors::invalid_id(text))
}

fn describe<'py>(py: Python<'py>, info: &Info) -> PyResult<Bound<'py, PyDict>> {
    let described = PyDict::new(py);
    described.set_item("waiting", info.waiting)?;
    described.set_item("delivered", info.delivered)?;
    for (name, value) in Counters::NAMES.iter().zip(info.counters.values()) {
        described.set_item(name, value)?;
    }
    described.set_item("memory", info.memory)?;
    described.set_item("first_id", info.first_id.map(|id| id.to_string()))?;
    described.set_item("last_id", info.last_id.to_string())?;
    described.set_item("age", info.age)?;
    Ok(described)
}
