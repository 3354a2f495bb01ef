//! Where queues are kept: in memory alone, or in a store too.

use rq_core::{Produced, Pushed, Queue, snapshot};
use rq_store::{Files, Queues, Store};

use crate::error::Error;

/// Queues, and what keeps them.
pub(crate) enum Keeper {
    /// Nothing keeps them.
    Memory {
        queues: Queues,
        /// What an operation changed, as the core tells it; nobody reads it.
        effect: Vec<u8>,
    },
    /// A change is in the store before it counts.
    File(Box<Store<Files>>),
    /// The last user has let go of them.
    Closed {
        queues: Queues,
        /// Whether all that was to be durable is.
        durable: bool,
    },
}

impl Keeper {
    pub(crate) fn memory() -> Self {
        Keeper::Memory {
            queues: Queues::default(),
            effect: Vec::new(),
        }
    }

    pub(crate) fn queues(&self) -> &Queues {
        match self {
            Keeper::Memory { queues, .. } | Keeper::Closed { queues, .. } => queues,
            Keeper::File(store) => store.queues(),
        }
    }

    pub(crate) fn store(&mut self) -> Option<&mut Store<Files>> {
        match self {
            Keeper::Memory { .. } | Keeper::Closed { .. } => None,
            Keeper::File(store) => Some(store),
        }
    }

    /// The number of the last change that was stored.
    pub(crate) fn stored(&self) -> u64 {
        match self {
            Keeper::Memory { .. } | Keeper::Closed { .. } => 0,
            Keeper::File(store) => store.appended_through(),
        }
    }

    pub(crate) fn push<'a>(
        &mut self,
        name: &[u8],
        now: u64,
        elements: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) -> Result<Pushed, Error> {
        match self {
            Keeper::Memory { queues, effect } => Ok(queues.push(name, now, elements, effect)?),
            Keeper::File(store) => {
                let mut record = store.record_for(bytes_of(&elements))?;
                let pushed = record.push(name, now, elements)?;
                record.append()?;
                Ok(pushed)
            }
            Keeper::Closed { .. } => Err(Error::Closed),
        }
    }

    pub(crate) fn produce<'a>(
        &mut self,
        name: &[u8],
        now: u64,
        producer: (&[u8], u64),
        elements: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) -> Result<Produced, Error> {
        match self {
            Keeper::Memory { queues, effect } => {
                Ok(queues.produce(name, now, producer, elements, effect)?)
            }
            Keeper::File(store) => {
                let mut record = store.record_for(bytes_of(&elements))?;
                let produced = record.produce(name, now, producer, elements)?;
                record.append()?;
                Ok(produced)
            }
            Keeper::Closed { .. } => Err(Error::Closed),
        }
    }

    /// Runs an operation that makes no IDs on a queue, where there is one and the operation is
    /// worth it. What it gave counts only when this returns it.
    pub(crate) fn change<R>(
        &mut self,
        name: &[u8],
        worth: impl FnOnce(&Queue) -> bool,
        operation: impl FnOnce(&mut Queue, &mut Vec<u8>) -> R,
    ) -> Result<Option<R>, Error> {
        match self {
            Keeper::Memory { queues, effect } => {
                let change = |queue: &mut Queue| worth(queue).then(|| operation(queue, effect));
                Ok(queues.change(name, change).flatten())
            }
            Keeper::File(store) if store.queues().get(name).is_some_and(worth) => {
                let mut record = store.record_for(0)?;
                let outcome = record.change(name, operation);
                record.append()?;
                Ok(outcome)
            }
            Keeper::File(_) => Ok(None),
            Keeper::Closed { .. } => Err(Error::Closed),
        }
    }

    /// Puts a queue in the place of the one with this name, if there is one.
    pub(crate) fn restore(&mut self, name: &[u8], queue: &Queue) -> Result<(), Error> {
        match self {
            Keeper::Memory { queues, .. } => queues.insert(name, queue.clone()),
            Keeper::File(store) => {
                let mut record = store.record()?;
                record.remove(name);
                let mut applied = Ok(());
                snapshot::write(queue, |part| {
                    if applied.is_ok() {
                        applied = record.apply(name, part, std::iter::empty());
                    }
                });
                applied?;
                record.append()?;
            }
            Keeper::Closed { .. } => return Err(Error::Closed),
        }
        Ok(())
    }
}

/// Bytes of all elements.
fn bytes_of<'a>(elements: &(impl Iterator<Item = &'a [u8]> + Clone)) -> usize {
    elements.clone().map(<[u8]>::len).sum()
}
