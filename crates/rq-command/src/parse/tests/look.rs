use super::*;

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
    refused(
        &[
            ("RQ.RANGE q 5 +", "min is '5', expected -, +, an ID such as"),
            ("RQ.RANGE q - (", "max is '(', expected -, +, an ID such as"),
        ],
        parsed,
    );
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
    let told = "n is out of range, expected a number of parts from 1 to 65536";
    refused(
        &[("RQ.SPLIT q 0", told), ("RQ.SPLIT q 65537", told)],
        parsed,
    );
}

#[test]
fn status_takes_any_number_of_keys() {
    let parsed = |text: &str| status(words(text).as_slice());
    assert_eq!(parsed("RQ.STATUS"), 1..1);
    assert_eq!(parsed("RQ.STATUS q"), 1..2);
    assert_eq!(parsed("RQ.STATUS q q COUNT"), 1..4);
}

#[test]
fn get_takes_as_many_as_it_announces() {
    let parsed = |text: &str| listed(text, |words, receipts| get(words, receipts));
    let given = |with_meta, named| Get { with_meta, named };
    let two = vec![receipt(1, 1, 0), receipt(2, 3, 1)];
    assert_eq!(
        parsed("RQ.GET q IDS 2 1-1 2-3@1"),
        Ok((given(false, Named::Receipts), two.clone()))
    );
    assert_eq!(
        parsed("RQ.GET q withmeta ids 2 1-1 2-3@1"),
        Ok((given(true, Named::Receipts), two))
    );
    assert_eq!(
        parsed("RQ.GET q WITHMETA TOKENS 1 1-1"),
        Ok((given(true, Named::Tokens(5..6)), vec![]))
    );
    refused(
        &[
            ("RQ.GET q", "IDS or TOKENS is missing, expected: RQ.GET"),
            ("RQ.GET q WITHMETA", "IDS or TOKENS is missing"),
            ("RQ.GET q IDS", "IDS lacks its value"),
            ("RQ.GET q IDS 1", "IDS says 1, but 0 follow"),
            ("RQ.GET q IDS 0", "IDS is out of range"),
            ("RQ.GET q TOKENS 0", "TOKENS is out of range"),
            ("RQ.GET q TOKENS x t", "TOKENS is not an integer: 'x'"),
            ("RQ.GET q 1-1", "expected: RQ.GET"),
            ("RQ.GET q IDS 0 1-1", "IDS is out of range"),
            ("RQ.GET q IDS 2 1-1", "IDS says 2, but 1 follow"),
            ("RQ.GET q IDS 1 1-1 2-2", "IDS says 1, but 2 follow"),
            ("RQ.GET q IDS 1 x", "IDS takes 'x': invalid ID"),
            (
                "RQ.GET q WITHMETA WITHMETA IDS 1 1-1",
                "WITHMETA is given twice",
            ),
        ],
        parsed,
    );
}

#[test]
fn inspect_knows_states_and_filters() {
    let parsed = |text: &str| inspect(words(text).as_slice());
    let simple = Inspect {
        which: Which::Waiting,
        idle: 0,
        consumer: None,
        within: Within::Everything,
        start: 0,
        count: 10,
    };
    let of = |which| Inspect {
        which,
        ..simple.clone()
    };
    assert_eq!(parsed("RQ.INSPECT q 0 10"), Ok(simple.clone()));
    assert_eq!(parsed("RQ.INSPECT q pending 0 10"), Ok(of(Which::Pending)));
    assert_eq!(parsed("RQ.INSPECT q DEAD 0 10"), Ok(of(Which::Dead)));
    let late = Inspect {
        start: -2,
        ..of(Which::Scheduled)
    };
    assert_eq!(parsed("RQ.INSPECT q Scheduled -2 10"), Ok(late));
    let between = Within::Between(Id::new(5, 2), Id::new(7, 0));
    let filtered = Inspect {
        idle: 50,
        consumer: Some(7),
        within: between,
        ..of(Which::Pending)
    };
    let text = "RQ.INSPECT q PENDING range (5-1 7-0 consumer RANGE IDLE 50 0 10";
    assert_eq!(parsed(text), Ok(filtered));
    let nothing = Inspect {
        within: Within::Nothing,
        ..simple.clone()
    };
    assert_eq!(parsed("RQ.INSPECT q RANGE - (0-0 0 10"), Ok(nothing));
    let buried = Inspect {
        consumer: Some(4),
        ..of(Which::Dead)
    };
    assert_eq!(parsed("RQ.INSPECT q DEAD CONSUMER c 0 10"), Ok(buried));
}

#[test]
fn inspect_says_what_was_expected() {
    refused(
        &[
            ("RQ.INSPECT q", "expected: RQ.INSPECT"),
            ("RQ.INSPECT q 0", "expected: RQ.INSPECT"),
            ("RQ.INSPECT q PENDING 0", "start is not an integer"),
            ("RQ.INSPECT q GONE 0 1", "'GONE' is unknown"),
            ("RQ.INSPECT q PENDING DEAD 0 1", "'DEAD' is unknown"),
            ("RQ.INSPECT q IDLE 5 PENDING 0 1", "IDLE is not for these"),
            ("RQ.INSPECT q RANGE - + PENDING 0 1", "'PENDING' is unknown"),
            ("RQ.INSPECT q 0 0", "count is out of range"),
            ("RQ.INSPECT q x 1", "start is not an integer"),
            ("RQ.INSPECT q DEAD IDLE 5 0 1", "IDLE is not for these"),
            ("RQ.INSPECT q CONSUMER c 0 1", "CONSUMER is not for these"),
            (
                "RQ.INSPECT q SCHEDULED CONSUMER c 0 1",
                "CONSUMER is not for these",
            ),
            ("RQ.INSPECT q PENDING CONSUMER  0 1", "CONSUMER has 0 bytes"),
            ("RQ.INSPECT q PENDING IDLE -1 0 1", "IDLE is out of range"),
            ("RQ.INSPECT q PENDING IDLE 0 1", "IDLE lacks its value"),
            (
                "RQ.INSPECT q PENDING IDLE 1 IDLE 1 0 1",
                "IDLE is given twice",
            ),
            ("RQ.INSPECT q RANGE 0 1", "RANGE's min lacks its value"),
            ("RQ.INSPECT q RANGE - 0 1", "RANGE's max lacks its value"),
            (
                "RQ.INSPECT q RANGE 5 + 0 1",
                "RANGE's min is '5', expected -, +, an ID",
            ),
        ],
        |text| inspect(words(text).as_slice()),
    );
}
