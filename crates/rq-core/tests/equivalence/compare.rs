//! What a queue shows, beside what the model does.

use rq_core::{Fields, Filter, Headers, Id, Moment, Queue, State};

use crate::model::{Message, Model, Place};

/// Everything that can be seen of the queue is as the model says.
pub(crate) fn compare(queue: &Queue, model: &Model, moment: &Moment<'_>) {
    queue.check().unwrap();
    counts(queue, model, moment.now);
    orders(queue, model, moment.now);
    windows(queue, model, moment.now);
    searches(queue, model, moment.now);
    each(queue, model);
    due(queue, model, moment);
}

fn counts(queue: &Queue, model: &Model, now: u64) {
    let info = queue.info(now);
    assert_eq!(info.counters, model.counters);
    assert_eq!(queue.counters(), model.counters);
    assert_eq!(*queue.policy(), model.policy);
    assert_eq!((queue.paused(), info.paused), (model.paused, model.paused));
    assert_eq!(queue.len(), model.alive().count() as u64);
    assert_eq!(info.bytes, model.alive().map(Message::bytes).sum::<u64>());
    assert_eq!(info.last_id, model.last);
    assert_eq!(info.first_id, model.messages.keys().next().copied());
    let numbers = [
        info.waiting,
        info.delivered,
        info.scheduled,
        info.dead_letters,
    ];
    let lists = [
        model.waiting(),
        model.delivered(),
        model.scheduled(),
        model.dead(),
    ];
    assert_eq!(numbers, lists.map(|list| list.len() as u64));
    assert_eq!(queue.is_empty(), model.is_empty());
    assert_eq!(queue.has_messages(), !model.messages.is_empty());
}

fn orders(queue: &Queue, model: &Model, now: u64) {
    let waiting: Vec<Id> = queue.inspect_waiting(0, u64::MAX).map(|w| w.id).collect();
    assert_eq!(waiting, model.waiting());
    assert_eq!(
        queue.peek(false).map(|held| held.id),
        waiting.first().copied()
    );
    let time = model.time(now);
    let pending: Vec<_> = (queue.inspect_pending(now, 0, u64::MAX))
        .map(|p| (p.id, p.last_delivery, p.elapsed, p.deliveries))
        .collect();
    let expected = model.delivered().into_iter().map(|id| {
        let message = &model.messages[&id];
        let last = message.last_delivery;
        (id, last, time - last, message.deliveries)
    });
    assert_eq!(pending, expected.collect::<Vec<_>>());
    let scheduled: Vec<Id> = queue.due_later().map(|scheduled| scheduled.id).collect();
    assert_eq!(scheduled, model.scheduled());
    for scheduled in queue.due_later() {
        let place = &model.messages[&scheduled.id].place;
        assert!(matches!(place, Place::Scheduled(due) if *due == scheduled.due));
    }
    let dead: Vec<Id> = queue.dead().map(|dead| dead.id).collect();
    assert_eq!(dead, model.dead());
    for dead in queue.dead() {
        let message = &model.messages[&dead.id];
        let Place::Dead(death) = &message.place else {
            unreachable!()
        };
        let counts = (message.deliveries, message.failures);
        assert_eq!((dead.deliveries, dead.failures), counts);
        assert_eq!(
            (dead.died, dead.payload),
            (death.died, &message.payload[..])
        );
        assert_eq!(
            (dead.reason, dead.consumer),
            (&death.reason[..], &death.consumer[..])
        );
    }
    consumers(queue, model, now);
}

fn consumers(queue: &Queue, model: &Model, now: u64) {
    let found: Vec<_> = (queue.consumers(now))
        .map(|holder| (holder.name.to_vec(), holder.last_seen, holder.pending))
        .collect();
    let expected: Vec<_> = (model.seen.iter())
        .map(|(name, seen)| (name.clone(), *seen, model.held_by(name).len() as u64))
        .collect();
    assert_eq!(found, expected);
}

/// What each filter and each two of them leave, whole and in part.
fn searches(queue: &Queue, model: &Model, now: u64) {
    let ids: Vec<Id> = model.messages.keys().copied().collect();
    let at = |part: usize| ids.get(ids.len() * part / 4).copied().unwrap_or_default();
    let end = Id::new(u64::MAX, u64::MAX);
    // Wide and narrow ones, so that lists and the store are walked.
    let ranges = [
        None,
        Some((Id::default(), end)),
        Some((at(1), at(3))),
        Some((at(2), at(2))),
    ];
    let names = model.seen.keys().map(Vec::as_slice);
    let names: Vec<Option<&[u8]>> = names
        .map(Some)
        .chain([None, Some(&b"nobody"[..])])
        .collect();
    for between in ranges {
        let within = |id: &Id| between.is_none_or(|(low, high)| (low..=high).contains(id));
        let order = |mut all: Vec<Id>| {
            all.retain(within);
            if between.is_some() {
                all.sort_unstable();
            }
            all
        };
        for window in [(0, u64::MAX), (1, 2), (-3, 2)] {
            let part = |all: &[Id]| part(all, window.0, window.1);
            if let Some(between) = between {
                let found = queue.find_waiting(between, window).unwrap();
                let found: Vec<Id> = found.iter().map(|row| row.id).collect();
                assert_eq!(found, part(&order(model.waiting())));
            }
            let found = queue.find_scheduled(between, window).unwrap();
            let found: Vec<Id> = found.iter().map(|row| row.id).collect();
            assert_eq!(found, part(&order(model.scheduled())));
            for &consumer in &names {
                let filter = Filter {
                    idle: 0,
                    consumer,
                    between,
                };
                let found = queue.find_dead(&filter, window).unwrap();
                let found: Vec<Id> = found.iter().map(|row| row.id).collect();
                let of = |id: &Id| match &model.messages[id].place {
                    Place::Dead(death) => consumer.is_none_or(|name| death.consumer == name),
                    _ => false,
                };
                let mut expected = order(model.dead());
                expected.retain(of);
                assert_eq!(found, part(&expected));
                for idle in [0, 20] {
                    let filter = Filter { idle, ..filter };
                    let found = queue.find_pending(now, &filter, window).unwrap();
                    let found: Vec<Id> = found.iter().map(|row| row.id).collect();
                    let held =
                        consumer.map_or_else(|| model.delivered(), |name| model.held_by(name));
                    let mut expected = order(held);
                    expected
                        .retain(|id| model.messages[id].last_delivery + idle <= model.time(now));
                    assert_eq!(found, part(&expected));
                }
            }
        }
    }
}

