//! Each refusal says what was expected, and where.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use support::{
    FOOTER, GOLDEN, HEADER, checked, length, parts, plain, queue, sealed, unchecked, value,
};

fn refusal(bytes: &[u8]) -> String {
    rq_dump::read(bytes).err().unwrap().to_string()
}

/// The value of a small queue.
fn small() -> Vec<u8> {
    let strings: Vec<_> = parts(&queue(2, 3)).iter().map(|part| plain(part)).collect();
    value(&strings)
}

#[test]
fn values_of_other_types_are_refused() {
    assert_eq!(
        refusal(&sealed(b"\x00\x05hello", 10)),
        "not a dump of a queue: type 0 at offset 0, expected 7, a module's value"
    );
    let mut other = small();
    other[2] ^= 1;
    assert_eq!(
        refusal(&sealed(&other, 10)),
        "not a dump of a queue: a module's type 0x4542c80012c44001 at offset 1, expected RELIABLEQ"
    );
}

#[test]
fn later_releases_are_named() {
    let mut later = small();
    later[HEADER.len() - 1] = 2;
    let remedy = "a later release of reliableq wrote it; read it with that one";
    assert_eq!(
        refusal(&sealed(&later, 10)),
        format!("encoding 2 at offset 1, expected 1: {remedy}")
    );
    later[HEADER.len() - 1] = 0;
    assert_eq!(
        refusal(&sealed(&later, 10)),
        "damaged: encoding 0, which no release wrote, at offset 1"
    );
    let mut part = parts(&queue(2, 3)).remove(0);
    part[0] = 2;
    assert_eq!(
        refusal(&sealed(&value(&[plain(&part)]), 10)),
        format!("a part of version 2 at offset 10, expected 1: {remedy}")
    );
}

#[test]
fn versions_of_other_servers_are_refused() {
    let value = small();
    for version in [0, 9, 81, 256, u16::MAX] {
        let expected = format!(
            "RDB version {version} at offset {}, expected 10 to 80",
            value.len()
        );
        assert_eq!(refusal(&sealed(&value, version)), expected);
    }
    assert!(rq_dump::read(&sealed(&value, 10)).is_ok());
    assert!(rq_dump::read(&sealed(&value, 80)).is_ok());
}

#[test]
fn a_wrong_checksum_is_refused_and_none_is_taken() {
    let mut dump = GOLDEN.to_vec();
    dump.truncate(dump.len() - 8);
    assert!(rq_dump::read(&unchecked(dump.clone())).is_ok());
    assert!(rq_dump::read(&checked(dump.clone())).is_ok());
    dump.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(
        refusal(&dump),
        "damaged: checksum 0x0000000000000001 at offset 689, expected 0xe78d2ea7ff0153e5"
    );
}

#[test]
fn missing_and_trailing_bytes_are_told() {
    assert_eq!(
        refusal(b""),
        "cut off: expected the type of a value at offset 0"
    );
    assert_eq!(
        refusal(&GOLDEN[..5]),
        "cut off: expected the ID of a module's type at offset 2"
    );
    assert_eq!(
        refusal(&GOLDEN[..0x20]),
        "cut off: expected a string at offset 12"
    );
    assert_eq!(
        refusal(&GOLDEN[..0x60]),
        "cut off: expected a compressed string at offset 71"
    );
    assert_eq!(
        refusal(&GOLDEN[..GOLDEN.len() - FOOTER]),
        "cut off: expected 2 bytes of version and 8 of checksum after the value at offset 687"
    );
    assert_eq!(
        refusal(&[GOLDEN, b"\r\n"].concat()),
        "2 bytes too many: expected the end at offset 697"
    );
}

#[test]
fn absurd_lengths_are_refused_before_they_are_allocated() {
    let absurd = usize::MAX >> 1;
    let string = [&[0xC3][..], &length(3), &length(absurd), b"\xe0\xff\x00"].concat();
    assert_eq!(
        refusal(&sealed(&value(&[string]), 10)),
        "damaged: a length that the compressed string can't expand to at offset 21"
    );
    let just_above = [&[0xC3][..], &length(3), &length(265), b"\xe0\xff\x00"].concat();
    assert_eq!(
        refusal(&sealed(&value(&[just_above]), 10)),
        "damaged: a length that the compressed string can't expand to at offset 21"
    );
    let string = [&length(absurd), &b"x"[..]].concat();
    assert_eq!(
        refusal(&sealed(&value(&[string]), 10)),
        "cut off: expected a string at offset 20"
    );
}

#[test]
fn strings_that_are_no_parts_are_refused() {
    for (string, why) in [
        (
            &b"\xC0\x01"[..],
            "damaged: the text of a number in the place of a snapshot's part at offset 11",
        ),
        (
            b"\xC2\x01\x00\x00\x00",
            "damaged: the text of a number in the place of a snapshot's part at offset 11",
        ),
        (
            b"\xC4\x01",
            "damaged: a kind of string that is not known here at offset 11",
        ),
        (
            b"\x82\x01",
            "damaged: a form of length that is not known here at offset 11",
        ),
        (
            b"\xC3\x02\x04\x00x",
            "damaged: a compressed string that does not expand at offset 10",
        ),
        (
            b"\x05hello",
            "a part of version 104 at offset 10, expected 1: a later release of reliableq wrote it; read it with that one",
        ),
        (
            b"",
            "damaged: the end of the value before that of its snapshot at offset 10",
        ),
    ] {
        let strings = if string.is_empty() {
            vec![]
        } else {
            vec![string.to_vec()]
        };
        assert_eq!(refusal(&sealed(&value(&strings), 10)), why);
    }
}

#[test]
fn parts_out_of_place_are_refused() {
    let parts = parts(&queue(2, 3));
    let strings: Vec<_> = parts.iter().map(|part| plain(part)).collect();
    let end = strings.len() - 1;
    let early = refusal(&sealed(&value(&strings[..end]), 10));
    assert!(
        early.starts_with("damaged: the end of the value before that of its snapshot at offset")
    );
    let twice = refusal(&sealed(
        &value(&[&strings[..], &strings[end..]].concat()),
        10,
    ));
    assert!(twice.starts_with("damaged: a part behind the end of the snapshot at offset"));
    assert_eq!(
        refusal(&sealed(&value(&strings[1..]), 10)),
        "damaged: the part at offset 10 is refused: bad effect: a part of a snapshot without its head"
    );
    let mut marked = small();
    marked[HEADER.len()] = 2;
    assert_eq!(
        refusal(&sealed(&marked, 10)),
        "damaged: neither the mark of a string (5) nor that of the end (0) at offset 10"
    );
}

#[test]
fn an_empty_queue_has_no_dump() {
    assert!(rq_dump::read(&rq_dump::write(&rq_core::Queue::default())).is_err());
}
