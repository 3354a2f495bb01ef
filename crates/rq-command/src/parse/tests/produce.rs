use super::*;

fn parsed(text: &str) -> Result<PushExtended, Refusal> {
    push_extended(words(text).as_slice())
}

#[test]
fn extended_pushes_count_their_elements() {
    let given = |producer, elements| {
        Ok(PushExtended {
            producer,
            elements,
            ..PushExtended::default()
        })
    };
    assert_eq!(parsed("RQ.PUSHEX q ELEMENTS 1 a"), given(None, 4..5));
    assert_eq!(
        parsed("RQ.PUSHEX q elements 2 ELEMENTS 1"),
        given(None, 4..6)
    );
    let text = "RQ.PUSHEX q producer PRODUCER seq 7 ELEMENTS 2 a b";
    assert_eq!(parsed(text), given(Some((3, 7)), 8..10));
    for text in [
        "RQ.PUSHEX q a",
        "RQ.PUSHEX q ELEMENTS 1",
        "RQ.PUSHEX q ELEMENTS 2 a",
        "RQ.PUSHEX q ELEMENTS 1 a b",
        "RQ.PUSHEX q ELEMENTS 0 a",
        "RQ.PUSHEX q ELEMENTS x a",
        "RQ.PUSHEX q PRODUCER p ELEMENTS 1 a",
        "RQ.PUSHEX q PRODUCER p SEQ 0 ELEMENTS 1 a",
        "RQ.PUSHEX q PRODUCER p SEQ 1 a b c",
        "RQ.PUSHEX q PRODUCER p SEQ 9223372036854775807 ELEMENTS 2 a b",
        "RQ.PUSHEX q PRODUCER p SEQ x ELEMENTS 1 a",
        "RQ.PUSHEX q PRODUCER  SEQ 1 ELEMENTS 1 a",
        "RQ.PUSHEX q SEQ 1 PRODUCER p ELEMENTS 1 a",
    ] {
        assert!(parsed(text).is_err(), "{text}");
    }
}

#[test]
fn pushes_are_plain_or_not() {
    for options in [
        "",
        "PRODUCER p SEQ 1 ",
        "NEW 30000 3 ",
        "DELAY 0 ",
        "PRIORITY 0 ",
    ] {
        let push = parsed(&format!("RQ.PUSHEX q {options}ELEMENTS 1 a"));
        assert!(push.is_ok_and(|push| push.is_plain()), "{options}");
    }
    for options in [
        "FRONT",
        "DELAY 1",
        "AT 0",
        "TTL 1",
        "RETRIES 0",
        "PRIORITY 1",
        "HEADERS 1 a b",
        "TOKEN t",
    ] {
        let push = parsed(&format!("RQ.PUSHEX q {options} ELEMENTS 1 a"));
        assert!(push.is_ok_and(|push| !push.is_plain()), "{options}");
    }
}

#[test]
fn extended_pushes_take_options_in_any_order() {
    let text = "RQ.PUSHEX q front delay 5 TTL 7 retries 65535 Priority 255 \
        HEADERS 2 ELEMENTS 1 TOKEN UNIQUE TOKEN t unique PRODUCER p SEQ 3 NEW 0 2 ELEMENTS 1 FRONT";
    let expected = PushExtended {
        front: true,
        due: Due::After(5),
        ttl: 7,
        retries: Some(65_535),
        priority: 255,
        headers: 13..17,
        token: Some(18),
        unique: true,
        producer: Some((21, 3)),
        new: Some((0, 2)),
        elements: 29..30,
    };
    assert_eq!(parsed(text), Ok(expected));
    let text = "RQ.PUSHEX q NEW 1 0 TOKEN UNIQUE PRIORITY 0 AT 140737488355327 ELEMENTS 1 a";
    let expected = PushExtended {
        due: Due::At((1 << 47) - 1),
        token: Some(6),
        new: Some((1, 0)),
        elements: 13..14,
        ..PushExtended::default()
    };
    assert_eq!(parsed(text), Ok(expected));
}

