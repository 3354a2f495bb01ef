//! What a queue does by itself, and when clients hear of it.

use std::time::{Duration, Instant};

use crate::client::{Client, Reply};
use crate::file::File;

/// The receipts of popped rows.
fn receipts(popped: &Reply) -> Vec<String> {
    let meta = |row: &Reply| row.list()[3].list().to_vec();
    let receipt = |meta: Vec<Reply>| {
        let at = meta.iter().position(|it| *it == Reply::bytes("receipt"));
        meta[at.unwrap() + 1].text()
    };
    popped.list().iter().map(|row| receipt(meta(row))).collect()
}

fn length(client: &mut Client, state: &str) -> usize {
    let reply = client.ask(&format!("RQ.INSPECT q {state} 0 1000").replace("  ", " "));
    reply.list().len()
}

#[test]
fn a_lease_ends_on_time_and_wakes_a_client() {
    let file = File::new();
    let (mut client, mut waiting) = (file.connect(), file.connect());
    file.push("q", b"a");
    let begun = Instant::now();
    client.ask("RQ.POP LEASE 100 q");
    waiting.begin("RQ.POP BLOCK 0 WITHMETA q");
    let popped = waiting.reply();
    let passed = begun.elapsed();
    assert!(passed >= Duration::from_millis(99), "{passed:?}");
    assert!(passed < Duration::from_secs(5), "{passed:?}");
    assert!(receipts(&popped)[0].ends_with("@2"));
}

#[test]
fn a_scheduled_message_falls_due_and_wakes_a_client() {
    let file = File::new();
    let (mut client, mut waiting) = (file.connect(), file.connect());
    waiting.begin("RQ.POP BLOCK 0 q");
    let begun = Instant::now();
    client.ask("RQ.PUSHEX q DELAY 100 ELEMENTS 2 a b");
    assert_eq!(waiting.reply().payloads(), ["a"]);
    assert!(begun.elapsed() >= Duration::from_millis(99));
    assert_eq!(client.ask("RQ.POP BLOCK 0 q").payloads(), ["b"]);
}

#[test]
fn a_time_at_which_is_by_the_wall_clock() {
    let (file, clock) = File::timed();
    let mut client = file.connect();
    let at = clock.now() + 5000;
    client.ask(&format!("RQ.PUSHEX q AT {at} ELEMENTS 1 a"));
    client.ask("RQ.PUSHEX q AT 5 ELEMENTS 1 b");
    assert_eq!(client.ask("RQ.POP COUNT 2 q").payloads(), ["b"]);
    clock.advance(5000).unwrap();
    assert_eq!(client.ask("RQ.POP COUNT 2 q").payloads(), ["a"]);
}

#[test]
fn a_day_of_retries_passes_at_once() {
    let (file, clock) = File::timed();
    let mut client = file.connect();
    let hour = 3_600_000;
    client.ask(&format!(
        "RQ.SETUP q LEASE {hour} DELIVERIES 3 BACKOFF {hour} 2 0"
    ));
    client.ask("RQ.PUSH q a");
    // The lease, and the back-off that begins at its end, are over two hours later.
    for (delivery, hours) in [(1, 2), (2, 3)] {
        let popped = client.ask("RQ.POP WITHMETA q");
        assert!(receipts(&popped)[0].ends_with(&format!("@{delivery}")));
        clock.advance(hours * hour - 1).unwrap();
        assert_eq!(client.ask("RQ.POP q"), Reply::NullArray);
        clock.advance(1).unwrap();
    }
    client.ask("RQ.POP q");
    clock.advance(24 * hour).unwrap();
    assert_eq!(length(&mut client, "DEAD"), 1);
    assert_eq!(client.ask("RQ.REDRIVE q").list().len(), 1);
    assert_eq!(client.ask("RQ.POP q").payloads(), ["a"]);
}

