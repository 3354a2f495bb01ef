//! When a reply is sent.

use std::sync::Barrier;

use crate::client::Reply;
use crate::file::File;

/// The last change that was stored, and the last that is durable.
fn numbers(file: &File) -> (u64, u64) {
    let mut state = file.owner().engine().lock().unwrap();
    (state.stored(), state.settled().unwrap())
}

#[test]
fn always_is_durable_before_the_answer() {
    let file = File::new();
    let (mut client, mut other) = (file.connect(), file.connect());
    other.ask("RQ.PUSH q a");
    let (stored, settled) = numbers(&file);
    assert!(settled < stored, "the others do not sync");
    client.ask("CLIENT SETINFO SYNC always");
    let Reply::Bytes(dump) = client.ask("DUMP q") else {
        panic!("expected bytes");
    };
    let commands: [Vec<&[u8]>; 4] = [
        vec![b"RQ.PUSH", b"q", b"b"],
        vec![
            b"RQ.PUSHEX",
            b"q",
            b"PRODUCER",
            b"p",
            b"SEQ",
            b"1",
            b"ELEMENTS",
            b"1",
            b"c",
        ],
        vec![b"RESTORE", b"copy", b"0", &dump],
        vec![b"RQ.ACK", b"q", b"1-1"],
    ];
    for command in commands {
        other.ask("RQ.PUSH q x");
        let before = numbers(&file).0;
        client.request(&command);
        assert!(!matches!(client.reply(), Reply::Error(_)));
        // Also what an acknowledgement of nothing found done already.
        let stores = u64::from(command[0] != b"RQ.ACK");
        assert!(
            numbers(&file).1 >= before + stores,
            "{}",
            command[0].escape_ascii()
        );
    }
    // A pop is not synced by itself.
    let before = numbers(&file);
    client.ask("RQ.POP q");
    let after = numbers(&file);
    assert!(after.0 > before.0 && after.1 == before.1);
}

#[test]
fn who_looks_stores_nothing_and_waits_for_nothing() {
    let file = File::new();
    let (mut client, mut other) = (file.connect(), file.connect());
    client.ask("CLIENT SETINFO SYNC always");
    client.ask("RQ.SETUP q LEASE 60000");
    other.ask("RQ.PUSH q a");
    other.ask("RQ.POP CONSUMER ann KEYS 1 q");
    let before = numbers(&file);
    assert!(before.1 < before.0);
    assert_eq!(client.ask("RQ.SETUP q").list()[1], Reply::Integer(60_000));
    assert_eq!(client.ask("RQ.SETUP none"), Reply::NullArray);
    let consumers = client.ask("RQ.CONSUMER LIST q");
    assert_eq!(consumers.list()[0].list()[0], Reply::bytes("ann"));
    assert_eq!(client.ask("RQ.CONSUMER LIST none"), Reply::Array(vec![]));
    assert_eq!(numbers(&file), before);
    client.ask("RQ.CONSUMER DELETE q ann");
    assert!(numbers(&file).1 > before.0);
}

#[test]
fn a_client_can_turn_back() {
    let file = File::new();
    let mut client = file.connect();
    client.ask("CLIENT SETINFO SYNC always");
    client.ask("RQ.PUSH q a");
    client.ask("CLIENT SETINFO SYNC os");
    let before = numbers(&file);
    client.ask("RQ.PUSH q b");
    let after = numbers(&file);
    assert!(after.0 > before.0 && after.1 == before.1);
}

#[test]
fn many_clients_share_syncs() {
    const CLIENTS: usize = 8;
    const PUSHES: usize = 20;
    let file = File::new();
    let barrier = Barrier::new(CLIENTS);
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = file.connect();
                client.ask("CLIENT SETINFO SYNC always");
                barrier.wait();
                for _ in 0..PUSHES {
                    let before = numbers(&file).0;
                    assert_eq!(client.ask("RQ.PUSH q a").list().len(), 1);
                    assert!(numbers(&file).1 > before, "answered before it was durable");
                }
            });
        }
    });
    assert_eq!(
        file.connect().ask("RQ.LEN q"),
        Reply::Integer((CLIENTS * PUSHES) as i64)
    );
}

#[test]
fn replies_keep_their_order_around_a_sync() {
    let file = File::new();
    let mut client = file.connect();
    client.send(
        b"CLIENT SETINFO SYNC always\r\nPING a\r\nRQ.PUSH q a\r\nPING b\r\nRQ.PUSH q b\r\nRQ.LEN q\r\n",
    );
    assert_eq!(client.reply(), Reply::Status("OK".to_owned()));
    assert_eq!(client.reply(), Reply::bytes("a"));
    assert_eq!(client.reply().list().len(), 1);
    assert_eq!(client.reply(), Reply::bytes("b"));
    assert_eq!(client.reply().list().len(), 1);
    assert_eq!(client.reply(), Reply::Integer(2));
}
