//! Giving memory back to the system.
//!
//! The allocator keeps what queues have freed for later, and a process that has drained a large queue would
//! stay large. So it is told to let go whenever much was freed.

use rq_core::Queue;

/// Bytes that are freed before the allocator is told. It takes about a tenth of a millisecond for each
/// megabyte then.
const MUCH: usize = 32 << 20;

/// Messages that are let go between two looks at a queue.
const OFTEN: usize = 256;

/// Counts what was freed.
#[derive(Debug, Default)]
pub(crate) struct Freed {
    bytes: usize,
    /// Messages that were let go since the last look.
    gone: usize,
    /// The queue that was looked at last, and its bytes then.
    name: Vec<u8>,
    last: usize,
}

impl Freed {
    /// Takes note of a queue's bytes before and after a change.
    pub(crate) fn note(&mut self, before: usize, after: usize) {
        self.bytes += before.saturating_sub(after);
        if self.bytes >= MUCH {
            self.bytes = 0;
            give_back();
        }
    }

    /// So many messages were let go. How much that is, is looked at now and then: one by one it would cost more than
    /// the messages.
    pub(crate) fn look(&mut self, name: &[u8], gone: usize, queue: &Queue) {
        self.gone += gone;
        if self.gone >= OFTEN {
            self.compare(name, queue.memory());
        }
    }

    #[cold]
    fn compare(&mut self, name: &[u8], bytes: usize) {
        self.gone = 0;
        if self.name == name {
            self.note(self.last, bytes);
        } else {
            self.name.clear();
            self.name.extend_from_slice(name);
        }
        self.last = bytes;
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