#[test]
fn leases_and_schedules_go_on_over_a_restart() {
    let (mut file, clock) = File::timed();
    let mut client = file.connect();
    client.ask("RQ.PUSH q a");
    client.ask("RQ.POP LEASE 5000 q");
    client.ask("RQ.PUSHEX q DELAY 7000 ELEMENTS 1 b");
    file.close();
    clock.advance(4000).unwrap();
    file.open();
    let mut client = file.connect();
    assert_eq!(client.ask("RQ.POP q"), Reply::NullArray);
    clock.advance(1000).unwrap();
    assert_eq!(client.ask("RQ.POP q").payloads(), ["a"]);
    file.close();
    clock.advance(10_000).unwrap();
    file.open();
    assert_eq!(file.connect().ask("RQ.POP COUNT 5 q").payloads(), ["b"]);
}

#[test]
fn what_is_given_back_wakes() {
    let file = File::new();
    let (mut client, mut waiting) = (file.connect(), file.connect());
    let commands = [
        "RQ.NACK q IDS 1 ID",
        "RQ.NACK q DELAY 20 IDS 1 ID",
        "RQ.EXTEND q 20 IDS 1 ID",
        "RQ.CONSUMER DELETE q c",
    ];
    for command in commands {
        client.ask("RQ.PUSH q a");
        let receipt = receipts(&client.ask("RQ.POP CONSUMER c WITHMETA q")).remove(0);
        waiting.begin("RQ.POP BLOCK 0 WITHMETA q");
        client.ask(
            &command
                .replace("ID", "@")
                .replace("@S", "IDS")
                .replace('@', &receipt),
        );
        let popped = waiting.reply();
        assert_eq!(popped.payloads(), ["a"], "{command}");
        client.ask(&format!("RQ.ACK q {}", receipts(&popped)[0]));
    }
}

#[test]
fn a_redrive_and_a_resumed_queue_wake() {
    let file = File::new();
    let (mut client, mut waiting) = (file.connect(), file.connect());
    client.ask("RQ.PUSH q a");
    let receipt = receipts(&client.ask("RQ.POP WITHMETA q")).remove(0);
    client.ask(&format!("RQ.NACK q DEAD IDS 1 {receipt}"));
    waiting.begin("RQ.POP BLOCK 0 q");
    client.ask("RQ.REDRIVE q");
    assert_eq!(waiting.reply().payloads(), ["a"]);
    client.ask("RQ.PAUSE q");
    waiting.begin("RQ.POP BLOCK 0 q");
    client.ask("RQ.PUSH q b");
    assert_eq!(client.ask("RQ.POP q"), Reply::NullArray);
    client.ask("RQ.RESUME q");
    assert_eq!(waiting.reply().payloads(), ["b"]);
}

#[test]
fn a_consumer_at_its_limit_waits_and_others_do_not() {
    let file = File::new();
    let (mut client, mut one, mut two) = (file.connect(), file.connect(), file.connect());
    client.ask("RQ.SETUP q INFLIGHT 1");
    client.ask("RQ.PUSH q a");
    let receipt = receipts(&one.ask("RQ.POP CONSUMER one WITHMETA q")).remove(0);
    one.begin("RQ.POP BLOCK 0 CONSUMER one q");
    two.begin("RQ.POP BLOCK 0 CONSUMER two q");
    client.ask("RQ.PUSH q b");
    assert_eq!(two.reply().payloads(), ["b"]);
    client.ask("RQ.PUSH q c");
    client.ask(&format!("RQ.ACK q {receipt}"));
    assert_eq!(one.reply().payloads(), ["c"]);
}

