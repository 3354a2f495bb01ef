//! Requests on one queue: parse, call the core, reply.
//!
//! Whoever keeps queues opens the queue that a command names, has it executed here, and looks after what follows from its
//! effect: keeping it, telling others, waking those who wait. Pushes, pops and hand-overs are its own business, since
//! there payloads, waiting and several queues come in.

use std::ops::Range;

use rq_core::effect::Writer;
use rq_core::{
    Delivery, Filter, Id, IdText, Moment, Nack, Paused, Queue, Receipt, Recover, Settled, TakeOver,
};

use crate::commands::COMMANDS;
use crate::parse::{self, Arguments, ConsumerOf, Named, Redrive, Which, Within};
use crate::refusal::{Code, Refusal};
use crate::reply::{self, Sink};
use crate::table::{Access, Verb};

/// Room that is used again by each command.
#[derive(Debug, Default)]
pub struct Room {
    receipts: Vec<Receipt>,
    ids: Vec<Id>,
    settled: Vec<Settled>,
}

impl Room {
    /// Without anything in it.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            receipts: Vec::new(),
            ids: Vec::new(),
            settled: Vec::new(),
        }
    }

    /// Gives back what was needed for a large command.
    pub fn shrink(&mut self) {
        const KEPT: usize = 4096;
        self.receipts.shrink_to(KEPT);
        self.ids.shrink_to(KEPT);
        self.settled.shrink_to(KEPT);
    }
}

/// Whether [`execute`] does a command.
#[must_use]
pub fn executes(verb: Verb) -> bool {
    !matches!(
        verb,
        Verb::Push
            | Verb::PushExtended
            | Verb::Pop
            | Verb::Forward
            | Verb::Status
            | Verb::Register
            | Verb::Notify
            | Verb::Apply
    )
}

/// Whether a command may make the queue that it names.
#[must_use]
pub fn creates(verb: Verb) -> bool {
    matches!(verb, Verb::Setup | Verb::Pause)
}

/// Whether a command only looks, as its arguments say: then [`look`] does it, too.
#[must_use]
pub fn looks(verb: Verb, arguments: &(impl Arguments + ?Sized)) -> bool {
    match verb {
        Verb::Setup => arguments.len() <= 2,
        Verb::Consumer => arguments.get(1).eq_ignore_ascii_case(b"LIST"),
        verb => {
            let mut all = COMMANDS.iter();
            all.any(|command| command.verb == verb && command.access == Access::Read)
        }
    }
}

/// Where a command that [`execute`] does has its key.
#[must_use]
pub fn key_position(verb: Verb) -> usize {
    if verb == Verb::Consumer { 2 } else { 1 }
}

/// Executes a command on its queue, which holds nothing where there is none. The effect stays empty when nothing changed.
///
/// # Errors
/// Says what was expected; nothing was changed then.
pub fn execute(
    verb: Verb,
    arguments: &(impl Arguments + ?Sized),
    moment: &Moment<'_>,
    queue: &mut Queue,
    (room, effect): (&mut Room, &mut dyn Writer),
    sink: &mut impl Sink,
) -> Result<(), Refusal> {
    effect.clear();
    match verb {
        Verb::Acknowledge => acknowledge(arguments, moment, queue, (room, effect), sink),
        Verb::Nack => nack(arguments, moment, queue, (room, effect), sink),
        Verb::Extend => extend(arguments, moment, queue, (room, effect), sink),
        Verb::Claim => claim(arguments, moment, queue, (room, effect), sink),
        Verb::Recover => recover(arguments, moment, queue, effect, sink),
        Verb::Delete => delete(arguments, moment, queue, (room, effect), sink),
        Verb::Redrive => redrive(arguments, moment, queue, (room, effect), sink),
        Verb::Flush => {
            let dead = parse::flush(arguments)?;
            sink.integer(queue.flush(moment.now, dead, effect));
            Ok(())
        }
        Verb::Pause | Verb::Resume => {
            let sides = parse::sides(arguments, verb)?;
            let which = Paused {
                push: sides.push,
                pop: sides.pop,
            };
            queue.pause(which, verb == Verb::Pause, effect);
            sink.word("OK");
            Ok(())
        }
        Verb::Setup if !looks(verb, arguments) => setup(arguments, queue, effect, sink),
        Verb::Consumer if !looks(verb, arguments) => {
            consumer(arguments, moment, queue, effect, sink)
        }
        _ => look(verb, arguments, moment, queue, room, sink),
    }
}

