use super::*;

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
        ("RQ.POP COUNT x q", "COUNT is not an integer"),
        ("RQ.POP COUNT 0 q", "positive"),
        ("RQ.POP COUNT -1 q", "positive"),
        ("RQ.POP 0 q", "positive"),
        ("RQ.POP -3 q", "positive"),
        ("RQ.POP BLOCK -1 q", "0 or more"),
        ("RQ.POP BLOCK 1.5 q", "BLOCK is not an integer"),
        (
            "RQ.POP COUNT 9223372036854775808 q",
            "COUNT is out of range, expected a positive integer below 2^63",
        ),
        ("RQ.POP COUNT 5", "a key is missing, expected: RQ.POP"),
        ("RQ.POP KEYS 0", "KEYS is out of range"),
        ("RQ.POP KEYS 1", "KEYS says 1, but 0 follow"),
        ("RQ.POP KEYS -1 q", "KEYS is out of range"),
        ("RQ.POP COUNT 1 COUNT 2 q", "twice"),
        ("RQ.POP WITHMETA WITHMETA q", "twice"),
        ("RQ.POP KEYS 2 q", "KEYS says 2, but 1 follow"),
        ("RQ.POP KEYS 1 a b", "KEYS says 1, but 2 follow"),
        ("RQ.POP q COUNT 5", "COUNT stands among the keys"),
        ("RQ.POP 10 COUNT 5", "COUNT stands among the keys"),
        ("RQ.POP a block", "block stands among the keys"),
        ("RQ.POP 99999999999999999999 q", "COUNT is out of range"),
        ("RQ.POP 007 q", "COUNT is not an integer: '007'"),
        ("RQ.POP a COUNT 5", "COUNT stands among the keys behind 'a'"),
        ("RQ.POP KEYS 0 a", "positive"),
    ] {
        let error = popped(text).unwrap_err();
        assert!(
            error.starts_with("ERR ") && error.contains(part),
            "{text}: {error}"
        );
    }
}

fn simple() -> Pop {
    Pop {
        count: 1,
        block: None,
        consumer: None,
        lease: None,
        no_ack: false,
        prefetch: false,
        max_bytes: None,
        with_meta: false,
        keys: 1..2,
    }
}

#[test]
fn pop_knows_who_takes_and_for_how_long() {
    let parsed = |text: &str| pop(words(text).as_slice());
    assert_eq!(parsed("RQ.POP q"), Ok(simple()));
    let all = Pop {
        count: 3,
        block: Some(5),
        consumer: Some(6),
        lease: Some(0),
        prefetch: true,
        max_bytes: Some(1),
        with_meta: true,
        keys: 15..17,
        ..simple()
    };
    let text =
        "RQ.POP prefetch COUNT 3 withmeta Consumer c LEASE 0 BLOCK 5 MAXBYTES 1 KEYS 2 a LEASE";
    assert_eq!(parsed(text), Ok(all));
    let text = "RQ.POP LEASE 140737488355327 CONSUMER COUNT q";
    let leased = Pop {
        lease: Some((1 << 47) - 1),
        consumer: Some(4),
        keys: 5..6,
        ..simple()
    };
    assert_eq!(parsed(text), Ok(leased));
    let gone = Pop {
        no_ack: true,
        keys: 2..3,
        ..simple()
    };
    assert_eq!(parsed("RQ.POP noack q"), Ok(gone));
    for name in ["CONSUMER", "LEASE", "NOACK", "PREFETCH", "MAXBYTES"] {
        assert_eq!(parsed(&format!("RQ.POP {name}")), Ok(simple()), "{name}");
    }
}

#[test]
fn pop_says_what_its_options_take() {
    let longest = format!("RQ.POP CONSUMER {} q", "c".repeat(1024));
    assert!(pop(words(&longest).as_slice()).is_ok());
    let long = format!("RQ.POP CONSUMER {} q", "c".repeat(1025));
    refused(
        &[
            (long.as_str(), "CONSUMER has 1025 bytes, expected 1 to 1024"),
            ("RQ.POP CONSUMER  q", "CONSUMER has 0 bytes"),
            ("RQ.POP CONSUMER c", "expected: RQ.POP"),
            ("RQ.POP LEASE -1 q", "LEASE is out of range"),
            ("RQ.POP LEASE 140737488355328 q", "LEASE is out of range"),
            ("RQ.POP LEASE x q", "LEASE is not an integer"),
            ("RQ.POP MAXBYTES 0 q", "MAXBYTES is out of range"),
            ("RQ.POP NOACK LEASE 5 q", "NOACK and LEASE"),
            ("RQ.POP PREFETCH NOACK KEYS 1 q", "NOACK and PREFETCH"),
            ("RQ.POP NOACK NOACK q", "NOACK is given twice"),
            ("RQ.POP LEASE 1 LEASE 1 q", "LEASE is given twice"),
            ("RQ.POP q PREFETCH", "PREFETCH stands among the keys"),
            ("RQ.POP 5 q noack", "noack stands among the keys"),
            ("RQ.POP q CONSUMER c", "CONSUMER stands among the keys"),
        ],
        |text| pop(words(text).as_slice()),
    );
}