#[test]
fn notify_tells_the_first_queue_that_is_ready() {
    let file = File::new();
    let (mut client, mut other) = (file.connect(), file.connect());
    assert_eq!(client.ask("RQ.NOTIFY 0"), Reply::NullBytes);
    let ok = Reply::Status("OK".to_owned());
    assert_eq!(client.ask("RQ.REGISTER a b a"), ok);
    assert_eq!(client.ask("RQ.NOTIFY 1"), Reply::NullBytes);
    client.begin("RQ.NOTIFY 0");
    other.ask("RQ.PUSH c x");
    other.ask("RQ.PUSH b x");
    assert_eq!(client.reply(), Reply::bytes("b"));
    // Nothing was taken.
    assert_eq!(client.ask("RQ.NOTIFY 0"), Reply::bytes("b"));
    other.ask("RQ.PUSH a x");
    assert_eq!(client.ask("RQ.NOTIFY 0"), Reply::bytes("a"));
    assert_eq!(client.ask("RQ.REGISTER c"), ok);
    assert_eq!(client.ask("RQ.NOTIFY 0"), Reply::bytes("c"));
    other.ask("RQ.POP c");
    client.begin("RQ.NOTIFY 0");
    other.ask("RQ.PUSHEX c DELAY 30 ELEMENTS 1 y");
    assert_eq!(client.reply(), Reply::bytes("c"));
}

#[test]
fn many_are_told_of_one_message_and_one_takes_it() {
    let file = File::new();
    let (mut one, mut two, mut taker) = (file.connect(), file.connect(), file.connect());
    one.ask("RQ.REGISTER q");
    two.ask("RQ.REGISTER q");
    one.begin("RQ.NOTIFY 0");
    two.begin("RQ.NOTIFY 0");
    taker.begin("RQ.POP BLOCK 0 q");
    file.push("q", b"a");
    assert_eq!(one.reply(), Reply::bytes("q"));
    assert_eq!(two.reply(), Reply::bytes("q"));
    assert_eq!(taker.reply().payloads(), ["a"]);
}

#[test]
fn a_hand_over_is_refused_whole() {
    let file = File::new();
    let mut client = file.connect();
    client.ask("RQ.PUSH q a b");
    let held = receipts(&client.ask("RQ.POP WITHMETA q")).remove(0);
    let waiting = client.ask("RQ.INSPECT q 0 1").list()[0].list()[0].text();
    let both = format!("RQ.FORWARD q r IDS 2 {held} {waiting} ELEMENTS 1 x");
    assert!(client.ask(&both).error().starts_with("NOTHELD "));
    client.ask("RQ.SETUP r MAXLEN 1");
    let two = format!("RQ.FORWARD q r IDS 1 {held} ELEMENTS 2 x y");
    assert!(client.ask(&two).error().starts_with("CAPPED "));
    let none = format!("RQ.FORWARD none r IDS 1 {held} ELEMENTS 1 x");
    assert!(client.ask(&none).error().starts_with("NOTHELD "));
    assert_eq!(client.ask("RQ.LEN q"), Reply::Integer(2));
    assert_eq!(client.ask("RQ.LEN r"), Reply::Integer(0));
    // Into the queue itself.
    let own = client.ask(&format!("RQ.FORWARD q q IDS 1 {held} ELEMENTS 1 x"));
    assert_eq!(own.list().len(), 1);
    assert_eq!(client.ask("RQ.POP 5 q").payloads(), ["b", "x"]);
}

#[test]
fn a_hand_over_is_one_record() {
    let file = File::new();
    let mut client = file.connect();
    client.ask("RQ.PUSH q a");
    let held = receipts(&client.ask("RQ.POP WITHMETA q")).remove(0);
    let log = file.path().join("log-0000000000000001");
    let before = std::fs::metadata(&log).unwrap().len();
    client.ask(&format!("RQ.FORWARD q r IDS 1 {held} ELEMENTS 1 x"));
    let bytes = std::fs::read(&log).unwrap();
    // Whatever of it reached the disk when the owner was killed.
    for end in before..=bytes.len() as u64 {
        let crashed = file.copy();
        let log = crashed.path().join("log-0000000000000001");
        let copy = std::fs::OpenOptions::new().write(true).open(log).unwrap();
        copy.set_len(end).unwrap();
        let mut crashed = crashed;
        crashed.open();
        let mut client = crashed.connect();
        let lengths = (client.ask("RQ.LEN q"), client.ask("RQ.LEN r"));
        let (q, r) = if end < bytes.len() as u64 {
            (1, 0)
        } else {
            (0, 1)
        };
        assert_eq!(lengths, (Reply::Integer(q), Reply::Integer(r)), "{end}");
    }
}
