//! Effects as bytes.

use super::*;
use crate::group::Fate;
use crate::message::put_text;
use crate::varint;

pub(crate) fn begin(out: &mut Vec<u8>, kind: u8) {
    out.clear();
    out.extend_from_slice(&[VERSION, kind]);
}

/// Begins an effect, where it is read.
fn begin_in(effect: &mut dyn Writer, kind: u8) -> Option<&mut Vec<u8>> {
    let out = effect.begin()?;
    begin(out, kind);
    Some(out)
}

pub(crate) fn put_id(out: &mut Vec<u8>, id: Id) {
    varint::put(out, id.milliseconds);
    varint::put(out, id.sequence);
}

/// An ID after another one: few bytes when it is near.
pub(crate) fn put_id_after(out: &mut Vec<u8>, previous: Id, id: Id) {
    let milliseconds = varint::difference(previous.milliseconds, id.milliseconds);
    varint::put(out, milliseconds);
    let from = if milliseconds == 0 {
        previous.sequence
    } else {
        0
    };
    varint::put(out, varint::difference(from, id.sequence));
}

fn put_ids(out: &mut Vec<u8>, ids: &[Id]) {
    let mut previous = Id::default();
    for &id in ids {
        put_id_after(out, previous, id);
        previous = id;
    }
}

pub(crate) fn put_push(effect: &mut dyn Writer, pushed: &Pushed) {
    let Some(out) = begin_in(effect, PUSH) else {
        return;
    };
    put_pushed(out, pushed);
}

fn put_pushed(out: &mut Vec<u8>, pushed: &Pushed) {
    out.push(u8::from(pushed.floor > Id::default()));
    put_id(out, pushed.first);
    varint::put(out, pushed.count);
}

fn flag(holds: bool, flag: u8) -> u8 {
    if holds { flag } else { 0 }
}

/// A push without options that makes a queue with settings.
pub(crate) fn put_push_new(effect: &mut dyn Writer, pushed: &Pushed, time: u64, new: (u64, u32)) {
    let Some(out) = begin_in(effect, STORE) else {
        return;
    };
    put_pushed(out, pushed);
    varint::put(out, time);
    out.push(WITH_NEW);
    put_new(out, new);
}

fn put_new(out: &mut Vec<u8>, (lease, deliveries): (u64, u32)) {
    varint::put(out, lease);
    varint::put(out, deliveries.into());
}

pub(crate) fn put_store(effect: &mut dyn Writer, stored: &Storing<'_>) {
    let Some(out) = begin_in(effect, STORE) else {
        return;
    };
    put_pushed(out, &stored.pushed);
    varint::put(out, stored.time);
    out.push(
        flag(stored.new.is_some(), WITH_NEW)
            | flag(stored.producer.is_some(), WITH_PRODUCER)
            | flag(stored.due.is_some(), WITH_DUE)
            | flag(stored.front, IN_FRONT)
            | flag(!stored.fields.is_plain(), WITH_FIELDS)
            | flag(stored.drops > 0, WITH_DROPS)
            | flag(stored.duplicates > 0, WITH_DUPLICATES),
    );
    if let Some(new) = stored.new {
        put_new(out, new);
    }
    if let Some((name, highest)) = stored.producer {
        put_text(out, name);
        varint::put(out, highest);
    }
    if let Some(due) = stored.due {
        varint::put(out, due);
    }
    stored.fields.put(out);
    for number in [stored.drops, stored.duplicates] {
        if number > 0 {
            varint::put(out, number);
        }
    }
}

pub(crate) fn put_duplicates(effect: &mut dyn Writer, count: u64) {
    let Some(out) = begin_in(effect, DUPLICATES) else {
        return;
    };
    varint::put(out, count);
}

pub(crate) fn put_forget<'a>(
    effect: &mut dyn Writer,
    tokens: bool,
    names: impl Iterator<Item = &'a [u8]>,
) {
    let Some(out) = begin_in(effect, if tokens { FORGET_TOKENS } else { FORGET }) else {
        return;
    };
    names.for_each(|name| put_text(out, name));
}

pub(crate) fn put_deliver(effect: &mut dyn Writer, manner: &Manner<'_>, first: Id, count: u64) {
    let plain =
        manner.lease == 0 && manner.consumer.is_empty() && !manner.no_ack && !manner.prefetched;
    let Some(out) = begin_in(effect, if plain { DELIVER } else { TAKE }) else {
        return;
    };
    varint::put(out, manner.time);
    put_id(out, first);
    varint::put(out, count);
    if !plain {
        out.push(flag(manner.no_ack, NO_ACK) | flag(manner.prefetched, PREFETCHED));
        varint::put(out, manner.lease);
        put_text(out, manner.consumer);
    }
}

