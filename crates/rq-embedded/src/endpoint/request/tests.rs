use super::*;

/// All requests in some bytes that come in pieces, and how it ended.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Vec<Vec<u8>>>, Option<Malformed>) {
    let (mut requests, mut found) = (Requests::default(), Vec::new());
    for piece in pieces {
        requests.add(piece);
        loop {
            match requests.next() {
                Ok(false) => break,
                Ok(true) => {
                    let words = requests.words();
                    let words = words.several(0..words.count()).map(<[u8]>::to_vec);
                    found.push(words.collect());
                    requests.done();
                }
                Err(malformed) => return (found, Some(malformed)),
            }
        }
        requests.shrink();
    }
    (found, None)
}

fn words(words: &[&[u8]]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.to_vec()).collect()
}

fn refused(bytes: &[u8]) -> String {
    read([bytes]).1.unwrap().to_string()
}

#[test]
fn requests_are_the_same_wherever_they_are_cut() {
    let bytes: &[u8] = b"*2\r\n$4\r\nPING\r\n$0\r\n\r\n\r\n*0\r\n*-1\r\nget \"a b\" 'c'\r\n*1\r\n$6\r\na\r\n$b*\r\nQUIT\n";
    let expected = [
        words(&[b"PING", b""]),
        words(&[b"get", b"a b", b"c"]),
        words(&[b"a\r\n$b*"]),
        words(&[b"QUIT"]),
    ];
    assert_eq!(read([bytes]), (expected.to_vec(), None));
    assert_eq!(read(bytes.chunks(1)), (expected.to_vec(), None));
    for first in 0..=bytes.len() {
        for second in first..=bytes.len() {
            let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
            assert_eq!(read(pieces).0, expected, "cut at {first} and {second}");
        }
    }
}

#[test]
fn an_incomplete_request_is_none() {
    let bytes: &[u8] = b"*2\r\n$4\r\nPING\r\n$3\r\nabc\r\n";
    for end in 0..bytes.len() {
        assert_eq!(read([&bytes[..end]]), (vec![], None), "{end}");
    }
}

#[test]
fn typed_words_have_quotes_and_escapes() {
    let cases: [(&[u8], &[&[u8]]); 7] = [
        (b"  a   b\t c \r\n", &[b"a", b"b", b"c"]),
        (b"\"\" ''\n", &[b"", b""]),
        (
            b"\"\\x00\\xfF\\n\\r\\t\\a\\b\\\\\\\"\"\n",
            &[b"\x00\xff\n\r\t\x07\x08\\\""],
        ),
        (b"\"\\xg1\"\n", &[b"xg1"]),
        (b"'\\n\\'\"'\n", &[b"\\n'\""]),
        (b"a\"b c\"\n", &[b"ab c"]),
        (b"\\x41\n", &[b"\\x41"]),
    ];
    for (line, expected) in cases {
        assert_eq!(read([line]), (vec![words(expected)], None), "{line:?}");
    }
    for line in [
        &b"\"a\n"[..],
        b"'a\n",
        b"\"a\"b\n",
        b"'a'\"b\"\n",
        b"\"a\\\"\n",
    ] {
        assert_eq!(read([line]).1, Some(Malformed::Quotes), "{line:?}");
    }
}

#[test]
fn what_is_no_request_is_refused() {
    for (bytes, expected) in [
        (&b"*x\r\n"[..], "invalid multibulk length"),
        (b"*\r\n", "invalid multibulk length"),
        (b"*1048577\r\n", "invalid multibulk length"),
        (b"*1\r\n$536870913\r\n", "invalid bulk length"),
        (b"*1\r\n$-1\r\n", "invalid bulk length"),
        (b"*1\r\n$a\r\n", "invalid bulk length"),
        (b"*1\r\n:1\r\n", "expected '$', got ':'"),
        (b"*1\r\n\r\n", "expected '$', got '\\r'"),
    ] {
        assert_eq!(refused(bytes), format!("Protocol error: {expected}"));
    }
}

#[test]
fn lengths_and_lines_without_end_are_refused() {
    let mut endless = vec![b'*'];
    endless.resize(LONGEST_LENGTH, b'1');
    assert_eq!(read([&endless[..]]).1, Some(Malformed::Arguments));
    assert_eq!(read([&endless[..LONGEST_LENGTH - 1]]).1, None);
    let mut line = vec![b'a'; LONGEST_LINE];
    assert_eq!(read([&line[..]]).1, None);
    line.push(b'a');
    assert_eq!(read([&line[..]]).1, Some(Malformed::Line));
}

#[test]
fn what_came_before_a_malformed_request_counts() {
    let (found, malformed) = read([&b"PING\r\n*1\r\n!"[..]]);
    assert_eq!(found, [words(&[b"PING"])]);
    assert_eq!(malformed, Some(Malformed::NotAnArgument(b'!')));
}

#[test]
fn a_request_of_a_million_words_is_read() {
    let mut bytes = format!("*{MOST_ARGUMENTS}\r\n").into_bytes();
    for _ in 0..MOST_ARGUMENTS {
        bytes.extend_from_slice(b"$1\r\na\r\n");
    }
    let (found, malformed) = read(bytes.chunks(60_000));
    assert_eq!((found.len(), malformed), (1, None));
    assert_eq!(found[0].len(), MOST_ARGUMENTS);
}

#[test]
fn a_request_of_many_large_words_is_bounded() {
    // Two of the longest words are too many, with what is said about them.
    assert!(!exceeds(4 + 12, LONGEST));
    assert!(!exceeds(LARGEST - 1, 1));
    assert!(exceeds(4 + 12 + LONGEST + 2 + 12, LONGEST));
}

#[test]
fn room_of_large_requests_is_given_back() {
    let mut requests = Requests::default();
    requests.add(b"*1\r\n$1000000\r\n");
    requests.add(&vec![b'a'; 1_000_002]);
    assert_eq!(requests.next(), Ok(true));
    assert_eq!(requests.words().at(0).len(), 1_000_000);
    requests.done();
    requests.shrink();
    assert_eq!(requests.bytes.capacity(), 0);
}
