use super::*;
use crate::table::Verb;
use rq_core::{Backoff, Change};

#[test]
fn delete_takes_a_list() {
    let parsed = |text: &str| listed(text, |words, receipts| delete(words, receipts));
    assert_eq!(
        parsed("RQ.DELETE q IDS 1 1-1@2"),
        Ok((Named::Receipts, vec![receipt(1, 1, 2)]))
    );
    assert_eq!(
        parsed("RQ.DELETE q tokens 2 a b"),
        Ok((Named::Tokens(4..6), vec![]))
    );
    refused(
        &[
            ("RQ.DELETE q 1-1", "expected: RQ.DELETE"),
            ("RQ.DELETE q 1-1 2-2 3-3", "'1-1' is unknown"),
            ("RQ.DELETE q IDS 2 1-1", "IDS says 2, but 1 follow"),
            ("RQ.DELETE q IDS x 1-1", "IDS is not an integer: 'x'"),
            (
                "RQ.DELETE q",
                "IDS or TOKENS is missing, expected: RQ.DELETE",
            ),
            ("RQ.DELETE q IDS 0", "IDS is out of range"),
            ("RQ.DELETE q TOKENS 0", "TOKENS is out of range"),
            ("RQ.DELETE q TOKENS 1", "TOKENS says 1, but 0 follow"),
        ],
        parsed,
    );
}

#[test]
fn redrive_takes_all_some_or_these() {
    let parsed = |text: &str| listed(text, |words, receipts| redrive(words, receipts));
    assert_eq!(parsed("RQ.REDRIVE q"), Ok((Redrive::All, vec![])));
    assert_eq!(
        parsed("RQ.REDRIVE q count 5"),
        Ok((Redrive::Count(5), vec![]))
    );
    assert_eq!(
        parsed("RQ.REDRIVE q IDS 1 1-1"),
        Ok((Redrive::Named(Named::Receipts), vec![receipt(1, 1, 0)]))
    );
    assert_eq!(
        parsed("RQ.REDRIVE q TOKENS 1 COUNT"),
        Ok((Redrive::Named(Named::Tokens(4..5)), vec![]))
    );
    refused(
        &[
            ("RQ.REDRIVE", "expected: RQ.REDRIVE"),
            ("RQ.REDRIVE q COUNT", "COUNT lacks its value"),
            ("RQ.REDRIVE q COUNT 0", "COUNT is out of range"),
            (
                "RQ.REDRIVE q COUNT 1 IDS 1 1-1",
                "COUNT and IDS are given together",
            ),
            ("RQ.REDRIVE q COUNT 1 COUNT 1", "COUNT is given twice"),
            ("RQ.REDRIVE q COUNT 1 x", "'x' is unknown"),
            ("RQ.REDRIVE q IDS 0", "IDS is out of range"),
            ("RQ.REDRIVE q TOKENS 0", "TOKENS is out of range"),
            ("RQ.REDRIVE q 1-1", "'1-1' is unknown"),
            ("RQ.REDRIVE q IDS 2 1-1", "IDS says 2, but 1 follow"),
        ],
        parsed,
    );
}

