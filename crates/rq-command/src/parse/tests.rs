use super::*;
use proptest::prelude::*;

fn words(text: &str) -> Vec<&[u8]> {
    text.split(' ').map(str::as_bytes).collect()
}

fn popped(text: &str) -> Result<(u64, Option<u64>, Vec<String>), String> {
    let words = words(text);
    let pop = pop(words.as_slice()).map_err(|refusal| refusal.to_string())?;
    let keys = words[pop.keys]
        .iter()
        .map(|key| String::from_utf8_lossy(key).into());
    Ok((pop.count, pop.block, keys.collect()))
}

#[test]
fn pop_takes_options_in_any_order_and_case() {
    let keys = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>()
    };
    for (text, expected) in [
        ("RQ.POP q", (1, None, keys(&["q"]))),
        ("RQ.POP a b c", (1, None, keys(&["a", "b", "c"]))),
        ("RQ.POP COUNT 7 q", (7, None, keys(&["q"]))),
        (
            "RQ.POP block 0 count 7 a b",
            (7, Some(0), keys(&["a", "b"])),
        ),
        (
            "RQ.POP Count 7 Block 50 Keys 2 a b",
            (7, Some(50), keys(&["a", "b"])),
        ),
        ("RQ.POP KEYS 2 COUNT 5", (1, None, keys(&["COUNT", "5"]))),
        ("RQ.POP KEYS 1 count", (1, None, keys(&["count"]))),
        ("RQ.POP count", (1, None, keys(&["count"]))),
        ("RQ.POP BLOCK", (1, None, keys(&["BLOCK"]))),
        ("RQ.POP 10 high low", (10, None, keys(&["high", "low"]))),
        ("RQ.POP 10", (1, None, keys(&["10"]))),
        ("RQ.POP KEYS 2 10 q", (1, None, keys(&["10", "q"]))),
        ("RQ.POP q 10", (1, None, keys(&["q", "10"]))),
        ("RQ.POP WITHMETA q", (1, None, keys(&["q"]))),
        (
            "RQ.POP withmeta COUNT 2 KEYS 1 withmeta",
            (2, None, keys(&["withmeta"])),
        ),
        ("RQ.POP WITHMETA", (1, None, keys(&["WITHMETA"]))),
        (
            "RQ.POP KEYS 3 q COUNT 5",
            (1, None, keys(&["q", "COUNT", "5"])),
        ),
        ("RQ.POP 1.5 q", (1, None, keys(&["1.5", "q"]))),
    ] {
        assert_eq!(popped(text), Ok(expected), "{text}");
    }
}

#[test]
fn pop_says_what_was_expected() {
    for (text, part) in [
        ("RQ.POP", "expected: RQ.POP"),
        ("RQ.POP COUNT 5", "expected: RQ.POP"),
        ("RQ.POP COUNT x q", "COUNT is not a number"),
        ("RQ.POP COUNT 0 q", "positive"),
        ("RQ.POP COUNT -1 q", "positive"),
        ("RQ.POP 0 q", "positive"),
        ("RQ.POP -3 q", "positive"),
        ("RQ.POP BLOCK -1 q", "0 or more"),
        ("RQ.POP BLOCK 1.5 q", "BLOCK is not a number"),
        ("RQ.POP COUNT 9223372036854775808 q", "64 bits"),
        ("RQ.POP COUNT 1 COUNT 2 q", "twice"),
        ("RQ.POP WITHMETA WITHMETA q", "twice"),
        ("RQ.POP KEYS 2 q", "KEYS says 2, but 1 follow"),
        ("RQ.POP KEYS 1 a b", "KEYS says 1, but 2 follow"),
        ("RQ.POP q COUNT 5", "COUNT stands among the keys"),
        ("RQ.POP 10 COUNT 5", "COUNT stands among the keys"),
        ("RQ.POP a block", "block stands among the keys"),
        ("RQ.POP 99999999999999999999 q", "signed integer"),
        ("RQ.POP 007 q", "signed integer"),
        ("RQ.POP KEYS 0 a", "positive"),
    ] {
        let error = popped(text).unwrap_err();
        assert!(
            error.starts_with("ERR ") && error.contains(part),
            "{text}: {error}"
        );
    }
}

#[test]
fn extended_pushes_count_their_elements() {
    let parsed = |text: &str| push_extended(words(text).as_slice());
    let given = |producer, elements| Ok(PushExtended { producer, elements });
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
        "RQ.PUSHEX q SEQ 1 PRODUCER p ELEMENTS 1 a",
    ] {
        assert!(parsed(text).is_err(), "{text}");
    }
}

#[test]
fn inspect_knows_its_two_forms() {
    let parsed = |text: &str| inspect(words(text).as_slice());
    let expected = |pending, start, count| {
        Ok(Inspect {
            pending,
            start,
            count,
        })
    };
    assert_eq!(parsed("RQ.INSPECT q -2 2"), expected(false, -2, 2));
    assert_eq!(parsed("RQ.INSPECT q pending 0 10"), expected(true, 0, 10));
    for text in [
        "RQ.INSPECT q",
        "RQ.INSPECT q 0",
        "RQ.INSPECT q PENDING 0",
        "RQ.INSPECT q DEAD 0 1",
        "RQ.INSPECT q 0 0",
        "RQ.INSPECT q x 1",
    ] {
        assert!(parsed(text).is_err(), "{text}");
    }
}

