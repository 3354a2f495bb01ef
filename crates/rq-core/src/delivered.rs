//! The list of delivered messages, ordered by last delivery.
//!
//! A doubly linked list through the records: a delivery goes to the tail, the longest delivered
//! message is the head, and an acknowledgement unlinks from anywhere.

use crate::record::{NIL, Record, Records};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Delivered {
    head: u32,
    tail: u32,
}

impl Default for Delivered {
    fn default() -> Self {
        Self {
            head: NIL,
            tail: NIL,
        }
    }
}

impl Delivered {
    pub(crate) fn head(&self) -> Option<u32> {
        (self.head != NIL).then_some(self.head)
    }

    /// Stores a record at the tail.
    pub(crate) fn push(&mut self, records: &mut Records, mut record: Record) -> u32 {
        (record.previous, record.next) = (self.tail, NIL);
        let number = records.insert(record);
        self.link(records, self.tail, NIL, number);
        number
    }

    /// Takes a record out of the list; it stays stored.
    pub(crate) fn unlink(&mut self, records: &mut Records, number: u32) {
        let Some(&Record { previous, next, .. }) = records.get(number) else {
            return;
        };
        match records.get_mut(previous) {
            Some(record) => record.next = next,
            None => self.head = next,
        }
        match records.get_mut(next) {
            Some(record) => record.previous = previous,
            None => self.tail = previous,
        }
    }

    /// Moves a record to the tail.
    pub(crate) fn move_to_tail(&mut self, records: &mut Records, number: u32) {
        self.unlink(records, number);
        let tail = self.tail;
        if let Some(record) = records.get_mut(number) {
            (record.previous, record.next) = (tail, NIL);
        }
        self.link(records, tail, NIL, number);
    }

    /// Lets the neighbours of a record know its (new) number.
    pub(crate) fn link(&mut self, records: &mut Records, previous: u32, next: u32, number: u32) {
        match records.get_mut(previous) {
            Some(record) => record.next = number,
            None => self.head = number,
        }
        match records.get_mut(next) {
            Some(record) => record.previous = number,
            None => self.tail = number,
        }
    }

    /// Record numbers from the head on.
    pub(crate) fn iter<'a>(&self, records: &'a Records) -> impl Iterator<Item = u32> + use<'a> {
        Self::walk(records, self.head, |record| record.next)
    }

    /// Record numbers from the tail back.
    pub(crate) fn iter_back<'a>(
        &self,
        records: &'a Records,
    ) -> impl Iterator<Item = u32> + use<'a> {
        Self::walk(records, self.tail, |record| record.previous)
    }

    /// Record numbers from this one on.
    pub(crate) fn iter_from(records: &Records, number: u32) -> impl Iterator<Item = u32> + use<'_> {
        Self::walk(records, number, |record| record.next)
    }

    fn walk(
        records: &Records,
        from: u32,
        step: impl Fn(&Record) -> u32,
    ) -> impl Iterator<Item = u32> {
        let exists = |number: u32| (number != NIL).then_some(number);
        std::iter::successors(exists(from), move |&number| {
            records.get(number).and_then(|record| exists(step(record)))
        })
    }
}
