use super::*;

#[test]
fn acknowledge_knows_its_three_forms() {
    let parsed = |text: &str| listed(text, |words, receipts| acknowledge(words, receipts));
    let given = |status, named| Acknowledge { status, named };
    let two = vec![receipt(1, 1, 0), receipt(2, 3, 7)];
    let plain = given(false, Named::Receipts);
    assert_eq!(
        parsed("RQ.ACK q 1-1 2-3@7"),
        Ok((plain.clone(), two.clone()))
    );
    assert_eq!(parsed("RQ.ACK q ids 2 1-1 2-3@7"), Ok((plain, two.clone())));
    let told = given(true, Named::Receipts);
    assert_eq!(parsed("RQ.ACK q STATUS IDS 2 1-1 2-3@7"), Ok((told, two)));
    let tokens = given(true, Named::Tokens(5..7));
    assert_eq!(
        parsed("RQ.ACK q status TOKENS 2 IDS "),
        Ok((tokens, vec![]))
    );
    refused(
        &[
            ("RQ.ACK q", "expected: RQ.ACK"),
            (
                "RQ.ACK q STATUS",
                "IDS or TOKENS is missing, expected: RQ.ACK",
            ),
            ("RQ.ACK q STATUS 1-1", "'1-1' is unknown"),
            ("RQ.ACK q STATUS STATUS IDS 1 1-1", "STATUS is given twice"),
            ("RQ.ACK q 1-1 STATUS", "'STATUS': invalid ID"),
            ("RQ.ACK q 1-1@0", "'1-1@0': invalid ID"),
            ("RQ.ACK q x", "'x': invalid ID"),
            ("RQ.ACK q IDS", "IDS lacks its value"),
            ("RQ.ACK q IDS 0", "IDS is out of range"),
            ("RQ.ACK q IDS 2 1-1", "IDS says 2, but 1 follow"),
            ("RQ.ACK q TOKENS 1 a b", "TOKENS says 1, but 2 follow"),
            ("RQ.ACK q TOKENS 1", "TOKENS says 1, but 0 follow"),
        ],
        parsed,
    );
}

#[test]
fn nack_knows_what_becomes_of_messages() {
    let parsed = |text: &str| {
        listed(text, |words, receipts| {
            negative_acknowledge(words, receipts)
        })
    };
    let simple = Nack {
        delay: None,
        dead: false,
        reason: None,
        silent: false,
        status: false,
        named: Named::Receipts,
    };
    let one = vec![receipt(1, 1, 2)];
    assert_eq!(
        parsed("RQ.NACK q IDS 1 1-1@2"),
        Ok((simple.clone(), one.clone()))
    );
    let all = Nack {
        delay: Some(0),
        reason: Some(5),
        silent: true,
        status: true,
        ..simple.clone()
    };
    let text = "RQ.NACK q silent STATUS reason DEAD DELAY 0 ids 1 1-1@2";
    assert_eq!(parsed(text), Ok((all, one)));
    let dead = Nack {
        dead: true,
        reason: Some(3),
        named: Named::Tokens(7..8),
        ..simple
    };
    let text = "RQ.NACK q REASON TOKENS DEAD TOKENS 1 t";
    assert_eq!(parsed(text), Ok((dead.clone(), vec![])));
    let text = "RQ.NACK q DEAD REASON  TOKENS 1 t";
    let unsaid = Nack {
        reason: Some(4),
        ..dead
    };
    assert_eq!(parsed(text), Ok((unsaid, vec![])));
}

#[test]
fn nack_says_what_its_options_take() {
    let reason = |length| format!("RQ.NACK q REASON {} IDS 1 1-1", "r".repeat(length));
    let parsed = |text: &str| {
        listed(text, |words, receipts| {
            negative_acknowledge(words, receipts)
        })
    };
    assert!(parsed(&reason(4096)).is_ok());
    refused(
        &[
            (
                reason(4097).as_str(),
                "REASON has 4097 bytes, expected 0 to 4096",
            ),
            ("RQ.NACK q", "IDS or TOKENS is missing, expected: RQ.NACK"),
            ("RQ.NACK q 1-1", "'1-1' is unknown"),
            ("RQ.NACK q IDS", "IDS lacks its value"),
            ("RQ.NACK q IDS 0", "IDS is out of range"),
            ("RQ.NACK q IDS 1", "IDS says 1, but 0 follow"),
            ("RQ.NACK q TOKENS 0", "TOKENS is out of range"),
            ("RQ.NACK q DELAY", "DELAY lacks its value"),
            (
                "RQ.NACK q REASON IDS 1 1-1",
                "'1' is unknown or not in its place, REASON before it took 'IDS'",
            ),
            ("RQ.NACK q 1-1 2-2 3-3", "'1-1' is unknown"),
            ("RQ.NACK q DELAY -1 IDS 1 1-1", "DELAY is out of range"),
            (
                "RQ.NACK q DELAY 140737488355328 IDS 1 1-1",
                "DELAY is out of range",
            ),
            (
                "RQ.NACK q DELAY 1 DEAD IDS 1 1-1",
                "DELAY and DEAD are given together",
            ),
            (
                "RQ.NACK q DEAD DELAY 0 IDS 1 1-1",
                "DELAY and DEAD are given together",
            ),
            ("RQ.NACK q SILENT SILENT IDS 1 1-1", "SILENT is given twice"),
            ("RQ.NACK q IDS 1 1-1 SILENT", "IDS says 1, but 2 follow"),
            ("RQ.NACK q DEAD SILENT STATUS", "IDS or TOKENS is missing"),
            ("RQ.NACK q IDS 1 t", "'t': invalid ID"),
        ],
        parsed,
    );
}

