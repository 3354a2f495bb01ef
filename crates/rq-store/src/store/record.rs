//! A record that is being made.

use rq_core::effect::Writer;
use rq_core::{Options, Policy, Produced, Queue};

use super::Store;
use crate::error::Error;
use crate::queues::Queues;
use crate::record;
use crate::storage::Storage;

/// Changes of queues that become durable together, or not at all.
///
/// Operations take effect in the queues at once, and nobody else sees them before
/// [`Record::append`]. A record that is dropped, or could not be written, is undone by reading
/// the queues again.
#[derive(Debug)]
pub struct Record<'a, S: Storage> {
    store: &'a mut Store<S>,
    /// Bytes of a record without changes.
    empty: usize,
}

impl<'a, S: Storage> Record<'a, S> {
    pub(super) fn new(store: &'a mut Store<S>, empty: usize) -> Self {
        Self { store, empty }
    }

    /// The queues, with this record's changes.
    #[must_use]
    pub fn queues(&self) -> &Queues {
        &self.store.queues
    }

    /// Appends messages to a queue, which is made where there is none: what was sent before is not stored again.
    ///
    /// # Errors
    /// As [`Queue::push`]; nothing is changed then.
    pub fn push<'p>(
        &mut self,
        name: &[u8],
        moment: (u64, &Policy),
        options: Option<&Options<'_>>,
        elements: impl ExactSizeIterator<Item = &'p [u8]> + Clone,
    ) -> Result<Produced, rq_core::Error> {
        let store = &mut *self.store;
        let effect = &mut store.effect;
        let produced = (store.queues).push(name, moment, options, elements.clone(), effect)?;
        if !effect.is_empty() {
            let stored = produced.pushed.map_or(0, |pushed| pushed.count);
            let stored = usize::try_from(stored).unwrap_or(usize::MAX);
            let elements = elements.clone().skip(elements.len().saturating_sub(stored));
            record::put_effect(&mut store.buffer, name, effect, elements);
        }
        Ok(produced)
    }

    /// Runs an operation on a queue, which is made where there is none. The operation writes its effect into the buffer
    /// that it is given.
    pub fn create<R>(
        &mut self,
        name: &[u8],
        operation: impl FnOnce(&mut Queue, &mut dyn Writer) -> R,
    ) -> R {
        let store = &mut *self.store;
        let effect = &mut store.effect;
        effect.clear();
        let outcome = (store.queues).create(name, |queue| operation(queue, effect));
        if !effect.is_empty() {
            record::put_effect(&mut store.buffer, name, effect, std::iter::empty());
        }
        outcome
    }

    /// Runs an operation that makes no IDs on a queue, where there is one. The operation writes
    /// its effect into the buffer that it is given.
    pub fn change<R>(
        &mut self,
        name: &[u8],
        operation: impl FnOnce(&mut Queue, &mut dyn Writer) -> R,
    ) -> Option<R> {
        let store = &mut *self.store;
        let effect = &mut store.effect;
        effect.clear();
        let outcome = (store.queues).change(name, |queue| operation(queue, effect))?;
        if !effect.is_empty() {
            record::put_effect(&mut store.buffer, name, effect, std::iter::empty());
        }
        Some(outcome)
    }

    /// Applies an effect that was made elsewhere, such as a part of a snapshot. All parts of a
    /// snapshot belong into one record.
    ///
    /// # Errors
    /// [`rq_core::Error::BadEffect`] when it does not fit; nothing is changed then.
    pub fn apply<'p>(
        &mut self,
        name: &[u8],
        head: &[u8],
        payloads: impl ExactSizeIterator<Item = &'p [u8]> + Clone,
    ) -> Result<(), rq_core::Error> {
        self.store.queues.apply(name, head, payloads.clone())?;
        record::put_effect(&mut self.store.buffer, name, head, payloads);
        Ok(())
    }

    /// Removes a queue with all that it holds; whether there was one.
    pub fn remove(&mut self, name: &[u8]) -> bool {
        let removed = self.store.queues.remove(name);
        if removed {
            record::put_remove(&mut self.store.buffer, name);
        }
        removed
    }

    /// Hands the record to the system; its sequence number. A record without changes is not
    /// written, and has the number of the last one.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::Io`], [`Error::TooLarge`]: nothing was changed.
    /// [`Error::Poisoned`]: nothing more is stored.
    pub fn append(mut self) -> Result<u64, Error> {
        if self.store.buffer.len() == self.empty {
            return Ok(self.store.log.last());
        }
        let store = &mut *self.store;
        let appended = store.log.append(&mut store.buffer)?;
        self.empty = store.buffer.len();
        Ok(appended)
    }
}

impl<S: Storage> Drop for Record<'_, S> {
    fn drop(&mut self) {
        if self.store.buffer.len() != self.empty {
            self.store.reload();
        }
    }
}
