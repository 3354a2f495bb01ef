//! `RQ.*`, `DUMP` and `RESTORE`.

use crate::client::{Client, Reply};
use crate::file::File;

fn push(client: &mut Client, name: &str, elements: &[&str]) -> Vec<String> {
    let reply = client.ask(&format!("RQ.PUSH {name} {}", elements.join(" ")));
    reply.list().iter().map(Reply::text).collect()
}

#[test]
fn the_life_of_a_message() {
    let file = File::new();
    let mut client = file.connect();
    let ids = push(&mut client, "q", &["a", "b", "c"]);
    assert_eq!(client.ask("RQ.LEN q"), Reply::Integer(3));
    let popped = client.ask("RQ.POP COUNT 2 KEYS 1 q");
    let row = |at: usize, payload: &str| {
        Reply::Array(vec![
            Reply::bytes("q"),
            Reply::bytes(&ids[at]),
            Reply::bytes(payload),
        ])
    };
    assert_eq!(popped, Reply::Array(vec![row(0, "a"), row(1, "b")]));
    assert_eq!(
        client.ask(&format!("RQ.ACK q {} {} 1-1", ids[0], ids[2])),
        Reply::Array(vec![Reply::bytes(&ids[0])])
    );
    assert_eq!(
        client.ask("RQ.RECOVER q 10 0"),
        Reply::Array(vec![row(1, "b")])
    );
    assert_eq!(client.ask("RQ.RECOVER q 10 100000"), Reply::Array(vec![]));
    assert_eq!(client.ask("RQ.POP q"), Reply::Array(vec![row(2, "c")]));
    assert_eq!(client.ask("RQ.POP q"), Reply::NullArray);
    client.ask(&format!("RQ.ACK q {} {}", ids[1], ids[2]));
    assert_eq!(client.ask("RQ.INFO q"), Reply::NullArray);
    assert_eq!(client.ask("RQ.LEN q"), Reply::Integer(0));
    assert_eq!(client.ask("RQ.ACK q 1-1"), Reply::Array(vec![]));
    assert_eq!(client.ask("RQ.RECOVER q 1 0"), Reply::Array(vec![]));
}

#[test]
fn several_queues_in_their_order() {
    let file = File::new();
    let mut client = file.connect();
    push(&mut client, "a", &["a1", "a2"]);
    push(&mut client, "b", &["b1", "b2"]);
    let popped = client.ask("RQ.POP COUNT 3 KEYS 3 none a b");
    assert_eq!(popped.payloads(), ["a1", "a2", "b1"]);
    assert_eq!(client.ask("RQ.POP 5 b b").payloads(), ["b2"]);
}

#[test]
fn what_is_known_of_a_message() {
    let file = File::new();
    let mut client = file.connect();
    let ids = push(&mut client, "q", &["a"]);
    let enqueued: i64 = ids[0].split('-').next().unwrap().parse().unwrap();
    let popped = client.ask("RQ.POP WITHMETA q");
    let meta = &popped.list()[0].list()[3];
    assert_eq!(meta.list().len(), 22);
    assert_eq!(
        meta.list()[..2],
        [Reply::bytes("state"), Reply::bytes("delivered")]
    );
    client.ask("HELLO 3");
    let recovered = client.ask("RQ.RECOVER q 1 0 WITHMETA");
    let Reply::Map(meta) = &recovered.list()[0].list()[3] else {
        panic!("expected a map");
    };
    assert_eq!(meta[1], (Reply::bytes("deliveries"), Reply::Integer(2)));
    assert!(meta.contains(&(Reply::bytes("enqueued"), Reply::Integer(enqueued))));
    let receipt = Reply::bytes(format!("{}@2", ids[0]));
    assert!(meta.contains(&(Reply::bytes("receipt"), receipt)));
    let Reply::Map(info) = client.ask("RQ.INFO q") else {
        panic!("expected a map");
    };
    assert!(info.contains(&(Reply::bytes("delivered"), Reply::Integer(1))));
    assert!(info.contains(&(Reply::bytes("last-id"), Reply::bytes(&ids[0]))));
}

