//! Requests of any shape and size.

use std::net::Shutdown;

use crate::client::{Reply, request};
use crate::file::File;

#[test]
fn requests_come_in_any_pieces() {
    let file = File::new();
    let mut client = file.connect();
    for byte in request(&[b"RQ.PUSH", b"q", b"a\r\nb"]) {
        client.send(&[byte]);
    }
    assert_eq!(client.reply().list().len(), 1);
    client.send(b"RQ.POP q\r\n");
    assert_eq!(client.reply().payloads(), ["a\r\nb"]);
}

#[test]
fn many_requests_at_once_are_answered_in_order() {
    let file = File::new();
    let mut client = file.connect();
    let all: Vec<u8> = (0..10_000)
        .flat_map(|number| request(&[b"PING", format!("{number}").as_bytes()]))
        .collect();
    client.send(&all);
    for number in 0..10_000 {
        assert_eq!(client.reply(), Reply::bytes(format!("{number}")));
    }
}

#[test]
fn what_is_no_request_is_told_and_ends_the_connection() {
    let file = File::new();
    let cases: [(&[u8], &str); 5] = [
        (b"*1\r\n:1\r\n", "expected '$', got ':'"),
        (b"*99999999\r\n", "invalid multibulk length"),
        (b"*1\r\n$999999999\r\n", "invalid bulk length"),
        (b"PING \"a\r\nPING\r\n", "unbalanced quotes in request"),
        (&[b'a'; 70_000], "too big inline request"),
    ];
    for (bytes, expected) in cases {
        let mut client = file.connect();
        client.send(b"PING\r\n");
        assert_eq!(client.reply(), Reply::Status("PONG".to_owned()));
        client.send(bytes);
        assert_eq!(
            client.reply().error(),
            format!("ERR Protocol error: {expected}")
        );
        assert!(client.is_closed());
    }
    assert_eq!(file.connect().ask("PING"), Reply::Status("PONG".to_owned()));
}

#[test]
fn the_last_requests_of_a_client_are_answered() {
    let file = File::new();
    let mut client = file.connect();
    client.send(b"RQ.PUSH q a\r\nPING\r\nPI");
    client.stream().shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.reply().list().len(), 1);
    assert_eq!(client.reply(), Reply::Status("PONG".to_owned()));
    assert!(client.is_closed());
}

#[test]
fn large_bodies_go_through() {
    let file = File::new();
    let mut client = file.connect();
    let body: Vec<u8> = (0..10_000_000_u32).map(|at| (at % 251) as u8).collect();
    client.request(&[b"RQ.PUSH", b"q", &body, b"small"]);
    assert_eq!(client.reply().list().len(), 2);
    let popped = client.ask("RQ.POP 2 q");
    assert_eq!(popped.list()[0].list()[2], Reply::bytes(&body));
    assert_eq!(popped.list()[1].list()[2], Reply::bytes("small"));
}

#[test]
fn who_does_not_read_is_not_read_from() {
    let file = File::new();
    let (mut slow, mut other) = (file.connect(), file.connect());
    let body = vec![b'x'; 10_000_000];
    other.request(&[b"RQ.PUSH", b"q", &body]);
    other.reply();
    slow.send(b"RQ.RANGE q - +\r\nRQ.LEN q\r\nRQ.RANGE q - + COUNT 1\r\n");
    // The first one is being answered, the second not looked at yet: others go on meanwhile.
    assert_eq!(slow.line(), "*1");
    assert_eq!(other.ask("RQ.PUSH q y").list().len(), 1);
    assert_eq!(slow.reply().list()[1], Reply::bytes(&body));
    assert_eq!(slow.reply(), Reply::Integer(2));
    assert_eq!(slow.reply().list().len(), 1);
}

#[test]
fn who_goes_while_it_is_answered_disturbs_nobody() {
    let file = File::new();
    let mut other = file.connect();
    other.request(&[b"RQ.PUSH", b"q", &vec![b'x'; 3_000_000]]);
    other.reply();
    for _ in 0..10 {
        let mut client = file.connect();
        client.send(b"RQ.RANGE q - +\r\nRQ.RANGE q - +\r\n");
        assert_eq!(client.line(), "*1");
        drop(client);
        assert_eq!(other.ask("PING"), Reply::Status("PONG".to_owned()));
    }
}
