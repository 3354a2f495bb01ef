//! Where queues are kept: in memory alone, or in a store too.

use rq_core::effect::{Unread, Writer};
use rq_core::{Id, Moment, Options, Policy, Produced, Queue, Receipt, snapshot};
use rq_store::{Files, Queues, Store};

use crate::error::Error;

/// Queues, and what keeps them.
pub(crate) enum Keeper {
    /// Nothing keeps them.
    Memory {
        queues: Queues,
        /// Whether an operation changed something; nobody reads what.
        effect: Unread,
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

/// A hand-over from one queue to another, or to itself.
#[derive(Clone, Copy)]
pub(crate) struct HandOver<'a> {
    pub(crate) source: &'a [u8],
    pub(crate) destination: &'a [u8],
    pub(crate) receipts: &'a [Receipt],
    /// Lease and deliveries of the destination if this makes it.
    pub(crate) new: Option<(u64, u32)>,
}

impl Keeper {
    pub(crate) fn memory() -> Self {
        Keeper::Memory {
            queues: Queues::default(),
            effect: Unread::default(),
        }
    }

    pub(crate) fn queues(&self) -> &Queues {
        match self {
            Keeper::Memory { queues, .. } | Keeper::Closed { queues, .. } => queues,
            Keeper::File(store) => store.queues(),
        }
    }

    /// When and where something happens.
    pub(crate) fn moment(&self, now: u64) -> Moment<'static> {
        self.queues().moment(now, &Policy::NONE)
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
        options: Option<&Options<'_>>,
        elements: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) -> Result<Produced, Error> {
        let when = (now, &Policy::NONE);
        match self {
            Keeper::Memory { queues, effect } => {
                Ok(queues.push(name, when, options, elements, effect)?)
            }
            Keeper::File(store) => {
                let mut record = store.record_for(bytes_of(&elements))?;
                let produced = record.push(name, when, options, elements)?;
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
        operation: impl FnOnce(&mut Queue, &mut dyn Writer) -> R,
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

    /// Runs an operation on a queue, which is made where there is none. What it gave counts only when this returns it.
    pub(crate) fn create<R>(
        &mut self,
        name: &[u8],
        operation: impl FnOnce(&mut Queue, &mut dyn Writer) -> R,
    ) -> Result<R, Error> {
        match self {
            Keeper::Memory { queues, effect } => {
                effect.clear();
                Ok(queues.create(name, |queue| operation(queue, effect)))
            }
            Keeper::File(store) => {
                let mut record = store.record_for(0)?;
                let outcome = record.create(name, operation);
                record.append()?;
                Ok(outcome)
            }
            Keeper::Closed { .. } => Err(Error::Closed),
        }
    }

    /// Lets go of held messages and appends others, as one change. The push comes first: only it can be refused once it is
    /// known that all are held.
    pub(crate) fn hand_over<'a>(
        &mut self,
        now: u64,
        over: HandOver<'_>,
        elements: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) -> Result<Produced, Error> {
        let when = (now, &Policy::NONE);
        let (receipts, mut done) = (over.receipts, Vec::<Id>::new());
        let mut options = Options {
            new: over.new,
            ..Options::default()
        };
        if over.source == over.destination
            && let Some(queue) = self.queues().get(over.source)
        {
            options.leaving = queue.leaving(receipts);
        }
        let options = Some(&options);
        let mut let_go = |queue: &mut Queue, effect: &mut dyn Writer| {
            queue.acknowledge(now, receipts.iter().copied(), &mut done, effect, |_| ());
        };
        match self {
            Keeper::Memory { queues, effect } => {
                let held = queues.change(over.source, |queue| queue.ensure_held(receipts));
                held.unwrap_or_else(|| Err(not_held(receipts)))?;
                let produced = queues.push(over.destination, when, options, elements, effect)?;
                queues.change(over.source, |queue| let_go(queue, effect));
                Ok(produced)
            }
            Keeper::File(store) => {
                let mut record = store.record_for(bytes_of(&elements))?;
                let held = record.change(over.source, |queue, _| queue.ensure_held(receipts));
                held.unwrap_or_else(|| Err(not_held(receipts)))?;
                let produced = record.push(over.destination, when, options, elements)?;
                record.change(over.source, let_go);
                record.append()?;
                Ok(produced)
            }
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

/// The first of these is not held: there is no such queue.
fn not_held(receipts: &[Receipt]) -> rq_core::Error {
    rq_core::Error::NotHeld(receipts.first().map_or(Id::default(), |receipt| receipt.id))
}

/// Bytes of all elements.
fn bytes_of<'a>(elements: &(impl Iterator<Item = &'a [u8]> + Clone)) -> usize {
    elements.clone().map(<[u8]>::len).sum()
}