#[test]
fn claim_knows_owner_and_messages() {
    let parsed = |text: &str| listed(text, |words, receipts| claim(words, receipts));
    let simple = Claim {
        consumer: 2,
        min_idle: 0,
        lease: None,
        with_meta: false,
        named: Named::Receipts,
    };
    assert_eq!(
        parsed("RQ.CLAIM q IDS 0 IDS 2 1-1 2-2@3"),
        Ok((simple.clone(), vec![receipt(1, 1, 0), receipt(2, 2, 3)]))
    );
    let all = Claim {
        min_idle: 50,
        lease: Some(7),
        with_meta: true,
        named: Named::Tokens(9..10),
        ..simple
    };
    let text = "RQ.CLAIM q c 50 withmeta lease 7 tokens 1 t";
    assert_eq!(parsed(text), Ok((all, vec![])));
    refused(
        &[
            ("RQ.CLAIM q c", "expected: RQ.CLAIM"),
            (
                "RQ.CLAIM q c 0",
                "IDS or TOKENS is missing, expected: RQ.CLAIM",
            ),
            ("RQ.CLAIM q c 0 IDS", "IDS lacks its value"),
            ("RQ.CLAIM q c 0 IDS 0", "IDS is out of range"),
            ("RQ.CLAIM q c 0 IDS 1", "IDS says 1, but 0 follow"),
            ("RQ.CLAIM q c 0 TOKENS 0", "TOKENS is out of range"),
            ("RQ.CLAIM q c 0 LEASE", "LEASE lacks its value"),
            ("RQ.CLAIM q  0 IDS 1 1-1", "consumer has 0 bytes"),
            ("RQ.CLAIM q c -1 IDS 1 1-1", "min-idle is out of range"),
            ("RQ.CLAIM q c x IDS 1 1-1", "min-idle is not an integer"),
            ("RQ.CLAIM q c 0 LEASE -1 IDS 1 1-1", "LEASE is out of range"),
            (
                "RQ.CLAIM q c 0 LEASE 1 LEASE 1 IDS 1 1-1",
                "LEASE is given twice",
            ),
            ("RQ.CLAIM q c 0 WITHMETA LEASE 1", "expected: RQ.CLAIM"),
            (
                "RQ.CLAIM q c 0 IDS 1 1-1 WITHMETA",
                "IDS says 1, but 2 follow",
            ),
            ("RQ.CLAIM q c 0 1-1 2-2 3-3", "'1-1' is unknown"),
        ],
        parsed,
    );
}

#[test]
fn recover_takes_options_behind_its_numbers() {
    let parsed = |text: &str| recover(words(text).as_slice());
    let simple = Recover {
        count: 5,
        elapsed: 0,
        lease: None,
        consumer: None,
        from: None,
        with_meta: false,
    };
    assert_eq!(parsed("RQ.RECOVER q 5 0"), Ok(simple.clone()));
    let all = Recover {
        elapsed: 100,
        lease: Some(9),
        consumer: Some(8),
        from: Some(5),
        with_meta: true,
        ..simple
    };
    let text = "RQ.RECOVER q 5 100 from FROM withmeta CONSUMER me LEASE 9";
    assert_eq!(parsed(text), Ok(all));
    refused(
        &[
            ("RQ.RECOVER q 5", "expected: RQ.RECOVER"),
            ("RQ.RECOVER q 0 0", "count is out of range"),
            ("RQ.RECOVER q 1 -1", "elapsed is out of range"),
            ("RQ.RECOVER q 1 0 FROM", "FROM lacks its value"),
            ("RQ.RECOVER q 1 0 CONSUMER ", "CONSUMER has 0 bytes"),
            ("RQ.RECOVER q 1 0 LEASE 1.5", "LEASE is not an integer"),
            ("RQ.RECOVER q 1 0 FROM a FROM b", "FROM is given twice"),
            ("RQ.RECOVER q 1 0 COUNT 5", "'COUNT' is unknown"),
        ],
        parsed,
    );
}

#[test]
fn registering_and_waiting() {
    assert_eq!(register(words("RQ.REGISTER").as_slice()), 1..1);
    assert_eq!(register(words("RQ.REGISTER a b a").as_slice()), 1..4);
    let parsed = |text: &str| notify(words(text).as_slice());
    assert_eq!(parsed("RQ.NOTIFY 0"), Ok(0));
    assert_eq!(parsed("RQ.NOTIFY 500"), Ok(500));
    refused(
        &[
            ("RQ.NOTIFY", "expected: RQ.NOTIFY milliseconds"),
            ("RQ.NOTIFY 1 2", "expected: RQ.NOTIFY milliseconds"),
            ("RQ.NOTIFY -1", "milliseconds is out of range"),
            ("RQ.NOTIFY x", "milliseconds is not an integer"),
        ],
        parsed,
    );
}