#[test]
fn looking_changes_nothing() {
    let file = File::new();
    let mut client = file.connect();
    let ids = push(&mut client, "q", &["a", "b", "c", "d"]);
    client.ask("RQ.POP q");
    let payloads = |reply: &Reply| -> Vec<String> {
        reply
            .list()
            .iter()
            .map(|row| row.list()[1].text())
            .collect()
    };
    assert_eq!(payloads(&client.ask("RQ.INSPECT q 0 2")), ["b", "c"]);
    assert_eq!(payloads(&client.ask("RQ.INSPECT q -1 5")), ["d"]);
    let pending = client.ask("RQ.INSPECT q PENDING 0 5");
    assert_eq!(payloads(&pending), ["a"]);
    assert_eq!(pending.list()[0].list()[4], Reply::Integer(1));
    assert_eq!(
        payloads(&client.ask("RQ.RANGE q - +")),
        ["a", "b", "c", "d"]
    );
    assert_eq!(payloads(&client.ask("RQ.RANGE q - + REV COUNT 1")), ["d"]);
    let behind = client.ask(&format!("RQ.RANGE q ({} + WITHMETA", ids[1]));
    assert_eq!(payloads(&behind), ["c", "d"]);
    assert_eq!(
        behind.list()[0].list()[2].list()[1],
        Reply::bytes("waiting")
    );
    assert_eq!(
        client.ask("RQ.SPLIT q 2"),
        Reply::Array(vec![Reply::bytes(&ids[2])])
    );
    for command in [
        "RQ.INSPECT none 0 1",
        "RQ.RANGE none - +",
        "RQ.SPLIT none 2",
    ] {
        assert_eq!(client.ask(command), Reply::Array(vec![]));
    }
    assert_eq!(client.ask("RQ.POP 9 q").payloads(), ["b", "c", "d"]);
    assert_eq!(file.queues(), 1);
}

#[test]
fn what_a_producer_sends_again_is_stored_once() {
    let file = File::new();
    let mut client = file.connect();
    let first = client.ask("RQ.PUSHEX q PRODUCER p SEQ 1 ELEMENTS 2 a b");
    assert_eq!(
        client.ask("RQ.PUSHEX q PRODUCER p SEQ 1 ELEMENTS 2 a b"),
        first
    );
    client.ask("RQ.PUSHEX q PRODUCER p SEQ 3 ELEMENTS 1 c");
    let older = client.ask("RQ.PUSHEX q PRODUCER p SEQ 1 ELEMENTS 2 a b");
    assert_eq!(
        older,
        Reply::Array(vec![Reply::NullBytes, Reply::NullBytes])
    );
    let gap = client.ask("RQ.PUSHEX q PRODUCER p SEQ 9 ELEMENTS 1 d");
    assert!(gap.error().starts_with("GAP "), "{gap:?}");
    assert_eq!(client.ask("RQ.PUSHEX q ELEMENTS 1 d").list().len(), 1);
    assert_eq!(client.ask("RQ.LEN q"), Reply::Integer(4));
}

