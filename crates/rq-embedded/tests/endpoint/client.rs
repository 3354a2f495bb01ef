//! A plain client: requests as bytes, replies as values.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Far longer than any reply takes.
const DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    Status(String),
    Error(String),
    Integer(i64),
    Bytes(Vec<u8>),
    Array(Vec<Reply>),
    Set(Vec<Reply>),
    Map(Vec<(Reply, Reply)>),
    /// `$-1`
    NullBytes,
    /// `*-1`
    NullArray,
    /// `_`
    Null,
}

impl Reply {
    pub(crate) fn bytes(bytes: impl AsRef<[u8]>) -> Self {
        Reply::Bytes(bytes.as_ref().to_vec())
    }

    pub(crate) fn list(&self) -> &[Reply] {
        match self {
            Reply::Array(list) => list,
            other => panic!("expected an array, got {other:?}"),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Reply::Bytes(bytes) => String::from_utf8(bytes.clone()).unwrap(),
            other => panic!("expected bytes, got {other:?}"),
        }
    }

    pub(crate) fn error(&self) -> &str {
        match self {
            Reply::Error(text) => text,
            other => panic!("expected an error, got {other:?}"),
        }
    }

    /// The payloads of rows: key, ID, payload.
    pub(crate) fn payloads(&self) -> Vec<String> {
        self.list().iter().map(|row| row.list()[2].text()).collect()
    }
}

pub(crate) struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    pub(crate) fn connect(socket: &Path) -> Self {
        // A path of any length, as clients of the package do.
        let directory = File::open(socket.parent().unwrap()).unwrap();
        let short = format!("/proc/self/fd/{}/socket", directory.as_raw_fd());
        let stream = UnixStream::connect(short).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.set_write_timeout(Some(DEADLINE)).unwrap();
        Self {
            stream: BufReader::new(stream),
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    pub(crate) fn request(&mut self, words: &[&[u8]]) {
        self.send(&request(words));
    }

    /// Sends words without blanks in them, and takes the reply.
    pub(crate) fn ask(&mut self, line: &str) -> Reply {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        self.request(&words);
        self.reply()
    }

    /// Sends a command that waits, and goes on when the endpoint has begun to execute it: what is
    /// sent together is executed together, and the first reply comes afterwards.
    pub(crate) fn begin(&mut self, line: &str) {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut both = request(&[b"PING"]);
        both.extend(request(&words));
        self.send(&both);
        assert_eq!(self.reply(), Reply::Status("PONG".to_owned()));
    }

    pub(crate) fn reply(&mut self) -> Reply {
        let line = self.line();
        let (mark, rest) = line.split_at(1);
        let number = || rest.parse::<i64>().unwrap();
        let length = || usize::try_from(number()).unwrap();
        match mark {
            "+" => Reply::Status(rest.to_owned()),
            "-" => Reply::Error(rest.to_owned()),
            ":" => Reply::Integer(number()),
            "_" => Reply::Null,
            "$" if rest == "-1" => Reply::NullBytes,
            "$" => {
                let mut bytes = vec![0; length() + 2];
                self.stream.read_exact(&mut bytes).unwrap();
                assert_eq!(bytes.split_off(bytes.len() - 2), b"\r\n");
                Reply::Bytes(bytes)
            }
            "*" if rest == "-1" => Reply::NullArray,
            "*" => Reply::Array((0..length()).map(|_| self.reply()).collect()),
            "~" => Reply::Set((0..length()).map(|_| self.reply()).collect()),
            "%" => Reply::Map(
                (0..length())
                    .map(|_| (self.reply(), self.reply()))
                    .collect(),
            ),
            _ => panic!("no reply: {line:?}"),
        }
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.strip_suffix("\r\n").unwrap().to_owned()
    }

    /// Whether the other side has closed.
    pub(crate) fn is_closed(&mut self) -> bool {
        match self.stream.read(&mut [0]) {
            Ok(count) => count == 0,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }

    pub(crate) fn stream(&self) -> &UnixStream {
        self.stream.get_ref()
    }
}

pub(crate) fn request(words: &[&[u8]]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        out.extend(format!("${}\r\n", word.len()).into_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
    out
}
