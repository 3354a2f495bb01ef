//! Which calls only look, and that these change nothing.
#![allow(clippy::unwrap_used)]

use rq_command::execute::{Room, execute, look, looks};
use rq_command::reply::Nowhere;
use rq_command::{Access, COMMANDS, Verb};
use rq_core::effect::Writer;
use rq_core::{Change, Id, Moment, Pop, Queue};

fn words(text: &str) -> Vec<&[u8]> {
    text.split(' ').map(str::as_bytes).collect()
}

fn is_look(verb: Verb, text: &str) -> bool {
    looks(verb, words(text).as_slice())
}

#[test]
fn arguments_say_where_the_command_does_not() {
    assert!(is_look(Verb::Setup, "RQ.SETUP q"));
    assert!(is_look(Verb::Setup, "RQ.SETUP"));
    assert!(!is_look(Verb::Setup, "RQ.SETUP q LEASE 5"));
    assert!(is_look(Verb::Consumer, "RQ.CONSUMER list q"));
    assert!(!is_look(Verb::Consumer, "RQ.CONSUMER DELETE q c"));
    assert!(!is_look(Verb::Consumer, "RQ.CONSUMER"));
    for command in COMMANDS.iter().filter(|each| each.access != Access::Either) {
        let reads = command.access == Access::Read;
        assert_eq!(is_look(command.verb, "x q"), reads, "{}", command.name);
    }
}

/// A queue with settings, a consumer, and a lease that ended.
fn queue() -> Queue {
    let (mut queue, mut effect) = (Queue::new(Id::default()), Vec::new());
    let change = Change {
        lease: Some(1),
        ..Change::default()
    };
    queue.setup(&change, &mut effect);
    let moment = Moment::at(1000, Id::default());
    (queue.push(&moment, None, [&b"a"[..]].into_iter(), &mut effect)).unwrap();
    let pop = Pop {
        consumer: b"ann",
        ..Pop::of(1)
    };
    queue.pop(&moment, &pop, &mut effect, |_| ());
    queue
}

#[test]
fn who_looks_changes_nothing() {
    let (mut queue, moment) = (queue(), Moment::at(5000, Id::default()));
    let (mut room, mut effect) = (Room::new(), b"old".to_vec());
    for (verb, text, refused) in [
        (Verb::Setup, "RQ.SETUP q", false),
        (Verb::Setup, "RQ.SETUP", true),
        (Verb::Consumer, "RQ.CONSUMER LIST q", false),
        (Verb::Consumer, "RQ.CONSUMER LIST q c", true),
    ] {
        let words = words(text);
        let looked = look(
            verb,
            words.as_slice(),
            &moment,
            &queue,
            &mut room,
            &mut Nowhere,
        );
        assert_eq!(looked.is_err(), refused, "{text}");
        let rooms = (&mut room, &mut effect as &mut dyn Writer);
        let executed = execute(
            verb,
            words.as_slice(),
            &moment,
            &mut queue,
            rooms,
            &mut Nowhere,
        );
        assert_eq!(executed, looked, "{text}");
        assert!(effect.is_empty(), "{text}");
    }
    assert_eq!(queue.counters().returned_lease, 0);
}
