//! Replies as bytes of RESP2 or RESP3.

use std::fmt;
use std::io::Write;

use rq_command::reply::Sink;

/// What a client understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Protocol {
    #[default]
    Two,
    Three,
}

impl Protocol {
    pub(super) fn number(self) -> u64 {
        match self {
            Protocol::Two => 2,
            Protocol::Three => 3,
        }
    }
}

/// Where the replies to a client go.
pub(super) struct Reply<'a> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) protocol: Protocol,
}

impl Reply<'_> {
    /// A short word, such as `OK`.
    pub(super) fn status(&mut self, text: &str) {
        self.line(b'+', text);
    }

    /// An error: a stable word, and a text.
    pub(super) fn error(&mut self, error: impl fmt::Display) {
        let text = error.to_string().replace(['\r', '\n'], " ");
        self.line(b'-', text);
    }

    /// A set of so many elements follows.
    pub(super) fn set(&mut self, length: usize) {
        self.line(self.by_protocol(b'*', b'~'), length);
    }

    /// A number that may be below zero.
    pub(super) fn signed(&mut self, number: i64) {
        self.line(b':', number);
    }

    /// Rows that were rendered already.
    pub(super) fn rows(&mut self, count: u64, rows: &[u8]) {
        self.line(b'*', count);
        self.out.extend_from_slice(rows);
    }

    fn by_protocol<T>(&self, two: T, three: T) -> T {
        match self.protocol {
            Protocol::Two => two,
            Protocol::Three => three,
        }
    }

    fn line(&mut self, mark: u8, content: impl fmt::Display) {
        self.out.push(mark);
        // Writing into memory never fails.
        let _ = write!(self.out, "{content}\r\n");
    }
}

impl Sink for Reply<'_> {
    fn array(&mut self, length: usize) {
        self.line(b'*', length);
    }

    fn map(&mut self, pairs: usize) {
        match self.protocol {
            Protocol::Two => self.line(b'*', pairs * 2),
            Protocol::Three => self.line(b'%', pairs),
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.line(b'$', bytes.len());
        self.out.extend_from_slice(bytes);
        self.out.extend_from_slice(b"\r\n");
    }

    fn integer(&mut self, number: u64) {
        self.line(b':', number);
    }

    fn word(&mut self, word: &'static str) {
        self.status(word);
    }

    fn null(&mut self) {
        let null: &[u8] = self.by_protocol(b"*-1\r\n", b"_\r\n");
        self.out.extend_from_slice(null);
    }

    fn null_bytes(&mut self) {
        let null: &[u8] = self.by_protocol(b"$-1\r\n", b"_\r\n");
        self.out.extend_from_slice(null);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(protocol: Protocol, render: impl FnOnce(&mut Reply<'_>)) -> String {
        let mut out = Vec::new();
        render(&mut Reply {
            out: &mut out,
            protocol,
        });
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_kind_in_both_protocols() {
        type Render = fn(&mut Reply<'_>);
        let kinds: [(Render, &str, &str); 9] = [
            (|reply| reply.array(2), "*2\r\n", "*2\r\n"),
            (|reply| reply.map(2), "*4\r\n", "%2\r\n"),
            (|reply| reply.set(2), "*2\r\n", "~2\r\n"),
            (
                |reply| reply.bytes(b"a\r\n"),
                "$3\r\na\r\n\r\n",
                "$3\r\na\r\n\r\n",
            ),
            (|reply| reply.integer(7), ":7\r\n", ":7\r\n"),
            (|reply| reply.null(), "*-1\r\n", "_\r\n"),
            (|reply| reply.null_bytes(), "$-1\r\n", "_\r\n"),
            (|reply| reply.status("OK"), "+OK\r\n", "+OK\r\n"),
            (
                |reply| reply.rows(1, b":1\r\n"),
                "*1\r\n:1\r\n",
                "*1\r\n:1\r\n",
            ),
        ];
        for (render, two, three) in kinds {
            assert_eq!(rendered(Protocol::Two, render), two);
            assert_eq!(rendered(Protocol::Three, render), three);
        }
    }

    #[test]
    fn an_error_has_one_line() {
        let reply = rendered(Protocol::Two, |reply| reply.error("ERR a\r\nb"));
        assert_eq!(reply, "-ERR a  b\r\n");
    }
}
