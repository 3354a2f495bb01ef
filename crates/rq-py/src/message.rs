//! A message as its consumer sees it: one class for every backend.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use rq_core::{Delivery, Id, Receipt, State};

use crate::errors;
use crate::handle::Handle;
use crate::plain::Given;
use crate::row::id_text;

/// The queue that a message is of.
pub(crate) enum Holder {
    /// One of this process.
    Native(Py<Handle>),
    /// Another backend's handle: it has a `name`, `acknowledge(ids)` and `call(command)`.
    Other(Py<PyAny>),
}

/// What is told of a message, its payload aside.
pub(crate) struct Facts {
    pub(crate) id: Id,
    state: State,
    deliveries: u32,
    /// Milliseconds, 0 when it was never delivered.
    last_delivery: u64,
    /// Milliseconds, 0 for a lease without end.
    deadline: u64,
    /// What most messages do not have, so that they are small.
    rare: Option<Box<Rare>>,
}

/// A name and a value.
type Header = (Box<[u8]>, Box<[u8]>);

#[derive(Default)]
struct Rare {
    failures: u32,
    priority: u8,
    token: Option<Box<[u8]>>,
    consumer: Option<Box<[u8]>>,
    headers: Vec<Header>,
    due: u64,
    died: u64,
    reason: Option<Box<[u8]>>,
}

impl Facts {
    /// Of a delivery.
    pub(crate) fn of(delivery: &Delivery<'_>) -> Self {
        let meta = &delivery.meta;
        let plain = meta.failures == 0 && meta.consumer.is_empty() && meta.fields.is_plain();
        Self {
            id: delivery.id,
            state: meta.state,
            deliveries: meta.deliveries,
            last_delivery: meta.last_delivery,
            deadline: meta.deadline,
            rare: (!plain).then(|| Rare::of(delivery)),
        }
    }
}

impl Rare {
    #[cold]
    fn of(delivery: &Delivery<'_>) -> Box<Self> {
        let meta = &delivery.meta;
        let headers = meta.fields.headers.iter();
        Box::new(Self {
            failures: meta.failures,
            priority: meta.fields.priority,
            token: meta.fields.token.map(Box::from),
            consumer: (!meta.consumer.is_empty()).then(|| meta.consumer.into()),
            headers: headers.map(|(n, v)| (n.into(), v.into())).collect(),
            ..Self::default()
        })
    }

    fn is_plain(&self) -> bool {
        (self.failures, self.priority, self.due, self.died) == (0, 0, 0, 0)
            && self.token.is_none()
            && self.consumer.is_none()
            && self.headers.is_empty()
            && self.reason.is_none()
    }
}

/// A message of a queue. It stays in the queue until it is acknowledged.
#[pyclass(frozen, module = "reliableq")]
pub struct Message {
    pub(crate) holder: Holder,
    body: Py<PyBytes>,
    facts: Facts,
}

impl Message {
    pub(crate) fn new_of(holder: Holder, body: Py<PyBytes>, facts: Facts) -> Self {
        Self {
            holder,
            body,
            facts,
        }
    }

    /// This delivery of it, or the message where it was never delivered.
    pub(crate) fn meant(&self) -> Receipt {
        Receipt {
            id: self.facts.id,
            delivery: self.facts.deliveries,
        }
    }

    fn rare<T>(&self, get: impl FnOnce(&Rare) -> T) -> Option<T> {
        self.facts.rare.as_deref().map(get)
    }

    fn handle<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match &self.holder {
            Holder::Native(handle) => handle.bind(py).clone().into_any(),
            Holder::Other(handle) => handle.bind(py).clone(),
        }
    }
}