#[test]
fn extended_pushes_say_what_their_options_take() {
    const TTL: &str = "TTL is out of range, expected milliseconds, 1 or more, below 2^47";
    let long = format!("PRODUCER {} SEQ 1", "p".repeat(1025));
    for (options, part) in [
        ("FRONT FRONT", "FRONT is given twice"),
        ("DELAY -1", "DELAY is out of range"),
        ("DELAY 140737488355328", "DELAY is out of range"),
        ("DELAY soon", "DELAY is not an integer"),
        ("AT -1", "AT is out of range"),
        ("DELAY 0 AT 0", "DELAY and AT are given together"),
        ("AT 0 DELAY 0", "DELAY and AT are given together"),
        ("TTL 0", TTL),
        ("TTL -1", TTL),
        ("TTL 140737488355328", TTL),
        ("TTL 99999999999999999999", TTL),
        (
            "TTL x",
            "TTL is not an integer: 'x', expected milliseconds, 1 or more, below 2^47",
        ),
        ("RETRIES -1", "RETRIES is out of range"),
        (
            "RETRIES 65536",
            "RETRIES is out of range, expected an integer from 0 to 65535",
        ),
        (
            "PRIORITY 256",
            "PRIORITY is out of range, expected an integer from 0 to 255",
        ),
        ("PRIORITY -1", "PRIORITY is out of range"),
        ("PRIORITY high", "PRIORITY is not an integer"),
        ("HEADERS 0", "HEADERS is out of range"),
        ("HEADERS x a b", "HEADERS is not an integer"),
        ("HEADERS 3 a b", "HEADERS says 3, but 5 words follow"),
        (
            "HEADERS 9223372036854775807 a b",
            "HEADERS says 9223372036854775807",
        ),
        ("HEADERS 1 a b c d", "'c' is unknown"),
        ("TOKEN ", "TOKEN has 0 bytes"),
        ("UNIQUE", "UNIQUE is not in its place"),
        ("TOKEN t FRONT UNIQUE", "UNIQUE is not in its place"),
        ("TOKEN t UNIQUE UNIQUE", "UNIQUE is given twice"),
        ("TOKEN t TOKEN t", "TOKEN is given twice"),
        ("PRODUCER p", "PRODUCER lacks a number"),
        (
            "PRODUCER  SEQ 1",
            "PRODUCER has 0 bytes, expected 1 to 1024",
        ),
        ("PRODUCER p SEQ 0", "SEQ is out of range"),
        (
            "SEQ 1",
            "SEQ is not in its place, expected it right behind PRODUCER",
        ),
        ("NEW -1 1", "NEW's lease is out of range"),
        ("NEW 140737488355328 1", "NEW's lease is out of range"),
        ("NEW 1 -1", "NEW's deliveries is out of range"),
        (
            "NEW 1 65536",
            "NEW's deliveries is out of range, expected an integer from 0 to 65535",
        ),
        ("NEW 1", "NEW's deliveries is not an integer"),
        ("BACK", "'BACK' is unknown"),
        (&long, "PRODUCER has 1025 bytes, expected 1 to 1024"),
    ] {
        refused(
            &[(format!("RQ.PUSHEX q {options} ELEMENTS 1 a").as_str(), part)],
            parsed,
        );
    }
    refused(
        &[
            (
                "RQ.PUSHEX q TOKEN t ELEMENTS 2 a b",
                "TOKEN is given for 2 elements",
            ),
            ("RQ.PUSHEX q FRONT TTL 1 DELAY", "DELAY lacks its value"),
            ("RQ.PUSHEX q DELAY", "DELAY lacks its value"),
            (
                "RQ.PUSHEX q FRONT TTL 1",
                "ELEMENTS is missing, expected: RQ.PUSHEX",
            ),
            ("RQ.PUSHEX q ELEMENTS", "ELEMENTS lacks its value"),
            ("RQ.PUSHEX q ELEMENTS 0", "ELEMENTS is out of range"),
            ("RQ.PUSHEX q ELEMENTS 1", "ELEMENTS says 1, but 0 follow"),
            ("RQ.PUSHEX q ELEMENTS 2 a", "ELEMENTS says 2, but 1 follow"),
            (
                "RQ.PUSHEX q ELEMENTS 1 a FRONT",
                "ELEMENTS says 1, but 2 follow",
            ),
            (
                "RQ.PUSHEX q PRODUCER p SEQ 9223372036854775807 ELEMENTS 2 a b",
                "SEQ is out of range",
            ),
        ],
        parsed,
    );
}

#[test]
fn a_wrong_count_of_headers_is_named() {
    for (text, part) in [
        (
            "HEADERS 2 a b ELEMENTS 1 x",
            "'x' is unknown or not in its place, HEADERS before it took '2' 'a' 'b' 'ELEMENTS' '1'",
        ),
        (
            "HEADERS 1 a ELEMENTS 1 x",
            "'1' is unknown or not in its place, HEADERS before it took '1' 'a' 'ELEMENTS', expected: RQ.PUSHEX",
        ),
        (
            "HEADERS 1 a ELEMENTS",
            "ELEMENTS is missing, HEADERS before it took '1' 'a' 'ELEMENTS', expected: RQ.PUSHEX",
        ),
        (
            "headers 1 a elements FRONT",
            "ELEMENTS is missing, HEADERS before it took '1' 'a' 'elements'",
        ),
        (
            "HEADERS 1 a TTL 5 FRONT ELEMENTS 1 x",
            "'5' is unknown or not in its place, HEADERS before it took '1' 'a' 'TTL'",
        ),
        (
            "HEADERS 1 a b c ELEMENTS 1 x",
            "'c' is unknown or not in its place, HEADERS before it took '1' 'a' 'b'",
        ),
        (
            "HEADERS 4 a b c d e f g h FRONT i",
            "'i' is unknown or not in its place, expected: RQ.PUSHEX",
        ),
        (
            "HEADERS 4 a b c d e f g ELEMENTS 1 x",
            "'1' is unknown or not in its place, HEADERS before it took '4' 'a' 'b' ... 'f' 'g' 'ELEMENTS'",
        ),
        (
            "TOKEN ELEMENTS 1 x",
            "'1' is unknown or not in its place, TOKEN before it took 'ELEMENTS'",
        ),
        (
            "HEADERS 3 a b ELEMENTS 1 x",
            "HEADERS says 3, but 5 words follow, expected a name and a value for each",
        ),
    ] {
        refused(&[(format!("RQ.PUSHEX q {text}").as_str(), part)], parsed);
    }
    let long = format!("RQ.PUSHEX q HEADERS 1 {} v x ELEMENTS 1 x", "h".repeat(100));
    let part = format!("HEADERS before it took '1' '{}' 'v'", "h".repeat(20));
    refused(&[(long.as_str(), part.as_str())], parsed);
}
