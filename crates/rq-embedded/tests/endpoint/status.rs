//! `RQ.STATUS`.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::client::{Client, Reply};
use crate::file::File;
use rq_core::Pop;

fn row(name: &str, numbers: [i64; 3]) -> Reply {
    let numbers = numbers.into_iter().map(Reply::Integer);
    Reply::Array(std::iter::once(Reply::bytes(name)).chain(numbers).collect())
}

fn rows(rows: &[(&str, [i64; 3])]) -> Reply {
    Reply::Array(
        rows.iter()
            .map(|&(name, numbers)| row(name, numbers))
            .collect(),
    )
}

/// Asks until the rows are these.
fn expect(client: &mut Client, expected: &[(&str, [i64; 3])]) {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let found = client.ask("RQ.STATUS");
        if found == rows(expected) {
            return;
        }
        assert!(
            Instant::now() < end,
            "not within 30 s: {expected:?}, but {found:?}"
        );
        std::thread::yield_now();
    }
}

#[test]
fn queues_that_hold_messages_are_shown() {
    let file = File::new();
    let mut client = file.connect();
    assert_eq!(client.ask("RQ.STATUS"), rows(&[]));
    for command in [
        "RQ.PUSH b 1 2 3",
        "RQ.PUSH a 1",
        "RQ.PUSH B 1",
        "RQ.POP 2 b",
    ] {
        client.ask(command);
    }
    let all = [("B", [1, 0, 0]), ("a", [1, 0, 0]), ("b", [3, 2, 0])];
    assert_eq!(client.ask("RQ.STATUS"), rows(&all));
    client.ask("HELLO 3");
    assert_eq!(client.ask("rq.status"), rows(&all));
    let named = [("none", [0, 0, 0]), ("b", [3, 2, 0]), ("none", [0, 0, 0])];
    assert_eq!(client.ask("RQ.STATUS none b none"), rows(&named));
}

#[test]
fn a_queue_that_only_remembers_a_producer_is_shown_when_named() {
    let file = File::new();
    let mut client = file.connect();
    let ids = client.ask("RQ.PUSHEX q PRODUCER p SEQ 1 ELEMENTS 1 a");
    client.ask("RQ.POP q");
    assert_eq!(client.ask("RQ.STATUS"), rows(&[("q", [1, 1, 0])]));
    client.ask(&format!("RQ.ACK q {}", ids.list()[0].text()));
    assert_eq!(client.ask("RQ.STATUS"), rows(&[]));
    assert_eq!(client.ask("RQ.STATUS q"), rows(&[("q", [0, 0, 0])]));
}

#[test]
fn clients_and_threads_that_wait_are_counted() {
    let file = File::new();
    let (mut client, mut one, mut two) = (file.connect(), file.connect(), file.connect());
    one.begin("RQ.POP BLOCK 0 q r q");
    two.begin("RQ.POP BLOCK 0 q");
    expect(&mut client, &[("q", [0, 0, 2]), ("r", [0, 0, 1])]);
    let (engine, never) = (file.owner().engine(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| engine.wait(b"r", &Pop::of(1), None, &never));
        expect(&mut client, &[("q", [0, 0, 2]), ("r", [0, 0, 2])]);
        client.ask("RQ.PUSH r a b");
        thread.join().unwrap().unwrap();
    });
    assert_eq!(one.reply().payloads(), ["a"]);
    expect(&mut client, &[("q", [0, 0, 1]), ("r", [2, 1, 0])]);
    drop(two);
    expect(&mut client, &[("r", [2, 1, 0])]);
}

#[test]
fn a_time_out_is_not_counted() {
    let file = File::new();
    let (mut client, mut waiting) = (file.connect(), file.connect());
    assert_eq!(waiting.ask("RQ.POP BLOCK 1 q"), Reply::NullArray);
    assert_eq!(client.ask("RQ.STATUS"), rows(&[]));
}

#[test]
fn those_who_are_registered_and_those_who_hold_are_counted_once() {
    let file = File::new();
    let (mut client, mut one, mut two) = (file.connect(), file.connect(), file.connect());
    client.ask("RQ.PUSH q a b c");
    one.ask("RQ.REGISTER q r");
    expect(&mut client, &[("q", [3, 0, 1]), ("r", [0, 0, 1])]);
    // Holds something under a name, and is registered: one.
    one.ask("RQ.POP CONSUMER one q");
    expect(&mut client, &[("q", [3, 1, 1]), ("r", [0, 0, 1])]);
    // Holds something, and is not registered; then it waits.
    two.ask("RQ.POP CONSUMER two q");
    expect(&mut client, &[("q", [3, 2, 2]), ("r", [0, 0, 1])]);
    client.ask("RQ.POP q");
    two.begin("RQ.POP BLOCK 0 CONSUMER two q");
    expect(&mut client, &[("q", [3, 3, 2]), ("r", [0, 0, 1])]);
    // A registered one that waits is one.
    one.begin("RQ.NOTIFY 0");
    expect(&mut client, &[("q", [3, 3, 2]), ("r", [0, 0, 1])]);
    drop(one);
    expect(&mut client, &[("q", [3, 3, 2])]);
    two.send(b"x");
    drop(two);
    expect(&mut client, &[("q", [3, 3, 2])]);
    client.ask("RQ.REGISTER");
    client.ask("RQ.CONSUMER DELETE q one");
    expect(&mut client, &[("q", [3, 2, 1])]);
}
