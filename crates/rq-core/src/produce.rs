//! Pushing: plain, with options, by numbered producers, under caps.

use crate::effect::{self, Storing, Writer};
use crate::error::Error;
use crate::id::Id;
use crate::message::{Fields, Headers};
use crate::outcome::{Produced, Pushed};
use crate::policy::Policy;
use crate::queue::{Moment, Queue, TIME_END};
use crate::remembered::Producer;
use crate::segment::{LINED, SCHEDULED};

/// How messages are pushed, beside their payloads.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// First among the never delivered of their priority.
    pub front: bool,
    /// Milliseconds before which they are not delivered.
    pub delay: u64,
    /// Milliseconds after which they are not delivered any more, from when they are due; 0: no end.
    pub ttl: u64,
    /// Tries after the first; none: as the queue says.
    pub retries: Option<u32>,
    /// Higher ones are delivered first.
    pub priority: u8,
    /// What travels with them.
    pub headers: Headers<'a>,
    /// What the only one is known by.
    pub token: Option<&'a [u8]>,
    /// A token that is known is an error.
    pub unique: bool,
    /// Who pushes, and the number of the first element.
    pub producer: Option<(&'a [u8], u64)>,
    /// Settings of the queue if this push makes it: lease and deliveries.
    pub new: Option<(u64, u32)>,
    /// Messages of the queue that leave with this push, and their bytes, as [`Queue::leaving`] says: a cap counts them no more.
    pub leaving: (u64, u64),
}

impl Options<'_> {
    /// Whether the messages are as those without options; the queue may get settings all the same.
    fn is_plain(&self) -> bool {
        !self.front
            && self.delay == 0
            && self.ttl == 0
            && self.retries.is_none()
            && self.priority == 0
            && self.headers.is_empty()
            && self.token.is_none()
            && self.producer.is_none()
    }
}