/// Executes a command that only looks, as [`execute`] does.
///
/// # Errors
/// Says what was expected.
pub fn look(
    verb: Verb,
    arguments: &(impl Arguments + ?Sized),
    moment: &Moment<'_>,
    queue: &Queue,
    room: &mut Room,
    sink: &mut impl Sink,
) -> Result<(), Refusal> {
    match verb {
        Verb::Inspect => inspect(arguments, moment, queue, sink)?,
        Verb::Peek => {
            let peek = parse::peek(arguments)?;
            let row = queue.peek(peek.back);
            reply::held(sink, &mut IdText::default(), row.as_ref(), peek.with_meta);
        }
        Verb::Get => {
            let get = parse::get(arguments, &mut room.receipts)?;
            resolve(arguments, &get.named, queue, &mut room.receipts);
            let rows = room.receipts.iter().map(|&receipt| queue.get_by(receipt));
            reply::got(sink, rows, get.with_meta);
        }
        Verb::Range => {
            let range = parse::range(arguments)?;
            match range.bounds {
                Some((low, high)) => {
                    let messages = queue.range(low, high, range.reverse);
                    reply::range(sink, messages, range.count, range.with_meta);
                }
                None => sink.array(0),
            }
        }
        Verb::Split => reply::ids(sink, queue.split(parse::split(arguments)?).into_iter()),
        Verb::Length => {
            parse::only_key(arguments, Verb::Length)?;
            sink.integer(queue.len());
        }
        Verb::Info => {
            parse::only_key(arguments, Verb::Info)?;
            if queue.is_empty() {
                sink.null();
            } else {
                reply::info(sink, &queue.info(moment.now));
            }
        }
        Verb::Setup => {
            parse::setup(arguments)?;
            if queue.is_empty() {
                sink.null();
            } else {
                reply::policy(sink, queue.policy());
            }
        }
        Verb::Consumer => {
            parse::consumer(arguments)?;
            let rows: Vec<_> = queue.consumers(moment.now).collect();
            reply::consumers(sink, &rows);
        }
        _ => return Err(Refusal::new(Code::Argument, "not a command on one queue")),
    }
    Ok(())
}

/// Has `receipts` name the messages of tokens; one that is not known is an ID that no message has.
pub fn resolve(
    arguments: &(impl Arguments + ?Sized),
    named: &Named,
    queue: &Queue,
    receipts: &mut Vec<Receipt>,
) {
    if let Named::Tokens(positions) = named {
        let id = |position| queue.by_token(arguments.get(position)).unwrap_or_default();
        receipts.clear();
        receipts.extend(
            positions
                .clone()
                .map(|position| Receipt::from(id(position))),
        );
    }
}

/// The word at a position that may not be there.
pub fn text(arguments: &(impl Arguments + ?Sized), position: Option<usize>) -> &[u8] {
    position.map_or(&[], |position| arguments.get(position))
}

// ---- settling ----

/// Replies with what became of each message, or with the IDs of those that were settled.
fn reply_settled(sink: &mut impl Sink, room: &Room, status: bool) {
    if status {
        reply::settled(sink, &room.settled);
    } else {
        reply::ids(sink, room.ids.iter().copied());
    }
}