#[pymethods]
impl Message {
    #[new]
    #[pyo3(signature = (
        holder, id, body, state, deliveries, last_delivery, *, failures=0, deadline=0, priority=0, token=None,
        consumer=None, headers=None, due=0, died=0, reason=None,
    ))]
    #[allow(clippy::too_many_arguments)] // all of them are fields
    fn new(
        holder: &Bound<'_, PyAny>,
        id: &str,
        body: Py<PyBytes>,
        state: &str,
        deliveries: u32,
        last_delivery: u64,
        failures: u32,
        deadline: u64,
        priority: u8,
        token: Option<&[u8]>,
        consumer: Option<&[u8]>,
        headers: Option<Vec<(Bound<'_, PyBytes>, Bound<'_, PyBytes>)>>,
        due: u64,
        died: u64,
        reason: Option<&[u8]>,
    ) -> PyResult<Self> {
        const STATES: [State; 3] = [State::Scheduled, State::Delivered, State::Dead];
        let headers = headers.unwrap_or_default().into_iter();
        let rare = Rare {
            failures,
            priority,
            token: token.map(Box::from),
            consumer: consumer.map(Box::from),
            headers: headers
                .map(|(name, value)| (name.as_bytes().into(), value.as_bytes().into()))
                .collect(),
            due,
            died,
            reason: reason.map(Box::from),
        };
        let facts = Facts {
            id: Id::parse(id.as_bytes()).map_err(|_| errors::invalid_id(id))?,
            state: (STATES.into_iter())
                .find(|each| each.name() == state)
                .unwrap_or(State::Waiting),
            deliveries,
            last_delivery,
            deadline,
            rare: (!rare.is_plain()).then(|| Box::new(rare)),
        };
        let holder = match holder.cast_exact::<Handle>() {
            Ok(native) => Holder::Native(native.clone().unbind()),
            Err(_) => Holder::Other(holder.clone().unbind()),
        };
        Ok(Self::new_of(holder, body, facts))
    }

    /// Its ID, `milliseconds-sequence`.
    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        id_text(py, self.facts.id)
    }

    /// This delivery of it, `ID@deliveries`; the ID when it was never delivered.
    #[getter]
    fn receipt<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        receipt_text(py, self.meant())
    }

    /// Its payload.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.body.bind(py).clone()
    }

    /// Name of its queue.
    #[getter]
    fn queue<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.holder {
            Holder::Native(handle) => Ok(handle.get().name_text(py).into_any()),
            Holder::Other(handle) => handle.bind(py).getattr("name"),
        }
    }

    /// Where it stood when it was given: "scheduled", "waiting", "delivered" or "dead".
    #[getter]
    fn state(&self) -> &str {
        self.facts.state.name()
    }

    /// How often it was delivered, this time included.
    #[getter]
    fn deliveries(&self) -> u32 {
        self.facts.deliveries
    }

    /// How many of these deliveries came to nothing, and count.
    #[getter]
    fn failures(&self) -> u32 {
        self.rare(|rare| rare.failures).unwrap_or(0)
    }

    /// When it was pushed.
    #[getter]
    fn enqueued<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        moment(py, self.facts.id.milliseconds)
    }

    /// When it was last delivered; None for one that never was.
    #[getter]
    fn last_delivery<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        known(py, self.facts.last_delivery)
    }

    /// When its lease ends; None where it does not.
    #[getter]
    fn deadline<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        known(py, self.facts.deadline)
    }

    /// When a scheduled message begins to wait.
    #[getter]
    fn due<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        known(py, self.rare(|rare| rare.due).unwrap_or(0))
    }

    /// When it became a dead letter.
    #[getter]
    fn died<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        known(py, self.rare(|rare| rare.died).unwrap_or(0))
    }

    /// 0 to 255; higher ones are delivered first.
    #[getter]
    fn priority(&self) -> u8 {
        self.rare(|rare| rare.priority).unwrap_or(0)
    }

    /// What it is known by beside its ID.
    #[getter]
    fn token<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let token = self.facts.rare.as_ref()?.token.as_ref()?;
        Some(PyBytes::new(py, token))
    }

    /// The name of the consumer that holds it, or held it last.
    #[getter]
    fn consumer<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let consumer = self.facts.rare.as_ref().and_then(|it| it.consumer.as_ref());
        consumer.map(|bytes| text(py, bytes)).transpose()
    }

    /// Why it is dead.
    #[getter]
    fn reason<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let reason = self.facts.rare.as_ref().and_then(|it| it.reason.as_ref());
        reason.map(|bytes| text(py, bytes)).transpose()
    }

    /// Names and values that travel with it.
    #[getter]
    fn headers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let headers = self.facts.rare.as_ref().map(|rare| &rare.headers);
        let pairs: Vec<_> = (headers.into_iter().flatten())
            .map(|(name, value)| (PyBytes::new(py, name), PyBytes::new(py, value)))
            .collect();
        let types = py.import("reliableq.types")?;
        types.call_method1("Headers", (pairs,))
    }

    /// Says that the work on it is done, so that the queue lets go of it.
    ///
    /// Returns whether this call did it: not when it was acknowledged before, still waits, or was lost to another
    /// consumer when its lease ended.
    fn ack(&self, py: Python<'_>) -> PyResult<bool> {
        match &self.holder {
            Holder::Native(handle) => handle.get().acknowledge_one(py, self.meant()),
            Holder::Other(handle) => acknowledge_elsewhere(handle.bind(py), self.meant()),
        }
    }

    /// Says that the work on it failed, so that it waits again: after `delay`; None: after the queue's back-off.
    ///
    /// At its limit of deliveries, or with `dead`, it becomes a dead letter, with this reason. `silent` counts no
    /// failure. Returns whether this call did it.
    #[pyo3(signature = (delay=None, *, dead=Given::No, reason=None, silent=Given::No),
        text_signature = "($self, delay=None, *, dead=False, reason=None, silent=False)")]
    fn nack<'py>(
        &self,
        py: Python<'py>,
        delay: Option<Bound<'py, PyAny>>,
        dead: Given<'py>,
        reason: Option<Bound<'py, PyAny>>,
        silent: Given<'py>,
    ) -> PyResult<bool> {
        let settling = py.import("reliableq.settling")?;
        let receipts = (self.receipt(py),);
        let given = (
            self.handle(py),
            receipts,
            delay,
            dead.or_false(py),
            reason,
            silent.or_false(py),
        );
        settling.call_method1("nack", given)?.is_truthy()
    }

    /// Lets its lease end `duration` from now; 0: never. `start`: work on a message fetched with `prefetch` begins.
    ///
    /// Returns whether this call did it: not when the lease was over before.
    #[pyo3(signature = (duration, *, start=Given::No), text_signature = "($self, duration, *, start=False)")]
    fn extend<'py>(
        &self,
        py: Python<'py>,
        duration: Bound<'py, PyAny>,
        start: Given<'py>,
    ) -> PyResult<bool> {
        let settling = py.import("reliableq.settling")?;
        let given = (
            self.handle(py),
            (self.receipt(py),),
            duration,
            start.or_false(py),
        );
        settling.call_method1("extend", given)?.is_truthy()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        const LONGEST: usize = 40;
        let bytes = self.body.as_bytes(py);
        let mut shown = bytes.get(..LONGEST).unwrap_or(bytes).to_vec();
        if shown.len() < bytes.len() {
            shown.extend_from_slice(b"...");
        }
        let (id, queue) = (self.id(py), self.queue(py)?.repr()?);
        let (body, deliveries) = (PyBytes::new(py, &shown).repr()?, self.facts.deliveries);
        Ok(format!(
            "<Message {id} of {queue}, deliveries={deliveries}, body={body}>"
        ))
    }
}

