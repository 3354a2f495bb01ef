//! Damaged or foreign bytes are refused, or make a queue in which everything adds up; they never
//! make the reader fail, nor take memory beyond what they can hold.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use proptest::prelude::*;
use rq_dump::Refusal;
use support::{
    FOOTER, GOLDEN, HEADER, checked, compressed, parts, queue, sealed, unchecked, value,
};

/// Small dumps of all kinds: plain, compressed by us, compressed by a server.
fn dumps() -> [Vec<u8>; 3] {
    let queue = queue(6, 30);
    let strings: Vec<_> = parts(&queue).iter().map(|part| compressed(part)).collect();
    [
        rq_dump::write(&queue),
        sealed(&value(&strings), 80),
        GOLDEN.to_vec(),
    ]
}

/// Checks what became of damaged bytes; whether they were read.
fn whole_or_refused(bytes: &[u8]) -> bool {
    let Ok(queue) = rq_dump::read(bytes) else {
        return false;
    };
    queue.check().unwrap();
    // The core takes 16 times a snapshot at most, and compression expands to 88 times.
    assert!(queue.memory() <= 2_000 + 16 * 88 * bytes.len());
    let again = rq_dump::read(&rq_dump::write(&queue)).unwrap();
    assert_eq!(parts(&again), parts(&queue));
    true
}

#[test]
fn every_cut_is_refused() {
    for dump in dumps() {
        for cut in 0..dump.len() {
            let refusal = rq_dump::read(&dump[..cut]).err().unwrap();
            assert!(
                matches!(refusal, Refusal::CutOff { .. }),
                "{cut}: {refusal}"
            );
        }
        // A cut that somebody sealed.
        for cut in 0..dump.len() - FOOTER {
            assert!(rq_dump::read(&sealed(&dump[..cut], 10)).is_err());
            assert!(rq_dump::read(&unchecked(dump[..cut].to_vec())).is_err());
        }
    }
}

#[test]
fn every_flipped_bit_is_refused_or_leaves_a_queue() {
    for dump in dumps() {
        let end = dump.len() - 8;
        let mut whole = 0;
        for bit in 0..end * 8 {
            let mut flipped = dump.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(rq_dump::read(&flipped).is_err(), "{bit}");
            flipped.truncate(end);
            whole += u32::from(whole_or_refused(&checked(flipped.clone())));
            whole_or_refused(&unchecked(flipped));
        }
        // Those of payloads can't be told from others.
        assert!(whole > 0);
    }
}

#[test]
fn every_flipped_bit_of_the_checksum_is_refused() {
    for dump in dumps() {
        for bit in (dump.len() - 8) * 8..dump.len() * 8 {
            let mut flipped = dump.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let refusal = rq_dump::read(&flipped).err().unwrap();
            assert!(matches!(refusal, Refusal::Checksum { .. }), "{refusal}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn edited_dumps_are_refused_or_whole(
        which in 0usize..3,
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), 0usize..4, prop::collection::vec(any::<u8>(), 0..4)),
            1..5,
        ),
        checks: bool,
    ) {
        let mut bytes = dumps()[which].clone();
        bytes.truncate(bytes.len() - 8);
        for (at, removed, inserted) in edits {
            let at = at.index(bytes.len() + 1);
            let end = (at + removed).min(bytes.len());
            bytes.splice(at..end, inserted);
        }
        let seal = if checks { checked } else { unchecked };
        whole_or_refused(&seal(bytes));
    }

    #[test]
    fn any_bytes_are_refused_or_whole(
        begins: bool,
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        whole_or_refused(&bytes);
        let header = if begins { HEADER } else { b"" };
        whole_or_refused(&sealed(&[header, &bytes, &[support::END]].concat(), 10));
    }
}