#[test]
fn range_knows_its_bounds_and_options() {
    let parsed = |text: &str| range(words(text).as_slice());
    let all = (Id::default(), Id::new(u64::MAX, u64::MAX));
    let given = |bounds, reverse, count, with_meta| {
        Ok(RangeOf {
            bounds,
            reverse,
            count,
            with_meta,
        })
    };
    assert_eq!(
        parsed("RQ.RANGE q - +"),
        given(Some(all), false, 1000, false)
    );
    assert_eq!(
        parsed("RQ.RANGE q - + rev count 2 withmeta"),
        given(Some(all), true, 2, true)
    );
    let bounds = Some((Id::new(5, 2), Id::new(6, u64::MAX)));
    assert_eq!(
        parsed("RQ.RANGE q (5-1 (7-0"),
        given(bounds, false, 1000, false)
    );
    let none = "RQ.RANGE q (18446744073709551615-18446744073709551615 +";
    assert_eq!(parsed(none), given(None, false, 1000, false));
    for text in [
        "RQ.RANGE q -",
        "RQ.RANGE q 5 +",
        "RQ.RANGE q - + COUNT",
        "RQ.RANGE q - + COUNT 0",
        "RQ.RANGE q - + DESC",
        "RQ.RANGE q - + REV REV",
        "RQ.RANGE q ( +",
        "RQ.RANGE q [1-1 +",
    ] {
        assert!(parsed(text).is_err(), "{text}");
    }
}

#[test]
fn peek_takes_two_words() {
    let parsed = |text: &str| peek(words(text).as_slice());
    let given = |back, with_meta| Ok(Peek { back, with_meta });
    assert_eq!(parsed("RQ.PEEK q"), given(false, false));
    assert_eq!(parsed("RQ.PEEK q back"), given(true, false));
    assert_eq!(parsed("RQ.PEEK q WITHMETA BACK"), given(true, true));
    for text in ["RQ.PEEK", "RQ.PEEK q FRONT", "RQ.PEEK q BACK BACK"] {
        assert!(parsed(text).is_err(), "{text}");
    }
}

#[test]
fn get_takes_as_many_ids_as_it_announces() {
    let parsed = |text: &str| {
        let mut ids = Vec::new();
        get(words(text).as_slice(), &mut ids).map(|with_meta| (with_meta, ids))
    };
    let ids = vec![Id::new(1, 1), Id::new(2, 3)];
    assert_eq!(parsed("RQ.GET q IDS 2 1-1 2-3"), Ok((false, ids.clone())));
    assert_eq!(parsed("RQ.GET q withmeta ids 2 1-1 2-3"), Ok((true, ids)));
    for text in [
        "RQ.GET q IDS 1",
        "RQ.GET q 1-1",
        "RQ.GET q IDS 0 1-1",
        "RQ.GET q IDS 2 1-1",
        "RQ.GET q IDS 1 1-1 2-2",
        "RQ.GET q IDS 1 x",
        "RQ.GET q WITHMETA WITHMETA IDS 1 1-1",
    ] {
        assert!(parsed(text).is_err(), "{text}");
    }
}

#[test]
fn split_takes_a_bounded_number() {
    let parsed = |text: &str| split(words(text).as_slice());
    assert_eq!(parsed("RQ.SPLIT q 1"), Ok(1));
    assert_eq!(parsed("RQ.SPLIT q 65536"), Ok(65536));
    for text in [
        "RQ.SPLIT q",
        "RQ.SPLIT q 0",
        "RQ.SPLIT q -1",
        "RQ.SPLIT q 65537",
        "RQ.SPLIT q x",
    ] {
        assert!(parsed(text).is_err(), "{text}");
    }
}

#[test]
fn status_takes_any_number_of_keys() {
    let parsed = |text: &str| status(words(text).as_slice());
    assert_eq!(parsed("RQ.STATUS"), 1..1);
    assert_eq!(parsed("RQ.STATUS q"), 1..2);
    assert_eq!(parsed("RQ.STATUS q q COUNT"), 1..4);
}

proptest! {
    #[test]
    fn no_arguments_make_a_parser_fail_otherwise(list: Vec<Vec<u8>>) {
        let list: Vec<&[u8]> = list.iter().map(Vec::as_slice).collect();
        let list = list.as_slice();
        let _ = (push(list), push_extended(list), recover(list), inspect(list), apply(list), range(list), split(list));
        if let Ok(pop) = pop(list) {
            prop_assert!(!pop.keys.is_empty() && pop.keys.end <= <[_]>::len(list));
        }
        prop_assert_eq!(status(list).len() + 1, <[_]>::len(list).max(1));
        let mut ids = Vec::new();
        let _ = (peek(list), get(list, &mut ids));
        if acknowledge(list, &mut ids).is_ok() {
            prop_assert_eq!(ids.len() + 2, <[_]>::len(list));
        }
    }

    #[test]
    fn numbers_are_read_in_their_shortest_form_only(value: i64, text in "[-+0-9 ]{1,20}") {
        prop_assert_eq!(number(value.to_string().as_bytes()), Some(value));
        if let Some(read) = number(text.as_bytes()) {
            prop_assert_eq!(read.to_string(), text);
        }
    }
}