fn acknowledge(
    arguments: &(impl Arguments + ?Sized),
    moment: &Moment<'_>,
    queue: &mut Queue,
    (room, effect): (&mut Room, &mut dyn Writer),
    sink: &mut impl Sink,
) -> Result<(), Refusal> {
    let request = parse::acknowledge(arguments, &mut room.receipts)?;
    resolve(arguments, &request.named, queue, &mut room.receipts);
    let settled = &mut room.settled;
    settled.clear();
    let receipts = room.receipts.iter().copied();
    queue.acknowledge(moment.now, receipts, &mut room.ids, effect, |each| {
        if request.status {
            settled.push(each);
        }
    });
    reply_settled(sink, room, request.status);
    Ok(())
}

fn nack(
    arguments: &(impl Arguments + ?Sized),
    moment: &Moment<'_>,
    queue: &mut Queue,
    (room, effect): (&mut Room, &mut dyn Writer),
    sink: &mut impl Sink,
) -> Result<(), Refusal> {
    let request = parse::negative_acknowledge(arguments, &mut room.receipts)?;
    resolve(arguments, &request.named, queue, &mut room.receipts);
    let nack = Nack {
        delay: request.delay,
        dead: request.dead,
        reason: text(arguments, request.reason),
        silent: request.silent,
    };
    room.ids.clear();
    room.settled.clear();
    let receipts = room.receipts.iter().copied();
    queue.nack(moment, &nack, receipts, effect, |id, settled| {
        room.settled.push(settled);
        if settled == Settled::Done {
            room.ids.push(id);
        }
    });
    reply_settled(sink, room, request.status);
    Ok(())
}

fn extend(
    arguments: &(impl Arguments + ?Sized),
    moment: &Moment<'_>,
    queue: &mut Queue,
    (room, effect): (&mut Room, &mut dyn Writer),
    sink: &mut impl Sink,
) -> Result<(), Refusal> {
    let request = parse::extend(arguments, &mut room.receipts)?;
    resolve(arguments, &request.named, queue, &mut room.receipts);
    let settled = &mut room.settled;
    settled.clear();
    let receipts = room.receipts.iter().copied();
    let how = (request.milliseconds, request.start);
    queue.extend(moment.now, how, receipts, &mut room.ids, effect, |each| {
        settled.push(each)
    });
    reply_settled(sink, room, request.status);
    Ok(())
}

fn delete(
    arguments: &(impl Arguments + ?Sized),
    moment: &Moment<'_>,
    queue: &mut Queue,
    (room, effect): (&mut Room, &mut dyn Writer),
    sink: &mut impl Sink,
) -> Result<(), Refusal> {
    let named = parse::delete(arguments, &mut room.receipts)?;
    resolve(arguments, &named, queue, &mut room.receipts);
    let receipts = room.receipts.iter().copied();
    queue.delete(moment.now, receipts, &mut room.ids, effect);
    reply::ids(sink, room.ids.iter().copied());
    Ok(())
}

// ---- taking over ----

fn claim(
    arguments: &(impl Arguments + ?Sized),
    moment: &Moment<'_>,
    queue: &mut Queue,
    (room, effect): (&mut Room, &mut dyn Writer),
    sink: &mut impl Sink,
) -> Result<(), Refusal> {
    let request = parse::claim(arguments, &mut room.receipts)?;
    resolve(arguments, &request.named, queue, &mut room.receipts);
    let how = (
        arguments.get(request.consumer),
        request.min_idle,
        request.lease,
    );
    let taken = queue.claimable(moment, how, room.receipts.iter().copied());
    take_over(
        arguments,
        moment,
        queue,
        &taken,
        request.with_meta,
        effect,
        sink,
    );
    Ok(())
}

fn recover(
    arguments: &(impl Arguments + ?Sized),
    moment: &Moment<'_>,
    queue: &mut Queue,
    effect: &mut dyn Writer,
    sink: &mut impl Sink,
) -> Result<(), Refusal> {
    let request = parse::recover(arguments)?;
    let recover = Recover {
        count: request.count,
        elapsed: request.elapsed,
        lease: request.lease,
        consumer: text(arguments, request.consumer),
        from: request.from.map(|position| arguments.get(position)),
    };
    let taken = queue.recoverable(moment, &recover);
    take_over(
        arguments,
        moment,
        queue,
        &taken,
        request.with_meta,
        effect,
        sink,
    );
    Ok(())
}