pub(crate) fn put_acknowledge(effect: &mut dyn Writer, ids: &[Id]) {
    let Some(out) = begin_in(effect, ACKNOWLEDGE) else {
        return;
    };
    put_ids(out, ids);
}

pub(crate) fn put_acknowledge_at(effect: &mut dyn Writer, time: u64, ids: &[Id]) {
    let Some(out) = begin_in(effect, ACKNOWLEDGE_AT) else {
        return;
    };
    varint::put(out, time);
    put_ids(out, ids);
}

pub(crate) fn put_again(effect: &mut dyn Writer, again: &Again<'_>, entries: &[(Id, bool)]) {
    let Some(out) = begin_in(effect, AGAIN) else {
        return;
    };
    varint::put(out, again.time);
    out.push(again.cause.number());
    varint::put(out, again.lease);
    put_text(out, again.consumer);
    let mut previous = Id::default();
    for &(id, dead) in entries {
        put_id_after(out, previous, id);
        varint::put(out, u64::from(dead));
        previous = id;
    }
}

pub(crate) fn put_returned(
    effect: &mut dyn Writer,
    returned: &Returned<'_>,
    entries: &[(Id, Fate)],
) {
    let Some(out) = begin_in(effect, RETURN) else {
        return;
    };
    varint::put(out, returned.time);
    out.push(returned.cause.number());
    out.push(u8::from(returned.silent));
    put_text(out, returned.reason);
    let mut previous = Id::default();
    for &(id, fate) in entries {
        put_id_after(out, previous, id);
        let fate = match fate {
            Fate::Waiting => 0,
            Fate::Dead => 1,
            Fate::Due(due) => due.saturating_sub(returned.time).saturating_add(1),
        };
        varint::put(out, fate);
        previous = id;
    }
}

pub(crate) fn put_extend(effect: &mut dyn Writer, deadline: u64, start: bool, ids: &[Id]) {
    let Some(out) = begin_in(effect, EXTEND) else {
        return;
    };
    varint::put(out, deadline);
    out.push(u8::from(start));
    put_ids(out, ids);
}

pub(crate) fn put_remove(effect: &mut dyn Writer, time: u64, expired: bool, ids: &[Id]) {
    let Some(out) = begin_in(effect, REMOVE) else {
        return;
    };
    varint::put(out, time);
    out.push(u8::from(expired));
    put_ids(out, ids);
}

pub(crate) fn put_due(effect: &mut dyn Writer, time: u64, count: u64) {
    let Some(out) = begin_in(effect, DUE) else {
        return;
    };
    varint::put(out, time);
    varint::put(out, count);
}

pub(crate) fn put_expired(effect: &mut dyn Writer, time: u64, ids: &[Id]) {
    let Some(out) = begin_in(effect, EXPIRE) else {
        return;
    };
    varint::put(out, time);
    put_ids(out, ids);
}

pub(crate) fn put_redrive(effect: &mut dyn Writer, time: u64, ids: &[Id]) {
    let Some(out) = begin_in(effect, REDRIVE) else {
        return;
    };
    varint::put(out, time);
    put_ids(out, ids);
}

pub(crate) fn put_flush(effect: &mut dyn Writer, time: u64, dead: bool) {
    let Some(out) = begin_in(effect, FLUSH) else {
        return;
    };
    varint::put(out, time);
    out.push(u8::from(dead));
}

pub(crate) fn put_trim(effect: &mut dyn Writer, time: u64, count: u64) {
    let Some(out) = begin_in(effect, TRIM) else {
        return;
    };
    varint::put(out, time);
    varint::put(out, count);
}

pub(crate) fn put_policy(effect: &mut dyn Writer, policy: &Policy, made: Option<Id>) {
    let Some(out) = begin_in(effect, SETUP) else {
        return;
    };
    policy.put(out);
    put_made(out, made);
}

pub(crate) fn put_paused(effect: &mut dyn Writer, paused: Paused, made: Option<Id>) {
    let Some(out) = begin_in(effect, PAUSE) else {
        return;
    };
    out.push(paused_byte(paused));
    put_made(out, made);
}

fn put_made(out: &mut Vec<u8>, made: Option<Id>) {
    if let Some(id) = made {
        put_id(out, id);
    }
}

pub(crate) fn paused_byte(paused: Paused) -> u8 {
    u8::from(paused.push) | u8::from(paused.pop) << 1
}