#[test]
fn what_is_wrong_is_said_and_changes_nothing() {
    let file = File::new();
    let mut client = file.connect();
    for command in [
        "RQ.PUSH q",
        "RQ.POP",
        "RQ.POP COUNT 0 q",
        "RQ.ACK q x",
        "RQ.RECOVER q 1",
        "RQ.INSPECT q 0",
        "RQ.RANGE q - x",
        "RQ.SPLIT q 0",
        "RQ.LEN",
        "RQ.INFO q q",
        "RQ.PUSHEX q ELEMENTS 2 a",
        "RQ.NACK q IDS 1 x",
        "RQ.EXTEND q -1 IDS 1 1-1",
        "RQ.CLAIM q c x IDS 1 1-1",
        "RQ.DELETE q",
        "RQ.REDRIVE q COUNT 0",
        "RQ.FLUSH q ALL",
        "RQ.PAUSE q WHAT",
        "RQ.SETUP q LEASE x",
        "RQ.CONSUMER LIST",
        "RQ.FORWARD q r IDS 1 1-1 ELEMENTS 2 a",
        "RQ.NOTIFY -1",
    ] {
        let reply = client.ask(command);
        assert!(reply.error().starts_with("ERR "), "{command}: {reply:?}");
    }
    for (command, error) in [
        (
            "RQ.PUSHEX q TTL 0 ELEMENTS 1 a",
            "ERR TTL is out of range, expected milliseconds, 1 or more, below 2^47",
        ),
        (
            "RQ.SETUP q DELIVERIES 65536",
            "ERR DELIVERIES is out of range, expected an integer from 0 to 65535",
        ),
        (
            "RQ.NACK q IDS 0",
            "ERR IDS is out of range, expected a positive integer below 2^63",
        ),
        (
            "RQ.REDRIVE q COUNT 1 TOKENS 1 t",
            "ERR COUNT and TOKENS are given together, expected one of them",
        ),
    ] {
        assert_eq!(client.ask(command).error(), error);
    }
    client.request(&[
        b"RQ.PUSHEX",
        b"q",
        b"PRODUCER",
        b"",
        b"SEQ",
        b"1",
        b"ELEMENTS",
        b"1",
        b"a",
    ]);
    let told = "ERR PRODUCER has 0 bytes, expected 1 to 1024";
    assert_eq!(client.reply().error(), told);
    assert_eq!(file.queues(), 0);
}

#[test]
fn a_queue_goes_by_dump_and_restore() {
    let mut file = File::new();
    let mut client = file.connect();
    push(&mut client, "q", &["a", "b", "c"]);
    client.ask("RQ.POP q");
    assert_eq!(client.ask("DUMP none"), Reply::NullBytes);
    let Reply::Bytes(dump) = client.ask("DUMP q") else {
        panic!("expected bytes");
    };
    let mut restore = |options: &[&[u8]]| {
        let mut words: Vec<&[u8]> = vec![b"RESTORE", b"copy", b"0", &dump];
        words.extend_from_slice(options);
        client.request(&words);
        client.reply()
    };
    let ok = Reply::Status("OK".to_owned());
    assert_eq!(restore(&[]), ok);
    assert_eq!(
        restore(&[]).error(),
        "BUSYKEY Target key name already exists."
    );
    assert_eq!(restore(&[b"replace", b"ABSTTL", b"IDLETIME", b"5"]), ok);
    assert!(restore(&[b"WHAT"]).error().starts_with("ERR syntax error"));
    let range = client.ask("RQ.RANGE q - + WITHMETA");
    assert_eq!(client.ask("RQ.RANGE copy - + WITHMETA"), range);
    assert_eq!(client.ask("DUMP copy"), Reply::Bytes(dump.clone()));
    client.request(&[b"RESTORE", b"other", b"5", &dump]);
    assert!(
        client
            .reply()
            .error()
            .starts_with("ERR ttl is out of range")
    );
    client.request(&[b"RESTORE", b"other", b"0", &dump[1..]]);
    assert!(client.reply().error().starts_with("ERR "));
    assert_eq!(client.ask("RQ.LEN other"), Reply::Integer(0));
    file.close();
    file.open();
    assert_eq!(file.connect().ask("RQ.RANGE copy - + WITHMETA"), range);
}

#[test]
fn names_and_bodies_are_any_bytes() {
    let file = File::new();
    let mut client = file.connect();
    let every: Vec<u8> = (0..=255).collect();
    client.request(&[b"RQ.PUSH", &every, &every, b""]);
    assert_eq!(client.reply().list().len(), 2);
    client.request(&[b"RQ.POP", b"COUNT", b"2", b"KEYS", b"1", &every]);
    let popped = client.reply();
    assert_eq!(popped.list()[0].list()[0], Reply::bytes(&every));
    assert_eq!(popped.list()[0].list()[2], Reply::bytes(&every));
    assert_eq!(popped.list()[1].list()[2], Reply::bytes(""));
}
