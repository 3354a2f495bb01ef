//! A queue that goes through a dump is the same queue, whoever wrote the dump.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use proptest::prelude::*;
use rq_core::Moment;
use support::{checked, compressed, parts, plain, queue, sealed, unchecked, value};

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(
        count in 0u64..300,
        size in prop_oneof![0usize..100, 500usize..520, 4_000usize..6_000],
    ) {
        let queue = queue(count, size);
        let dump = rq_dump::write(&queue);
        let again = rq_dump::read(&dump).unwrap();
        again.check().unwrap();
        prop_assert_eq!(parts(&again), parts(&queue));
        prop_assert_eq!(rq_dump::write(&again), dump);
    }

    #[test]
    fn what_any_server_writes_is_read(
        count in 1u64..100,
        size in prop_oneof![0usize..20, 90usize..100, 5_000usize..5_002],
        version in 10u16..=80,
        compresses: bool,
        checks: bool,
    ) {
        let queue = queue(count, size);
        let form = if compresses { compressed } else { plain };
        let strings: Vec<_> = parts(&queue).iter().map(|part| form(part)).collect();
        let seal = if checks { checked } else { unchecked };
        let dump = seal([&value(&strings)[..], &version.to_le_bytes()].concat());
        let read = rq_dump::read(&dump).unwrap();
        read.check().unwrap();
        prop_assert_eq!(parts(&read), parts(&queue));
    }
}

#[test]
fn every_form_of_length_is_written_shortest() {
    // The largest message decides the form: 6, 14, 32 bits.
    for (size, form) in [(10, 0), (1_000, 1), (100_000, 2)] {
        let mut queue = rq_core::Queue::default();
        let payload = vec![b'x'; size];
        let elements = [&payload[..]].into_iter();
        queue
            .push(
                &Moment::at(1, Default::default()),
                None,
                elements,
                &mut Vec::new(),
            )
            .unwrap();
        let parts = parts(&queue);
        let dump = rq_dump::write(&queue);
        // Header, the mark and length of the head, the head, the mark of the messages.
        let at = support::HEADER.len() + 2 + parts[0].len() + 1;
        assert_eq!(dump[at] >> 6, form);
        let strings: Vec<_> = parts.iter().map(|part| plain(part)).collect();
        let read = rq_dump::read(&sealed(&value(&strings), 10)).unwrap();
        assert_eq!(rq_dump::write(&read), dump);
    }
}
