//! Giving memory back to the system.
//!
//! The allocator keeps what queues have freed for later, and a process that has drained a large queue would
//! stay large. So it is told to let go whenever much was freed.

/// Bytes that are freed before the allocator is told. It takes about a tenth of a millisecond for each
/// megabyte then.
const MUCH: usize = 32 << 20;

/// Counts what was freed.
#[derive(Debug, Default)]
pub(crate) struct Freed(usize);

impl Freed {
    /// Takes note of a queue's bytes before and after a change.
    pub(crate) fn note(&mut self, before: usize, after: usize) {
        self.0 += before.saturating_sub(after);
        if self.0 >= MUCH {
            self.0 = 0;
            give_back();
        }
    }
}

#[cfg(target_env = "gnu")]
fn give_back() {
    // SAFETY: it takes the allocator's own locks, and frees nothing that is in use.
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators give back by themselves.
#[cfg(not(target_env = "gnu"))]
fn give_back() {}