impl Queue {
    /// Appends messages, all of them or none. Those of a producer up to its highest number are stored already, and are not
    /// stored again; nor is one whose token is known.
    ///
    /// # Errors
    /// [`Error::Paused`], [`Error::Capped`], [`Error::Duplicate`]; [`Error::Gap`] when a known producer leaves numbers out,
    /// [`Error::Exhausted`] when numbers or IDs do not suffice. Nothing is stored then.
    pub fn push<'a>(
        &mut self,
        moment: &Moment<'_>,
        options: Option<&Options<'_>>,
        elements: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
        effect: &mut dyn Writer,
    ) -> Result<Produced, Error> {
        effect.clear();
        if self.paused.push {
            return Err(Error::Paused);
        }
        let plain = options.is_none_or(Options::is_plain);
        if elements.len() == 0 || (plain && !self.is_capped(moment.defaults)) {
            let new = options.and_then(|options| options.new);
            return self.push_plain(moment, new, elements, effect);
        }
        let none = Options::default();
        self.push_with(moment, options.unwrap_or(&none), elements, effect)
    }

    fn is_capped(&self, defaults: &Policy) -> bool {
        (self.policy.max_length | self.policy.max_bytes | defaults.max_length | defaults.max_bytes)
            != 0
    }

    fn push_plain<'a>(
        &mut self,
        moment: &Moment<'_>,
        new: Option<(u64, u32)>,
        elements: impl ExactSizeIterator<Item = &'a [u8]>,
        effect: &mut dyn Writer,
    ) -> Result<Produced, Error> {
        let pushed = self.new_ids(moment, elements.len() as u64)?;
        if pushed.count > 0 {
            match self.settings_of_new(new) {
                None => effect::put_push(effect, &pushed),
                Some(new) => {
                    self.clock = self.advance(moment.now);
                    effect::put_push_new(effect, &pushed, self.clock, new);
                    self.policy = Policy::of_new(new);
                }
            }
            self.append(&pushed, elements);
        }
        Ok(Produced {
            pushed: Some(pushed),
            ..Produced::default()
        })
    }

    /// IDs for new messages.
    fn new_ids(&self, moment: &Moment<'_>, count: u64) -> Result<Pushed, Error> {
        let first = self
            .last_id
            .next(moment.now, count)
            .ok_or(Error::Exhausted)?;
        let mut pushed = Pushed {
            first,
            count,
            floor: Id::default(),
        };
        let last = pushed.last();
        if count > 0 && last.raises(moment.floor, moment.now) {
            pushed.floor = last;
        }
        Ok(pushed)
    }

    fn push_with<'a>(
        &mut self,
        moment: &Moment<'_>,
        options: &Options<'_>,
        elements: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
        effect: &mut dyn Writer,
    ) -> Result<Produced, Error> {
        let known = self.known(options, elements.len() as u64)?;
        let repeated = known.len() as u64;
        let fresh = Fresh(elements, known.len());
        let mut produced = Produced {
            known,
            ..Produced::default()
        };
        if fresh.len() == 0 {
            self.counters.duplicates += repeated;
            effect::put_duplicates(effect, repeated);
            return Ok(produced);
        }
        if let Some(token) = options.token
            && let Some((id, _)) = self.tokens.get(token)
        {
            if options.unique {
                return Err(Error::Duplicate(id));
            }
            return Ok(self.repeat(moment, options, id, effect));
        }
        let drops = self.room_for(moment.defaults, options, fresh.clone())?;
        if drops == 0 && options.is_plain() {
            return self.push_plain(moment, options.new, fresh, effect);
        }
        let pushed = self.new_ids(moment, fresh.len() as u64)?;
        let new = self.settings_of_new(options.new);
        let time = self.advance(moment.now);
        let stored = Storing {
            pushed,
            time,
            new,
            producer: options
                .producer
                .map(|(name, sequence)| (name, sequence - 1 + repeated + pushed.count)),
            due: (options.delay > 0).then(|| time.saturating_add(options.delay).min(TIME_END - 1)),
            front: options.front,
            fields: Fields {
                priority: options.priority,
                expiry: self.expiry(time, options),
                retries: options.retries,
                token: options.token,
                headers: options.headers,
            },
            drops,
            duplicates: repeated,
        };
        effect::put_store(effect, &stored);
        self.store(&stored, fresh);
        produced.dropped = drops;
        produced.pushed = Some(pushed);
        Ok(produced)
    }

    /// Whether a push that brings settings makes the queue: it holds no message, and nobody set it up. It may remember names.
    pub(crate) fn may_get_settings(&self) -> bool {
        self.store.live() == 0 && !self.policy.kept
    }

    /// The settings that a push brings, where they are others than the queue's.
    fn settings_of_new(&self, new: Option<(u64, u32)>) -> Option<(u64, u32)> {
        let (lease, deliveries) = new.filter(|_| self.may_get_settings())?;
        let new = (lease.min(TIME_END / 2), deliveries);
        (new != (self.policy.lease, self.policy.deliveries)).then_some(new)
    }

    fn expiry(&self, time: u64, options: &Options<'_>) -> u64 {
        if options.ttl == 0 {
            return 0;
        }
        let due = time.saturating_add(options.delay);
        due.saturating_add(options.ttl).min(TIME_END - 1)
    }

    /// The IDs of elements that a producer has sent before.
    fn known(&self, options: &Options<'_>, count: u64) -> Result<Vec<Option<Id>>, Error> {
        let Some((name, sequence)) = options.producer else {
            return Ok(Vec::new());
        };
        let before = sequence.checked_sub(1).ok_or(Error::Gap(0))?;
        let last = before.checked_add(count).ok_or(Error::Exhausted)?;
        match self.producers.get(name) {
            Some((producer, _)) if before > producer.highest => Err(Error::Gap(producer.highest)),
            Some((producer, _)) => Ok((sequence..=last.min(producer.highest))
                .map(|number| producer.id_of(number))
                .collect()),
            None => Ok(Vec::new()),
        }
    }

    /// A push whose token is known: nothing is stored, but the producer's number counts.
    fn repeat(
        &mut self,
        moment: &Moment<'_>,
        options: &Options<'_>,
        id: Id,
        effect: &mut dyn Writer,
    ) -> Produced {
        let time = self.advance(moment.now);
        let pushed = Pushed {
            first: id,
            count: 0,
            floor: Id::default(),
        };
        let stored = Storing {
            pushed,
            time,
            producer: options.producer,
            duplicates: 1,
            ..Storing::plain(pushed)
        };
        effect::put_store(effect, &stored);
        self.store(&stored, std::iter::empty());
        Produced {
            known: vec![Some(id)],
            ..Produced::default()
        }
    }

    /// How many messages must be dropped so that these fit under the caps.
    fn room_for<'a>(
        &self,
        defaults: &Policy,
        options: &Options<'_>,
        elements: impl ExactSizeIterator<Item = &'a [u8]>,
    ) -> Result<u64, Error> {
        if !self.is_capped(defaults) {
            return Ok(0);
        }
        let policy = self.policy.over(defaults);
        let count = elements.len() as u64;
        let bytes: u64 = elements.map(|element| element.len() as u64).sum();
        let bytes = bytes.saturating_add(count.saturating_mul(options.headers.bytes()));
        let over = |cap: u64, held: u64, more: u64| match cap {
            0 => 0,
            cap => held.saturating_add(more).saturating_sub(cap),
        };
        let (messages, stored) = options.leaving;
        let mut length = over(
            policy.max_length,
            self.len().saturating_sub(messages),
            count,
        );
        let mut size = over(policy.max_bytes, self.bytes.saturating_sub(stored), bytes);
        let capped = |length: u64| match length {
            0 => Error::Capped("MAXBYTES", policy.max_bytes),
            _ => Error::Capped("MAXLEN", policy.max_length),
        };
        let alone = over(policy.max_length, 0, count) + over(policy.max_bytes, 0, bytes);
        if (length | size) > 0 && (!policy.drops || alone > 0) {
            return Err(capped(length));
        }
        let mut drops = 0;
        if (length | size) > 0 {
            for message in self.group.iter_dropped(&self.store) {
                (length, size) = (
                    length.saturating_sub(1),
                    size.saturating_sub(message.bytes()),
                );
                drops += 1;
                if (length | size) == 0 {
                    break;
                }
            }
        }
        if (length | size) > 0 {
            return Err(capped(length));
        }
        Ok(drops)
    }

    /// Appends plain messages whose IDs were made.
    pub(crate) fn append<'a>(
        &mut self,
        pushed: &Pushed,
        elements: impl ExactSizeIterator<Item = &'a [u8]>,
    ) {
        self.expected = None;
        for (id, element) in pushed.ids().zip(elements) {
            self.bytes += element.len() as u64;
            self.store.append(id, (&[], element));
        }
        self.group.appended(pushed.count);
        self.last_id = pushed.last();
        self.counters.sent += pushed.count;
    }

    /// Does what a push with options does, once it is decided.
    pub(crate) fn store<'a>(
        &mut self,
        stored: &Storing<'_>,
        elements: impl ExactSizeIterator<Item = &'a [u8]>,
    ) {
        self.expected = None;
        self.clock = stored.time;
        if let Some(new) = stored.new {
            self.policy = Policy::of_new(new);
        }
        self.drop_waiting(stored);
        let pushed = &stored.pushed;
        if pushed.count > 0 {
            self.append_with(stored, elements);
            self.last_id = pushed.last();
            self.counters.sent += pushed.count;
        }
        self.counters.duplicates += stored.duplicates;
        if let Some(token) = stored.fields.token.filter(|_| pushed.count > 0) {
            self.tokens.set(token, pushed.first, None);
        }
        if let Some((name, highest)) = stored.producer
            && self.policy.dedup > 0
        {
            let producer = Producer {
                highest,
                first: pushed.first,
                count: pushed.count.max(1),
            };
            let time = (self.producers.get(name))
                .and_then(|(_, time)| time)
                .map_or(stored.time, |time| time.max(stored.time));
            self.producers.set(name, producer, Some(time));
        }
    }

    /// Drops messages to make room under a cap.
    fn drop_waiting(&mut self, stored: &Storing<'_>) {
        if stored.drops == 0 {
            return;
        }
        let dropped = self.group.iter_dropped(&self.store);
        let dropped = dropped.take(usize::try_from(stored.drops).unwrap_or(usize::MAX));
        let ids: Vec<Id> = dropped.map(|message| message.id).collect();
        self.counters.expired += ids.len() as u64;
        for id in ids {
            self.remove_one(id, stored.time);
        }
    }

    fn append_with<'a>(
        &mut self,
        stored: &Storing<'_>,
        elements: impl ExactSizeIterator<Item = &'a [u8]>,
    ) {
        let (fields, mut prefix) = (&stored.fields, Vec::new());
        fields.put(&mut prefix);
        let each = fields.headers.bytes();
        let mark = match stored.due {
            Some(_) => Some(SCHEDULED),
            None if stored.front || fields.priority > 0 => Some(LINED),
            None => None,
        };
        let first = self.store.next_ordinal();
        let ids = stored.pushed.ids();
        for (id, element) in ids.zip(elements) {
            self.bytes += element.len() as u64 + each;
            let Some(mark) = mark else {
                self.store.append(id, (&prefix, element));
                continue;
            };
            let ordinal = self.store.append_marked(id, (&prefix, element), mark);
            if let Some(due) = stored.due {
                self.group.schedule(ordinal, due);
            } else if !stored.front {
                self.group.line_up(&self.store, fields.priority, ordinal);
            }
        }
        let last = self.store.next_ordinal();
        if mark.is_none() {
            self.group.appended(last - first);
        } else if stored.front && stored.due.is_none() {
            let ordinals = (first..last).rev();
            ordinals.for_each(|ordinal| self.group.lanes.push_front(fields.priority, ordinal));
        }
        if fields.expiry > 0 {
            (first..last)
                .for_each(|ordinal| _ = self.group.expiring.insert(fields.expiry, ordinal));
        }
    }
}

/// Elements without the first few.
#[derive(Clone)]
struct Fresh<I>(I, usize);

impl<I: ExactSizeIterator> Iterator for Fresh<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.nth(std::mem::take(&mut self.1))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.0.len().saturating_sub(self.1);
        (left, Some(left))
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for Fresh<I> {}