fn take_over(
    arguments: &(impl Arguments + ?Sized),
    moment: &Moment<'_>,
    queue: &mut Queue,
    taken: &TakeOver<'_>,
    with_meta: bool,
    effect: &mut dyn Writer,
    sink: &mut impl Sink,
) {
    let (key, mut id_text) = (arguments.get(1), IdText::default());
    sink.array(taken.deliveries());
    queue.take_over(moment, taken, effect, |delivery: Delivery<'_>| {
        reply::delivery(sink, &mut id_text, key, &delivery, with_meta);
    });
}

// ---- managing ----

fn redrive(
    arguments: &(impl Arguments + ?Sized),
    moment: &Moment<'_>,
    queue: &mut Queue,
    (room, effect): (&mut Room, &mut dyn Writer),
    sink: &mut impl Sink,
) -> Result<(), Refusal> {
    let request = parse::redrive(arguments, &mut room.receipts)?;
    let (which, count) = match &request {
        Redrive::All => (None, u64::MAX),
        Redrive::Count(count) => (None, *count),
        Redrive::Named(named) => {
            resolve(arguments, named, queue, &mut room.receipts);
            (Some(&room.receipts[..]), 0)
        }
    };
    queue.redrive(moment.now, which, count, &mut room.ids, effect);
    reply::ids(sink, room.ids.iter().copied());
    Ok(())
}

fn setup(
    arguments: &(impl Arguments + ?Sized),
    queue: &mut Queue,
    effect: &mut dyn Writer,
    sink: &mut impl Sink,
) -> Result<(), Refusal> {
    let change = parse::setup(arguments)?;
    queue.setup(&change, effect);
    sink.word("OK");
    Ok(())
}

fn consumer(
    arguments: &(impl Arguments + ?Sized),
    moment: &Moment<'_>,
    queue: &mut Queue,
    effect: &mut dyn Writer,
    sink: &mut impl Sink,
) -> Result<(), Refusal> {
    if let ConsumerOf::Delete(name) = parse::consumer(arguments)? {
        sink.integer(queue.delete_consumer(moment.now, arguments.get(name), effect));
    }
    Ok(())
}

// ---- inspecting ----

fn inspect(
    arguments: &(impl Arguments + ?Sized),
    moment: &Moment<'_>,
    queue: &Queue,
    sink: &mut impl Sink,
) -> Result<(), Refusal> {
    let inspect = parse::inspect(arguments)?;
    let between = match inspect.within {
        Within::Everything => None,
        Within::Between(low, high) => Some((low, high)),
        Within::Nothing => {
            sink.array(0);
            return Ok(());
        }
    };
    let filter = Filter {
        idle: inspect.idle,
        consumer: inspect.consumer.map(|position| arguments.get(position)),
        between,
    };
    let (now, start, count) = (moment.now, inspect.start, inspect.count);
    let window = (start, count);
    match (inspect.which, between) {
        (Which::Waiting, None) => reply::waiting(sink, queue.inspect_waiting(start, count)),
        (Which::Waiting, Some(between)) => {
            let rows = queue.find_waiting(between, window)?;
            reply::waiting(sink, rows.into_iter());
        }
        (Which::Pending, _) if filter == Filter::default() => {
            reply::pending(sink, queue.inspect_pending(now, start, count));
        }
        (Which::Pending, _) => {
            let rows = queue.find_pending(now, &filter, window)?;
            reply::pending(sink, rows.into_iter());
        }
        (Which::Dead, _) => reply::dead(sink, &queue.find_dead(&filter, window)?),
        (Which::Scheduled, _) => {
            reply::scheduled(sink, &queue.find_scheduled(between, window)?);
        }
    }
    Ok(())
}

/// The words at some positions.
pub fn words(
    arguments: &(impl Arguments + ?Sized),
    positions: Range<usize>,
) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
    positions.map(|position| arguments.get(position))
}