/// The text of a receipt.
fn receipt_text(py: Python<'_>, receipt: Receipt) -> Bound<'_, PyString> {
    match receipt.delivery {
        0 => id_text(py, receipt.id),
        n => PyString::new(py, &format!("{}@{n}", receipt.id)),
    }
}

/// Acknowledges through the handle of another backend.
pub(crate) fn acknowledge_elsewhere(handle: &Bound<'_, PyAny>, receipt: Receipt) -> PyResult<bool> {
    let receipts = (receipt_text(handle.py(), receipt),);
    handle.call_method1("acknowledge", (receipts,))?.is_truthy()
}

/// Bytes as a text, as the package reads them.
fn text<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    PyBytes::new(py, bytes).call_method1("decode", ("utf-8", "surrogateescape"))
}

/// Unix milliseconds as [`moment`] gives them; None for 0, which stands for no time.
fn known<'py>(py: Python<'py>, milliseconds: u64) -> PyResult<Option<Bound<'py, PyAny>>> {
    let known = (milliseconds > 0).then_some(milliseconds);
    known.map(|time| moment(py, time)).transpose()
}

/// Unix milliseconds as a datetime in UTC.
fn moment<'py>(py: Python<'py>, milliseconds: u64) -> PyResult<Bound<'py, PyAny>> {
    let datetime = py.import("datetime")?;
    let utc = datetime.getattr("UTC")?;
    let seconds = milliseconds as f64 / 1000.0;
    (datetime.getattr("datetime")?).call_method1("fromtimestamp", (seconds, utc))
}