#[test]
fn flush_pause_and_resume_take_a_word() {
    let flushed = |text: &str| flush(words(text).as_slice());
    assert_eq!(flushed("RQ.FLUSH q"), Ok(false));
    assert_eq!(flushed("RQ.FLUSH q dead"), Ok(true));
    refused(
        &[
            ("RQ.FLUSH", "expected: RQ.FLUSH"),
            ("RQ.FLUSH q ALL", "'ALL' is unknown"),
            ("RQ.FLUSH q DEAD DEAD", "DEAD is given twice"),
        ],
        flushed,
    );
    let paused = |text: &str| sides(words(text).as_slice(), Verb::Pause);
    let given = |push, pop| Ok(Sides { push, pop });
    assert_eq!(paused("RQ.PAUSE q"), given(false, true));
    assert_eq!(paused("RQ.PAUSE q pop"), given(false, true));
    assert_eq!(paused("RQ.PAUSE q PUSH"), given(true, false));
    assert_eq!(paused("RQ.PAUSE q All"), given(true, true));
    refused(
        &[
            ("RQ.PAUSE", "expected: RQ.PAUSE"),
            ("RQ.PAUSE q BOTH", "'BOTH' is unknown"),
            ("RQ.PAUSE q PUSH POP", "PUSH and POP are given together"),
            ("RQ.PAUSE q ALL ALL", "ALL is given twice"),
        ],
        paused,
    );
    let text = sides(words("RQ.RESUME").as_slice(), Verb::Resume).map_err(|e| e.to_string());
    assert!(text.is_err_and(|text| text.ends_with("RQ.RESUME key [PUSH | POP | ALL]")));
}

fn set_up(text: &str) -> Result<Change, Refusal> {
    setup(words(text).as_slice())
}

#[test]
fn setup_takes_every_setting() {
    assert!(set_up("RQ.SETUP q").is_ok_and(|change| change.is_empty()));
    let all = Change {
        lease: Some(30_000),
        deliveries: Some(5),
        backoff: Some(Backoff {
            base: 100,
            factor: 1500,
            max: 60_000,
        }),
        jitter: Some(100),
        max_length: Some(10),
        max_bytes: Some(11),
        drops: Some(true),
        dedup: Some(0),
        expired_dead: Some(false),
        dead_max: Some(12),
        dead_ttl: Some(13),
        inflight: Some(14),
    };
    assert!(
        set_up("RQ.SETUP q DELIVERIES 65535").is_ok_and(|change| change.deliveries == Some(65_535))
    );
    let text = "RQ.SETUP q inflight 14 DEADTTL 13 DEADMAX 12 EXPIRED drop DEDUP 0 DROP MAXBYTES 11 \
        MAXLEN 10 JITTER 100 BACKOFF 100 1.5 60000 DELIVERIES 5 LEASE 30000";
    assert_eq!(set_up(text), Ok(all));
    let change = Change {
        drops: Some(false),
        expired_dead: Some(true),
        lease: Some(0),
        ..Change::default()
    };
    assert_eq!(set_up("RQ.SETUP q REJECT expired dead lease 0"), Ok(change));
}

#[test]
fn setup_says_what_its_settings_take() {
    refused(
        &[
            ("RQ.SETUP", "expected: RQ.SETUP"),
            ("RQ.SETUP q LEASE", "LEASE lacks its value"),
            ("RQ.SETUP q LEASE -1", "LEASE is out of range"),
            ("RQ.SETUP q LEASE 140737488355328", "LEASE is out of range"),
            ("RQ.SETUP q LEASE 1 LEASE 2", "LEASE is given twice"),
            (
                "RQ.SETUP q DELIVERIES 65536",
                "DELIVERIES is out of range, expected an integer from 0 to 65535",
            ),
            ("RQ.SETUP q DELIVERIES many", "DELIVERIES is not an integer"),
            ("RQ.SETUP q BACKOFF 1", "BACKOFF's factor lacks its value"),
            (
                "RQ.SETUP q BACKOFF -1 2 3",
                "BACKOFF's base is out of range",
            ),
            ("RQ.SETUP q BACKOFF 1 2 -3", "BACKOFF's max is out of range"),
            (
                "RQ.SETUP q BACKOFF 1 2 MAXLEN 1",
                "BACKOFF's max is not an integer",
            ),
            (
                "RQ.SETUP q JITTER 101",
                "JITTER is out of range, expected percent",
            ),
            (
                "RQ.SETUP q JITTER 256",
                "JITTER is out of range, expected percent",
            ),
            ("RQ.SETUP q JITTER -1", "JITTER is out of range"),
            (
                "RQ.SETUP q JITTER 1.5",
                "JITTER is not an integer: '1.5', expected percent",
            ),
            (
                "RQ.SETUP q LEASE 99999999999999999999",
                "LEASE is out of range, expected milliseconds, 0 or more, below 2^47",
            ),
            (
                "RQ.SETUP q MAXLEN 9223372036854775808",
                "MAXLEN is out of range, expected an integer, 0 or more, below 2^63",
            ),
            ("RQ.SETUP q MAXLEN -1", "MAXLEN is out of range"),
            ("RQ.SETUP q MAXBYTES 1k", "MAXBYTES is not an integer"),
            (
                "RQ.SETUP q REJECT DROP",
                "REJECT and DROP are given together",
            ),
            (
                "RQ.SETUP q DROP MAXLEN 1 REJECT",
                "REJECT and DROP are given together",
            ),
            ("RQ.SETUP q DROP DROP", "DROP is given twice"),
            ("RQ.SETUP q DEDUP -1", "DEDUP is out of range"),
            ("RQ.SETUP q EXPIRED", "EXPIRED lacks its value"),
            (
                "RQ.SETUP q EXPIRED REJECT",
                "EXPIRED is 'REJECT', expected DROP or DEAD",
            ),
            ("RQ.SETUP q DEAD", "'DEAD' is unknown"),
            ("RQ.SETUP q DEADMAX -1", "DEADMAX is out of range"),
            ("RQ.SETUP q DEADTTL x", "DEADTTL is not an integer"),
            ("RQ.SETUP q INFLIGHT -1", "INFLIGHT is out of range"),
        ],
        set_up,
    );
}