fn part(all: &[Id], start: i64, count: u64) -> Vec<Id> {
    let from = match usize::try_from(start) {
        Ok(from) => from.min(all.len()),
        Err(_) => all.len().saturating_sub(start.unsigned_abs() as usize),
    };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    all[from..].iter().take(count).copied().collect()
}

/// Parts of lists, from both ends.
fn windows(queue: &Queue, model: &Model, now: u64) {
    let (waiting, delivered) = (model.waiting(), model.delivered());
    let part = |all: &[Id], start: i64| part(all, start, 2);
    for start in [-3, 1, waiting.len() as i64 / 2 + 1] {
        let found: Vec<Id> = queue.inspect_waiting(start, 2).map(|w| w.id).collect();
        assert_eq!(found, part(&waiting, start));
    }
    for start in [-3, 1, delivered.len() as i64 / 2 + 1] {
        let found: Vec<Id> = queue.inspect_pending(now, start, 2).map(|p| p.id).collect();
        assert_eq!(found, part(&delivered, start));
    }
    let ids: Vec<Id> = model.messages.keys().copied().collect();
    let middle = ids.get(ids.len() / 2).copied().unwrap_or_default();
    let end = Id::new(u64::MAX, u64::MAX);
    for (from, to) in [(Id::default(), end), (middle, end), (Id::default(), middle)] {
        let mut expected = ids.clone();
        expected.retain(|id| (from..=to).contains(id));
        let found: Vec<Id> = queue.range(from, to, false).map(|held| held.id).collect();
        assert_eq!(found, expected);
        expected.reverse();
        let found: Vec<Id> = queue.range(from, to, true).map(|held| held.id).collect();
        assert_eq!(found, expected);
    }
    split(queue, &ids);
}

/// Cuts into parts of nearly equal counts.
fn split(queue: &Queue, ids: &[Id]) {
    for parts in [1, 3, 1000] {
        let cuts = queue.split(parts);
        let mut bounds = vec![0];
        bounds.extend(cuts.iter().map(|id| ids.binary_search(id).unwrap()));
        bounds.push(ids.len());
        assert!(bounds.len() as u64 <= parts + 1 && bounds.is_sorted());
        if ids.len() as u64 >= parts {
            let sizes: Vec<usize> = bounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(
                sizes.len() as u64 == parts && most - least <= 1,
                "{sizes:?}"
            );
        }
    }
}

/// Every message in all that is known of it.
fn each(queue: &Queue, model: &Model) {
    for message in model.messages.values() {
        let held = queue.get(message.id).unwrap();
        let (state, deadline, consumer) = match &message.place {
            Place::Scheduled(_) => (State::Scheduled, 0, &[][..]),
            Place::Waiting(_) => (State::Waiting, 0, &[][..]),
            Place::Dead(death) => (State::Dead, 0, &death.consumer[..]),
            Place::Delivered(holding) => {
                (State::Delivered, holding.deadline, &holding.consumer[..])
            }
        };
        let (died, reason) = match &message.place {
            Place::Dead(death) => (death.died, &death.reason[..]),
            _ => (0, &[][..]),
        };
        let meta = rq_core::Meta {
            state,
            deliveries: message.deliveries,
            failures: message.failures,
            enqueued: message.id.milliseconds,
            last_delivery: message.last_delivery,
            deadline,
            consumer,
            died,
            reason,
            fields: Fields {
                priority: message.priority,
                expiry: message.expiry,
                retries: message.retries,
                token: message.token.as_deref(),
                headers: Headers::new(&message.headers),
            },
        };
        assert_eq!(held.meta, meta);
        assert_eq!(held.payload, message.payload);
    }
    for (token, (id, left)) in &model.tokens {
        assert_eq!(queue.by_token(token), left.is_none().then_some(*id));
    }
}

/// A queue may be looked at too early, never too late.
fn due(queue: &Queue, model: &Model, moment: &Moment<'_>) {
    let (found, expected) = (queue.next_due(moment), model.next_due());
    assert!(found.is_some() || expected.is_none());
    if expected.is_some_and(|due| due <= model.time(moment.now)) {
        assert!(queue.is_due(moment));
        assert!(found.is_some_and(|due| due <= moment.now));
    }
    if model.time(moment.now) == moment.now
        && let Some(expected) = expected
    {
        assert!(found.is_some_and(|found| found <= expected));
    }
}
