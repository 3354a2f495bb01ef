//! Processes that fork.
//!
//! A forked child has the memory of its parent, but none of its threads, and it shares the open
//! files: as long as it keeps the lock's open, nobody else can take the lock when the parent dies,
//! and as long as it keeps a connection's, the other side does not see that the parent is gone. So
//! a handler closes them in the child before anything else runs there, and counts a
//! *generation*: what was made in an earlier one belongs to the parent, and is neither used nor
//! dropped.

use std::io;
use std::os::fd::RawFd;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

/// How often this process was made by forking, since the library was loaded.
static GENERATION: AtomicU64 = AtomicU64::new(0);

const NONE: RawFd = -1;

/// Descriptors that a child closes. A fixed table, since a handler must not allocate nor wait.
static DESCRIPTORS: [AtomicI32; 4096] = [const { AtomicI32::new(NONE) }; 4096];

/// Held while a descriptor is opened and entered, and while the process forks, so that no child
/// gets one that is not in the table.
static GATE: AtomicBool = AtomicBool::new(false);

/// The generation of this process.
#[must_use]
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// A place in the table, taken until this is dropped.
#[derive(Debug)]
pub(crate) struct Entry(usize);

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(descriptor) = DESCRIPTORS.get(self.0) {
            descriptor.store(NONE, Ordering::Release);
        }
    }
}

/// Opens something whose descriptor a forked child is to close.
///
/// # Errors
/// As `open` says; also when there are too many.
pub(crate) fn open<T, E: From<io::Error>>(
    open: impl FnOnce() -> Result<T, E>,
    descriptor: impl FnOnce(&T) -> RawFd,
) -> Result<(T, Entry), E> {
    install()?;
    let _gate = Gate::enter();
    let opened = open()?;
    let descriptor = descriptor(&opened);
    for (index, place) in DESCRIPTORS.iter().enumerate() {
        let taken = place.compare_exchange(NONE, descriptor, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_ok() {
            return Ok((opened, Entry(index)));
        }
    }
    Err(io::Error::other("too many connections").into())
}

/// Closes what was opened by [`open`], so that no fork comes between that and its leaving the
/// table.
pub(crate) fn close<R>(entry: Entry, close: impl FnOnce() -> R) -> R {
    let _gate = Gate::enter();
    let closed = close();
    drop(entry);
    closed
}

/// Keeps the process from forking while it is held, so that no child finds a lock taken by a
/// thread that it does not have. Not for long work, and not to be taken twice.
pub(crate) fn keep_from_forking() -> Gate {
    Gate::enter()
}

pub(crate) struct Gate;

impl Gate {
    fn enter() -> Self {
        while GATE.swap(true, Ordering::Acquire) {
            std::thread::sleep(std::time::Duration::from_micros(50));
        }
        Gate
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        GATE.store(false, Ordering::Release);
    }
}

fn install() -> io::Result<()> {
    static INSTALLED: Once = Once::new();
    static FAILED: AtomicBool = AtomicBool::new(false);
    INSTALLED.call_once(|| {
        // SAFETY: the handlers live as long as the library, which is never unloaded, and do only
        // what is allowed after a fork: atomics, sleeping and closing.
        let code = unsafe { libc::pthread_atfork(Some(before), Some(after), Some(in_child)) };
        FAILED.store(code != 0, Ordering::Relaxed);
    });
    if FAILED.load(Ordering::Relaxed) {
        return Err(io::Error::other("the system takes no handler for forks"));
    }
    Ok(())
}

/// Has forked children told apart, also where no descriptor is opened.
///
/// # Errors
/// What the system says.
pub fn watch() -> io::Result<()> {
    install()
}

extern "C" fn before() {
    std::mem::forget(Gate::enter());
}

extern "C" fn after() {
    drop(Gate);
}

extern "C" fn in_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    for place in &DESCRIPTORS {
        let descriptor = place.swap(NONE, Ordering::Relaxed);
        if descriptor != NONE {
            // SAFETY: open in the parent, thus here; what owns it is not dropped in this
            // generation.
            unsafe { libc::close(descriptor) };
        }
    }
    drop(Gate);
}