#[test]
fn extend_takes_milliseconds_first() {
    let parsed = |text: &str| listed(text, |words, receipts| extend(words, receipts));
    let simple = Extend {
        milliseconds: 0,
        start: false,
        status: false,
        named: Named::Receipts,
    };
    assert_eq!(
        parsed("RQ.EXTEND q 0 IDS 1 1-1"),
        Ok((simple.clone(), vec![receipt(1, 1, 0)]))
    );
    let all = Extend {
        milliseconds: 60_000,
        start: true,
        status: true,
        named: Named::Tokens(7..9),
    };
    let text = "RQ.EXTEND q 60000 STATUS start TOKENS 2 a a";
    assert_eq!(parsed(text), Ok((all, vec![])));
    refused(
        &[
            ("RQ.EXTEND q", "expected: RQ.EXTEND"),
            (
                "RQ.EXTEND q IDS 1 1-1",
                "milliseconds is not an integer: 'IDS'",
            ),
            ("RQ.EXTEND q 5", "IDS or TOKENS is missing"),
            ("RQ.EXTEND q 5 IDS 0", "IDS is out of range"),
            ("RQ.EXTEND q 5 TOKENS 0", "TOKENS is out of range"),
            (
                "RQ.EXTEND q START IDS 1 1-1",
                "milliseconds is not an integer",
            ),
            ("RQ.EXTEND q -1 IDS 1 1-1", "milliseconds is out of range"),
            (
                "RQ.EXTEND q 140737488355328 IDS 1 1-1",
                "milliseconds is out of range",
            ),
            (
                "RQ.EXTEND q 1 START START IDS 1 1-1",
                "START is given twice",
            ),
            ("RQ.EXTEND q 1 1-1 2-2 3-3", "'1-1' is unknown"),
            ("RQ.EXTEND q 1 IDS 2 1-1", "IDS says 2, but 1 follow"),
        ],
        parsed,
    );
}

#[test]
fn forward_has_two_lists() {
    let parsed = |text: &str| listed(text, |words, receipts| forward(words, receipts));
    let given = |named, elements| Forward {
        new: None,
        named,
        elements,
    };
    assert_eq!(
        parsed("RQ.FORWARD a b IDS 2 1-1@1 2-2 ELEMENTS 1 IDS"),
        Ok((
            given(Named::Receipts, 9..10),
            vec![receipt(1, 1, 1), receipt(2, 2, 0)]
        ))
    );
    assert_eq!(
        parsed("RQ.FORWARD a b tokens 1 ELEMENTS elements 2 x y"),
        Ok((given(Named::Tokens(5..6), 8..10), vec![]))
    );
    refused(
        &[
            (
                "RQ.FORWARD a b IDS 1 1-1 ELEMENTS 1",
                "ELEMENTS says 1, but 0 follow",
            ),
            (
                "RQ.FORWARD a b IDS 1 1-1 ELEMENTS 0",
                "ELEMENTS is out of range",
            ),
            ("RQ.FORWARD a b IDS 0", "IDS is out of range"),
            ("RQ.FORWARD a b TOKENS 0", "TOKENS is out of range"),
            ("RQ.FORWARD a b", "IDS or TOKENS is missing"),
            ("RQ.FORWARD a", "expected: RQ.FORWARD"),
            (
                "RQ.FORWARD a b IDS 1 1-1",
                "ELEMENTS is missing, IDS before it took '1' '1-1', expected: RQ.FORWARD",
            ),
            (
                "RQ.FORWARD a b TOKENS 2 t ELEMENTS 1 x",
                "'1' is unknown or not in its place, TOKENS before it took '2' 't' 'ELEMENTS'",
            ),
            (
                "RQ.FORWARD a b NEW 1 1 NEW 1 1 IDS 1 1-1 ELEMENTS 1 x",
                "NEW is given twice",
            ),
            (
                "RQ.FORWARD a b ELEMENTS 1 x IDS 1 1-1",
                "'ELEMENTS' is unknown",
            ),
            (
                "RQ.FORWARD a b IDS 1 1-1 2-2 ELEMENTS 1 x",
                "'2-2' is unknown or not in its place, IDS before it took '1' '1-1'",
            ),
            (
                "RQ.FORWARD a b IDS 2 1-1 ELEMENTS 1 x y",
                "IDS takes 'ELEMENTS': invalid ID",
            ),
            (
                "RQ.FORWARD a b IDS 9 1-1 ELEMENTS 1 x",
                "IDS says 9, but 4 follow",
            ),
            (
                "RQ.FORWARD a b IDS 1 1-1 ELEMENTS 2 x",
                "ELEMENTS says 2, but 1 follow",
            ),
            (
                "RQ.FORWARD a b IDS 1 1-1 ELEMENTS 1 x y",
                "ELEMENTS says 1, but 2 follow",
            ),
            (
                "RQ.FORWARD a b IDS 4 1-1 2-2 3-3 4-4",
                "expected: RQ.FORWARD",
            ),
        ],
        parsed,
    );
}
