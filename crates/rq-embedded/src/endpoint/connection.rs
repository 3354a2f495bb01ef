//! A client's connection: what came from it, and what is to be sent.

use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;

use mio::net::UnixStream;
use mio::{Interest, Registry, Token};
use rq_command::Refusal;

use super::commands::Session;
use super::request::Requests;
use crate::fork;

/// A connection with so many bytes to send is not read from.
const UNSENT: usize = 1 << 20;
/// Bytes of room that stay with a connection that has nothing to send.
const KEPT: usize = 64 << 10;

/// A connection.
pub(super) struct Connection {
    stream: UnixStream,
    /// Its place among the descriptors that a forked child closes.
    entry: fork::Entry,
    pub(super) session: Session,
    pub(super) requests: Requests,
    pub(super) out: Vec<u8>,
    /// Bytes of `out` that were sent.
    sent: usize,
    /// Replies in `out` that are not true before what they tell is durable.
    unsettled: Vec<Range<usize>>,
    /// There may be more to read.
    readable: bool,
    /// The system is to tell when it can be written to.
    blocked: bool,
    /// The client sends nothing more; there may be something to read nevertheless.
    pub(super) hung_up: bool,
    /// All that it sent was read.
    ended: bool,
    /// There may be requests that came and were not looked at.
    pub(super) unread: bool,
    /// It ends when all is sent.
    pub(super) closing: bool,
}

impl Connection {
    pub(super) fn new(
        mut stream: UnixStream,
        entry: fork::Entry,
        client: usize,
        registry: &Registry,
    ) -> io::Result<Self> {
        registry.register(&mut stream, Token(client), Interest::READABLE)?;
        Ok(Self {
            stream,
            entry,
            session: Session::new(client),
            requests: Requests::default(),
            out: Vec::new(),
            sent: 0,
            unsettled: Vec::new(),
            readable: true,
            blocked: false,
            hung_up: false,
            ended: false,
            unread: false,
            closing: false,
        })
    }

    pub(super) fn close(mut self, registry: &Registry) {
        let _ = registry.deregister(&mut self.stream);
        let stream = self.stream;
        fork::close(self.entry, || drop(stream));
    }

    // ---- reading ----

    /// There is something to read.
    pub(super) fn wake(&mut self, hung_up: bool) {
        self.readable = true;
        self.hung_up |= hung_up;
    }

    /// Whether its next request may be looked at.
    pub(super) fn is_open(&self) -> bool {
        !self.closing && self.out.len() - self.sent < UNSENT
    }

    /// Whether there is something to do, as far as is known.
    pub(super) fn is_busy(&self) -> bool {
        self.is_open() && (self.readable || self.unread || self.ended)
    }

    /// Reads once, so that others get their turn.
    pub(super) fn receive(&mut self, room: &mut [u8]) -> io::Result<()> {
        if !self.readable || !self.is_open() {
            return Ok(());
        }
        match self.stream.read(room) {
            Ok(0) => {
                self.readable = false;
                (self.ended, self.hung_up) = (true, true);
            }
            Ok(count) => {
                // Less than there was room for: nothing is left, but perhaps the end.
                self.readable = count == room.len() || self.hung_up;
                self.requests.add(room.get(..count).unwrap_or_default());
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => self.readable = false,
                ErrorKind::Interrupted => {}
                _ => return Err(error),
            },
        }
        Ok(())
    }

    /// All requests were looked at that came.
    pub(super) fn all_read(&mut self) {
        self.unread = false;
        self.closing |= self.ended;
    }

    // ---- sending ----

    /// The reply from there on is true when all that is stored is durable, not before.
    pub(super) fn hold(&mut self, from: usize) {
        self.unsettled.push(from..self.out.len());
    }

    pub(super) fn is_settled(&self) -> bool {
        self.unsettled.is_empty()
    }

    /// What replies told is durable, or is not.
    pub(super) fn settle(&mut self, failed: Option<&Refusal>) {
        let unsettled = std::mem::take(&mut self.unsettled);
        let Some(refusal) = failed else { return };
        let told = std::mem::take(&mut self.out);
        let mut at = 0;
        for reply in unsettled {
            let before = told.get(at..reply.start).unwrap_or_default();
            self.out.extend_from_slice(before);
            self.session.reply(&mut self.out).error(refusal);
            at = reply.end;
        }
        self.out
            .extend_from_slice(told.get(at..).unwrap_or_default());
    }

    /// Sends what it can; whether the connection goes on.
    pub(super) fn send(&mut self, registry: &Registry) -> io::Result<bool> {
        while self.sent < self.out.len() {
            let rest = self.out.get(self.sent..).unwrap_or_default();
            match self.stream.write(rest) {
                Ok(count) => self.sent += count,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => {
                        self.await_writable(registry, true)?;
                        return Ok(true);
                    }
                    ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
            }
        }
        self.await_writable(registry, false)?;
        self.out.clear();
        self.out.shrink_to(KEPT);
        self.sent = 0;
        Ok(!self.closing)
    }

    fn await_writable(&mut self, registry: &Registry, blocked: bool) -> io::Result<()> {
        if self.blocked == blocked {
            return Ok(());
        }
        self.blocked = blocked;
        let interest = match blocked {
            true => Interest::READABLE | Interest::WRITABLE,
            false => Interest::READABLE,
        };
        let token = Token(self.session.client);
        registry.reregister(&mut self.stream, token, interest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mio::Poll;
    use rq_command::Code;
    use std::os::fd::AsRawFd;

    fn replies(failed: Option<&Refusal>) -> String {
        let poll = Poll::new().unwrap();
        let (stream, mut other) = UnixStream::pair().unwrap();
        let opened = fork::open(|| io::Result::Ok(stream), AsRawFd::as_raw_fd);
        let (stream, entry) = opened.unwrap();
        let mut connection = Connection::new(stream, entry, 1, poll.registry()).unwrap();
        for (reply, held) in [("+a", false), ("+b", true), ("+c", true), ("+d", false)] {
            let from = connection.out.len();
            connection.out.extend_from_slice(reply.as_bytes());
            connection.out.extend_from_slice(b"\r\n");
            if held {
                connection.hold(from);
            }
        }
        assert!(!connection.is_settled());
        connection.settle(failed);
        assert!(connection.is_settled());
        assert!(connection.send(poll.registry()).unwrap());
        connection.close(poll.registry());
        let mut sent = String::new();
        other.read_to_string(&mut sent).unwrap();
        sent
    }

    #[test]
    fn what_is_not_durable_is_not_told() {
        let refusal = Refusal::new(Code::Poisoned, "why");
        let expected = "+a\r\n-POISONED why\r\n-POISONED why\r\n+d\r\n";
        assert_eq!(replies(Some(&refusal)), expected);
        assert_eq!(replies(None), "+a\r\n+b\r\n+c\r\n+d\r\n");
    }
}
