//! The way from Python to the queues: the lock, the GIL, closing, forking.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use rq_core::Pop;
use rq_embedded::{Error, Owner, State, Sync, fork};

use crate::errors;

/// How often a wait in the main thread looks for signals. Nothing wakes a waiting thread when
/// one arrives, and only the main thread runs their handlers.
const SIGNALS: Duration = Duration::from_millis(50);

/// One connection's hold on an owner. All objects that are made from the connection share it.
pub(crate) struct Link {
    /// Not dropped in a forked child: its locks and files are the parent's.
    owner: ManuallyDrop<Arc<Owner>>,
    generation: u64,
    closed: AtomicBool,
    /// Whether pushes and acknowledgements are durable before they are answered.
    always: bool,
}

impl Link {
    pub(crate) fn new(owner: Arc<Owner>, sync: Sync) -> Self {
        Self {
            owner: ManuallyDrop::new(owner),
            generation: fork::generation(),
            closed: AtomicBool::new(false),
            always: sync == Sync::Always,
        }
    }

    /// Whether this process was forked from the one that made the connection.
    pub(crate) fn is_forked(&self) -> bool {
        self.generation != fork::generation()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Ends the connection, and with the last one the owner.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.closed.swap(true, Ordering::Relaxed) || self.is_forked() {
            return Ok(());
        }
        let released = py.detach(|| {
            self.owner.engine().lock()?.ring_all();
            self.owner.release()
        });
        released.map_err(|error| errors::of(py, &error))
    }

    /// Does something short under the lock. The GIL is released when another thread holds the
    /// lock, or when the work is `long`; handing it over costs far more than short work.
    pub(crate) fn work<T: Send>(
        &self,
        py: Python<'_>,
        long: bool,
        act: impl FnOnce(&mut State) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        if self.is_closed() {
            return Err(errors::closed());
        }
        if self.is_forked() {
            return Err(errors::forked());
        }
        let engine = self.owner.engine();
        let locked = if long { Ok(None) } else { engine.try_lock() };
        let done = match locked {
            Ok(Some(mut state)) => act(&mut state),
            Ok(None) => py.detach(|| act(&mut *engine.lock()?)),
            Err(error) => Err(error),
        };
        done.map_err(|error| errors::of(py, &error))
    }

    /// Does something under the lock that is durable, where that was asked for, when it returns.
    pub(crate) fn store<T: Send>(
        &self,
        py: Python<'_>,
        long: bool,
        act: impl FnOnce(&mut State) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        if !self.always {
            return self.work(py, long, act);
        }
        let (done, change) = self.work(py, long, |state| Ok((act(state)?, state.stored())))?;
        let engine = self.owner.engine();
        py.detach(|| engine.settle(change))
            .map_err(|error| errors::of(py, &error))?;
        Ok(done)
    }

    /// Waits for messages and takes them with `take`, until the time is over. Signals are looked for
    /// before they are taken, so that an interrupted call has taken nothing.
    pub(crate) fn take_later<T>(
        &self,
        py: Python<'_>,
        (name, pop): (&[u8], &Pop<'_>),
        timeout: Option<u64>,
        mut take: impl FnMut() -> PyResult<Option<T>>,
    ) -> PyResult<Option<T>> {
        let end = timeout.and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms)));
        let signals = in_main_thread(py)?;
        loop {
            let look = signals.then(|| Instant::now() + SIGNALS);
            let until = end.into_iter().chain(look).min();
            let engine = self.owner.engine();
            py.detach(|| engine.wait(name, pop, until, &self.closed))
                .map_err(|error| errors::of(py, &error))?;
            let over = end.is_some_and(|end| end <= Instant::now());
            match py.check_signals().and_then(|()| take()) {
                Ok(None) if !over => {}
                Ok(taken) => return Ok(taken),
                Err(error) => {
                    if !self.is_closed() {
                        self.work(py, false, |state| {
                            state.pass_on(name);
                            Ok(())
                        })?;
                    }
                    return Err(error);
                }
            }
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if self.is_forked() {
            return;
        }
        if !self.closed.swap(true, Ordering::Relaxed) {
            // Nobody is left to be told.
            let _ = self.owner.release();
        }
        // SAFETY: dropped once, here.
        unsafe { ManuallyDrop::drop(&mut self.owner) };
    }
}

/// Whether this is the thread that runs the handlers of signals.
fn in_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    main.eq(threading.call_method0("get_ident")?)
}
