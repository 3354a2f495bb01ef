//! Queues by name, and the floor under new IDs.
//!
//! A queue comes into being with its first push and ceases to exist when it holds nothing. The floor is
//! the largest ID that was given (`docs/design.md`): a queue made anew starts above it.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use rq_core::{
    Error, Id, Moment, Options, Policy, Produced, Queue,
    effect::{self, Writer},
};

/// All queues of a store. Alone, it is a store that forgets.
#[derive(Debug, Clone, Default)]
pub struct Queues {
    /// Those that hold something, and at most one that does not: [`Queues::spent`]. That is as if
    /// it were not there, but need not be made again by the next push.
    queues: HashMap<Box<[u8]>, Queue, RandomState>,
    /// The name of the one that holds nothing, while `has_spent`.
    spent: Vec<u8>,
    has_spent: bool,
    floor: Id,
}

impl Queues {
    /// The queue with a name, where there is one.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<&Queue> {
        self.queues.get(name).filter(|queue| !queue.is_empty())
    }

    /// How many queues there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queues.len() - usize::from(self.has_spent)
    }

    /// Whether there is no queue.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All queues, in the order of their names.
    pub fn sorted(&self) -> impl ExactSizeIterator<Item = (&[u8], &Queue)> {
        let all = self.queues.iter().filter(|(_, queue)| !queue.is_empty());
        let mut all: Vec<_> = all.map(|(n, q)| (&**n, q)).collect();
        all.sort_unstable_by_key(|&(name, _)| name);
        all.into_iter()
    }

    /// The names of all queues, in no order.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        let all = self.queues.iter().filter(|(_, queue)| !queue.is_empty());
        all.map(|(name, _)| &**name)
    }

    /// Bytes that queues and their names take. Linear in the number of queues.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let all = self.queues.iter().filter(|(_, queue)| !queue.is_empty());
        all.map(|(name, queue)| (name.len() + queue.memory()) as u64)
            .sum()
    }

    /// The largest ID that was given.
    #[must_use]
    pub fn floor(&self) -> Id {
        self.floor
    }

    /// Raises the floor to an ID.
    pub fn raise(&mut self, id: Id) {
        self.floor = self.floor.max(id);
    }

    /// When and where something happens to these queues.
    #[must_use]
    pub fn moment<'a>(&self, now: u64, defaults: &'a Policy) -> Moment<'a> {
        Moment {
            now,
            floor: self.floor,
            defaults,
        }
    }

    /// Appends messages to a queue, which is made where there is none, and writes the effect.
    ///
    /// # Errors
    /// As [`Queue::push`]; nothing is changed then.
    pub fn push<'a>(
        &mut self,
        name: &[u8],
        (now, defaults): (u64, &Policy),
        options: Option<&Options<'_>>,
        elements: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
        effect: &mut dyn Writer,
    ) -> Result<Produced, Error> {
        let moment = self.moment(now, defaults);
        let produced = self.create(name, |queue| queue.push(&moment, options, elements, effect))?;
        if let Some(pushed) = &produced.pushed {
            self.raise(pushed.floor);
        }
        Ok(produced)
    }

    /// Runs an operation on a queue, which is made where there is none, and is kept if it holds something then.
    pub fn create<R>(&mut self, name: &[u8], operation: impl FnOnce(&mut Queue) -> R) -> R {
        let Some(queue) = self.queues.get_mut(name) else {
            let mut queue = Queue::new(self.floor);
            let outcome = operation(&mut queue);
            if !queue.is_empty() {
                self.queues.insert(name.into(), queue);
            }
            return outcome;
        };
        let spent = queue.is_empty();
        if spent {
            queue.renew(self.floor);
        }
        let outcome = operation(queue);
        match (spent, queue.is_empty()) {
            (true, false) => self.has_spent = false,
            (false, true) => self.spend(name),
            _ => {}
        }
        outcome
    }

    /// Runs an operation that makes no IDs on a queue, where there is one; a queue that holds
    /// nothing afterwards is gone.
    pub fn change<R>(&mut self, name: &[u8], operation: impl FnOnce(&mut Queue) -> R) -> Option<R> {
        let queue = self.queues.get_mut(name)?;
        let spent = queue.is_empty();
        let outcome = operation(queue);
        if queue.is_empty() && !spent {
            self.spend(name);
        }
        Some(outcome)
    }

    /// A queue holds nothing any more. It takes the place of the last such one, which goes.
    fn spend(&mut self, name: &[u8]) {
        self.drop_spent();
        self.spent.clear();
        self.spent.extend_from_slice(name);
        self.has_spent = true;
    }

    fn drop_spent(&mut self) {
        if std::mem::take(&mut self.has_spent) {
            self.queues.remove(&*self.spent);
        }
    }

    /// Applies an effect to a queue, by the same rules as `RQ.APPLY` in a server.
    ///
    /// # Errors
    /// [`Error::BadEffect`] when it does not fit; nothing is changed then.
    pub fn apply<'a>(
        &mut self,
        name: &[u8],
        head: &[u8],
        payloads: impl ExactSizeIterator<Item = &'a [u8]>,
    ) -> Result<(), Error> {
        let scope = effect::scope(head)?;
        if self.has_spent && self.spent == name {
            self.drop_spent();
        }
        if let effect::Scope::Floor(id) = scope {
            self.raise(id);
            return Ok(());
        }
        let floor = if let Some(queue) = self.queues.get_mut(name) {
            let floor = queue.apply(head, payloads)?;
            let whole = matches!(scope, effect::Scope::Changes | effect::Scope::Creates);
            if whole && queue.is_empty() {
                self.queues.remove(name);
            }
            floor
        } else if matches!(scope, effect::Scope::Creates | effect::Scope::Begins) {
            // An effect says from where on its IDs are: the floor here may be another.
            let mut queue = Queue::default();
            let floor = queue.apply(head, payloads)?;
            // A snapshot's queue is empty until its messages follow its head, in the same record.
            if scope == effect::Scope::Begins || !queue.is_empty() {
                self.queues.insert(name.into(), queue);
            }
            floor
        } else {
            return Err(Error::BadEffect("there is no queue for it"));
        };
        self.raise(floor);
        Ok(())
    }

    /// Removes a queue with all that it holds; whether there was one.
    pub fn remove(&mut self, name: &[u8]) -> bool {
        if self.has_spent && self.spent == name {
            self.drop_spent();
            return false;
        }
        self.queues.remove(name).is_some()
    }

    /// Puts a whole queue in its place.
    pub fn insert(&mut self, name: &[u8], queue: Queue) {
        self.remove(name);
        self.queues.insert(name.into(), queue);
    }
}
