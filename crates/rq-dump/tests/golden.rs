//! What a server dumped, for ever: the queue is described in tests/module/test_versions.py.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use rq_core::{Id, Queue};
use support::GOLDEN;

const MADE: u64 = 1_900_000_000_000;

fn check(queue: &Queue) {
    queue.check().unwrap();
    let waiting: Vec<_> = queue
        .inspect_waiting(0, u64::MAX)
        .map(|message| (message.id, message.payload.to_vec()))
        .collect();
    let long = b"long".repeat(2000);
    let expected = [(1, &b"five"[..]), (2, &long[..]), (3, b"seven")];
    assert_eq!(
        waiting,
        expected.map(|(sequence, payload)| (Id::new(MADE + 7, sequence), payload.to_vec()))
    );
    let pending: Vec<_> = queue
        .inspect_pending(MADE, 0, u64::MAX)
        .map(|message| {
            let sequence = message.id.sequence;
            assert_eq!(message.id.milliseconds, MADE);
            (
                sequence,
                message.payload.to_vec(),
                message.last_delivery - MADE,
                message.deliveries,
            )
        })
        .collect();
    let bytes: Vec<u8> = (0..=255).collect();
    assert_eq!(
        pending,
        [
            (3, vec![], 20, 1),
            (4, bytes, 20, 1),
            (1, b"one".to_vec(), 33, 2)
        ]
    );
    let counters = queue.counters();
    assert_eq!(
        (counters.sent, counters.received, counters.returned),
        (7, 6, 2)
    );
    assert_eq!((counters.dead, counters.deleted), (0, 1));
}

#[test]
fn a_server_s_dump_is_read_and_written() {
    let queue = rq_dump::read(GOLDEN).unwrap();
    check(&queue);
    let written = rq_dump::write(&queue);
    check(&rq_dump::read(&written).unwrap());
    // But for the compression, these are the server's bytes: type and head, end and version.
    assert_eq!(written[..GOLDEN_HEAD], GOLDEN[..GOLDEN_HEAD]);
    let end = |bytes: &[u8]| bytes[bytes.len() - 14..bytes.len() - 8].to_vec();
    assert_eq!(end(&written), end(GOLDEN));
}

/// Bytes before the first compressed string.
const GOLDEN_HEAD: usize = 0x24;