#[test]
fn factors_are_decimal_numbers() {
    let factor = |text: &str| {
        let change = set_up(&format!("RQ.SETUP q BACKOFF 1 {text} 0"));
        change.map(|change| change.backoff.map(|backoff| backoff.factor))
    };
    for (text, expected) in [
        ("1", 1000),
        ("2", 2000),
        ("1.5", 1500),
        ("1.50", 1500),
        ("1.001", 1001),
        ("999.999", 999_999),
        ("1000", 1_000_000),
        ("1000.0", 1_000_000),
    ] {
        assert_eq!(factor(text), Ok(Some(expected)), "{text}");
    }
    for text in [
        "0",
        "0.999",
        "1000.001",
        "1001",
        "-1",
        "-1.5",
        "1.",
        ".5",
        "1.2345",
        "1.5.",
        "1,5",
        "1e3",
        "01",
        "+2",
        "x",
        "",
        "1.-1",
        "99999999999",
        "4294968",
        "NaN",
    ] {
        let part = "BACKOFF's factor is out of range, expected a number from 1 to 1000";
        let refusal = factor(text).map_err(|refusal| refusal.to_string());
        assert!(refusal.is_err_and(|error| error.contains(part)), "{text}");
    }
}

#[test]
fn consumer_has_two_forms() {
    let parsed = |text: &str| consumer(words(text).as_slice());
    assert_eq!(parsed("RQ.CONSUMER list q"), Ok(ConsumerOf::List));
    assert_eq!(parsed("RQ.CONSUMER DELETE q c"), Ok(ConsumerOf::Delete(3)));
    refused(
        &[
            ("RQ.CONSUMER", "expected: RQ.CONSUMER"),
            (
                "RQ.CONSUMER LIST",
                "LIST lacks its value, expected: RQ.CONSUMER",
            ),
            ("RQ.CONSUMER DELETE", "DELETE lacks its value"),
            ("RQ.CONSUMER LIST q c", "expected: RQ.CONSUMER"),
            ("RQ.CONSUMER DELETE q", "consumer lacks its value"),
            ("RQ.CONSUMER DELETE q c d", "expected: RQ.CONSUMER"),
            ("RQ.CONSUMER DELETE q ", "consumer has 0 bytes"),
            ("RQ.CONSUMER q LIST", "'q' is unknown"),
        ],
        parsed,
    );
}
