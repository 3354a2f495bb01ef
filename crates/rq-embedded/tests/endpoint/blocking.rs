//! Clients that wait.

use crate::client::{Client, Reply};
use crate::file::File;
use rq_core::Pop;

#[test]
fn a_time_out_is_a_null() {
    let file = File::new();
    let mut client = file.connect();
    assert_eq!(client.ask("RQ.POP BLOCK 1 q"), Reply::NullArray);
    client.ask("HELLO 3");
    assert_eq!(client.ask("RQ.POP BLOCK 1 KEYS 2 q other"), Reply::Null);
    assert_eq!(file.queues(), 0);
}

#[test]
fn time_outs_come_in_their_order() {
    let file = File::new();
    let (mut long, mut short) = (file.connect(), file.connect());
    long.begin("RQ.POP BLOCK 3600000 q");
    assert_eq!(short.ask("RQ.POP BLOCK 1 q"), Reply::NullArray);
    file.push("q", b"a");
    assert_eq!(long.reply().payloads(), ["a"]);
}

#[test]
fn what_is_there_is_not_waited_for() {
    let file = File::new();
    let mut client = file.connect();
    file.push("q", b"a");
    assert_eq!(client.ask("RQ.POP BLOCK 0 q").payloads(), ["a"]);
}

#[test]
fn a_push_of_another_client_wakes() {
    let file = File::new();
    let (mut waiting, mut other) = (file.connect(), file.connect());
    // Longer than any clock goes.
    waiting.begin("RQ.POP COUNT 2 BLOCK 9223372036854775807 WITHMETA q");
    let ids = other.ask("RQ.PUSH q a b c");
    let popped = waiting.reply();
    assert_eq!(popped.payloads(), ["a", "b"]);
    assert_eq!(popped.list()[0].list()[1], ids.list()[0]);
    assert_eq!(popped.list()[0].list().len(), 4);
    assert_eq!(other.ask("RQ.POP BLOCK 0 q").payloads(), ["c"]);
}

#[test]
fn a_push_of_the_own_process_wakes() {
    let file = File::new();
    let mut client = file.connect();
    for round in 0..100 {
        client.begin("RQ.POP BLOCK 0 q");
        file.push("q", format!("{round}").as_bytes());
        assert_eq!(client.reply().payloads(), [format!("{round}")]);
    }
}

#[test]
fn a_restored_queue_wakes() {
    let file = File::new();
    let (mut waiting, mut other) = (file.connect(), file.connect());
    file.push("q", b"a");
    let Reply::Bytes(dump) = other.ask("DUMP q") else {
        panic!("expected bytes");
    };
    waiting.begin("RQ.POP BLOCK 0 copy");
    other.request(&[b"RESTORE", b"copy", b"0", &dump]);
    assert_eq!(waiting.reply().payloads(), ["a"]);
}

#[test]
fn clients_are_served_in_the_order_of_their_arrival() {
    let file = File::new();
    let mut clients: Vec<Client> = (0..20).map(|_| file.connect()).collect();
    for client in clients.iter_mut().rev() {
        client.begin("RQ.POP BLOCK 0 q");
    }
    let mut pusher = file.connect();
    for number in 0..10 {
        pusher.ask(&format!("RQ.PUSH q {number}"));
    }
    pusher.ask("RQ.PUSH q 10 11 12 13 14 15 16 17 18 19");
    for (number, client) in clients.iter_mut().rev().enumerate() {
        assert_eq!(client.reply().payloads(), [number.to_string()]);
    }
}

#[test]
fn one_message_wakes_one_client() {
    let file = File::new();
    let (mut first, mut second) = (file.connect(), file.connect());
    first.begin("RQ.POP BLOCK 0 q");
    second.begin("RQ.POP BLOCK 0 q");
    file.push("q", b"a");
    assert_eq!(first.reply().payloads(), ["a"]);
    file.push("q", b"b");
    assert_eq!(second.reply().payloads(), ["b"]);
}

#[test]
fn a_client_waits_for_several_queues() {
    let file = File::new();
    let mut client = file.connect();
    for (name, other) in [("a", "b"), ("b", "a")] {
        client.begin("RQ.POP COUNT 5 BLOCK 0 KEYS 4 a b a b");
        file.push(name, b"x");
        let popped = client.reply();
        assert_eq!(popped.list().len(), 1);
        assert_eq!(popped.list()[0].list()[0], Reply::bytes(name));
        // It waits for neither any more.
        file.push(other, b"y");
        assert_eq!(client.ask(&format!("RQ.POP {other}")).payloads(), ["y"]);
    }
}

#[test]
fn a_client_that_is_gone_takes_nothing() {
    let file = File::new();
    let mut other = file.connect();
    for _ in 0..50 {
        let mut client = file.connect();
        client.begin("RQ.POP BLOCK 0 q");
        drop(client);
        file.push("q", b"a");
        let popped = other.ask("RQ.POP WITHMETA q");
        let meta = popped.list()[0].list()[3].list();
        assert_eq!(meta[2..4], [Reply::bytes("deliveries"), Reply::Integer(1)]);
    }
}

#[test]
fn a_client_that_goes_leaves_its_turn_to_the_next() {
    let file = File::new();
    let (mut first, mut second) = (file.connect(), file.connect());
    first.begin("RQ.POP BLOCK 0 q");
    second.begin("RQ.POP BLOCK 0 q");
    drop(first);
    file.push("q", b"a");
    assert_eq!(second.reply().payloads(), ["a"]);
}

#[test]
fn what_is_sent_behind_waits_too() {
    let file = File::new();
    let (mut client, mut other) = (file.connect(), file.connect());
    client.begin("RQ.POP BLOCK 0 q");
    client.send(b"RQ.LEN q\r\nRQ.POP BLOCK 0 q\r\nRQ.LEN q\r\n");
    other.ask("RQ.PUSH q a");
    assert_eq!(client.reply().payloads(), ["a"]);
    assert_eq!(client.reply(), Reply::Integer(1));
    other.ask("RQ.PUSH q b");
    assert_eq!(client.reply().payloads(), ["b"]);
    assert_eq!(client.reply(), Reply::Integer(2));
}

#[test]
fn a_thread_and_a_client_wait_beside_each_other() {
    let file = File::new();
    let mut client = file.connect();
    let engine = file.owner().engine();
    let never = std::sync::atomic::AtomicBool::new(false);
    for _ in 0..100 {
        client.begin("RQ.POP BLOCK 0 q");
        std::thread::scope(|scope| {
            // The thread only looks; what it sees the client has taken, or takes.
            let thread = scope.spawn(|| engine.wait(b"q", &Pop::of(1), None, &never));
            while engine.lock().unwrap().waiting(b"q") == 0 && !thread.is_finished() {
                file.push("q", b"a");
            }
            assert_eq!(client.reply().payloads(), ["a"]);
            file.push("q", b"b");
            thread.join().unwrap().unwrap();
        });
        let drained = client.ask("RQ.POP COUNT 1000000 q");
        assert!(!drained.list().is_empty());
    }
}
