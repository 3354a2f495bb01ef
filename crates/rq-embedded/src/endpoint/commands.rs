//! Which command a request is, and those that are about the connection.

use std::fmt::Display;

use rq_command::reply::Sink;
use rq_command::{Access, COMMANDS, Verb};

use super::documentation;
use super::reply::{Protocol, Reply};
use super::request::Words;
use crate::engine::Sync;

/// A command that the endpoint answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    /// One of `RQ.*`.
    Queue(Verb),
    Dump,
    Restore,
    Hello,
    Ping,
    Client,
    Describe,
    Select,
    Quit,
}

/// Those beside `RQ.*`: name, the fewest and the most words.
const OTHERS: [(Command, &str, usize, usize); 8] = [
    (Command::Dump, "dump", 2, 2),
    (Command::Restore, "restore", 4, usize::MAX),
    (Command::Hello, "hello", 1, usize::MAX),
    (Command::Ping, "ping", 1, 2),
    (Command::Client, "client", 2, usize::MAX),
    (Command::Describe, "command", 1, usize::MAX),
    (Command::Select, "select", 2, 2),
    (Command::Quit, "quit", 1, usize::MAX),
];

/// The commands of the table that clients may send.
pub(super) fn of_queues() -> impl Iterator<Item = &'static rq_command::Command> {
    COMMANDS.iter().filter(|each| each.access != Access::Admin)
}

/// Which command a request is. The number of arguments of `RQ.*` is checked by their parsers.
pub(super) fn find(words: Words<'_>) -> Result<Command, String> {
    if let Some(found) = of_queues().find(|each| words.is(0, each.name)) {
        return Ok(Command::Queue(found.verb));
    }
    match OTHERS.iter().find(|(_, name, ..)| words.is(0, name)) {
        None => Err(unknown(words)),
        Some(&(found, _, least, most)) if (least..=most).contains(&words.count()) => Ok(found),
        Some((_, name, ..)) => Err(wrong_number(name)),
    }
}

/// What a client told about itself.
pub(super) struct Session {
    pub(super) client: usize,
    pub(super) protocol: Protocol,
    /// Its pushes and acknowledgements are durable before they are answered.
    pub(super) always: bool,
    name: Vec<u8>,
}

/// What is to be done beside sending the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    Nothing,
    /// Changes are to be durable at least so soon.
    Sync(Sync),
    /// The connection ends when the reply is sent.
    Close,
}

impl Session {
    pub(super) fn new(client: usize) -> Self {
        Self {
            client,
            protocol: Protocol::default(),
            always: false,
            name: Vec::new(),
        }
    }

    /// Executes a command about the connection. An error is the whole reply.
    pub(super) fn execute(
        &mut self,
        command: Command,
        words: Words<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Request, String> {
        if command == Command::Hello {
            return self.hello(words, out);
        }
        let reply = &mut self.reply(out);
        match command {
            Command::Ping if words.count() == 1 => reply.status("PONG"),
            Command::Ping => reply.bytes(words.at(1)),
            Command::Select => {
                select(words)?;
                reply.status("OK");
            }
            Command::Quit => {
                reply.status("OK");
                return Ok(Request::Close);
            }
            Command::Describe => documentation::execute(words, reply)?,
            _ => return self.client(words, out),
        }
        Ok(Request::Nothing)
    }

    pub(super) fn reply<'a>(&self, out: &'a mut Vec<u8>) -> Reply<'a> {
        let protocol = self.protocol;
        Reply { out, protocol }
    }

    /// `HELLO [protocol [AUTH user password] [SETNAME name]]`
    fn hello(&mut self, words: Words<'_>, out: &mut Vec<u8>) -> Result<Request, String> {
        let protocol = match words.at(1) {
            _ if words.count() == 1 => self.protocol,
            b"2" => Protocol::Two,
            b"3" => Protocol::Three,
            other if other.iter().all(u8::is_ascii_digit) => {
                return Err("NOPROTO unsupported protocol version".to_owned());
            }
            _ => {
                return Err("ERR Protocol version is not an integer or out of range".to_owned());
            }
        };
        let (mut at, mut name) = (2, None);
        while at < words.count() {
            let left = words.count() - at - 1;
            if words.is(at, "AUTH") && left >= 2 {
                // The mode of the socket says who may; a password is nothing to refuse for.
                if words.at(at + 1) != b"default" {
                    return Err("WRONGPASS there are no users here but 'default'".to_owned());
                }
                at += 3;
            } else if words.is(at, "SETNAME") && left >= 1 {
                name = Some(checked_name(words.at(at + 1))?);
                at += 2;
            } else {
                return Err(format!(
                    "ERR Syntax error in HELLO option '{}'",
                    shown(words.at(at), 128)
                ));
            }
        }
        self.protocol = protocol;
        if let Some(name) = name {
            self.name = name;
        }
        self.introduce(&mut self.reply(out));
        Ok(Request::Nothing)
    }

    fn introduce(&self, reply: &mut Reply<'_>) {
        let text = |reply: &mut Reply<'_>, name: &str, value: &str| {
            reply.bytes(name.as_bytes());
            reply.bytes(value.as_bytes());
        };
        reply.map(7);
        text(reply, "server", "reliableq");
        text(reply, "version", env!("CARGO_PKG_VERSION"));
        reply.bytes(b"proto");
        reply.integer(self.protocol.number());
        reply.bytes(b"id");
        reply.integer(self.client as u64);
        text(reply, "mode", "standalone");
        text(reply, "role", "master");
        reply.bytes(b"modules");
        reply.array(0);
    }

    /// `CLIENT SETINFO | SETNAME | GETNAME | ID`
    fn client(&mut self, words: Words<'_>, out: &mut Vec<u8>) -> Result<Request, String> {
        let mut request = Request::Nothing;
        if words.is(1, "SETINFO") {
            expect(words, 4, "client|setinfo")?;
            request = self.set_information(words)?;
            self.reply(out).status("OK");
        } else if words.is(1, "SETNAME") {
            expect(words, 3, "client|setname")?;
            self.name = checked_name(words.at(2))?;
            self.reply(out).status("OK");
        } else if words.is(1, "GETNAME") {
            expect(words, 2, "client|getname")?;
            match self.name.as_slice() {
                [] => self.reply(out).null_bytes(),
                name => self.reply(out).bytes(name),
            }
        } else if words.is(1, "ID") {
            expect(words, 2, "client|id")?;
            self.reply(out).integer(self.client as u64);
        } else {
            let expected = "SETINFO, SETNAME, GETNAME or ID";
            return Err(unknown_subcommand(words, expected));
        }
        Ok(request)
    }

    /// What a library is called is taken, and told to nobody.
    fn set_information(&mut self, words: Words<'_>) -> Result<Request, String> {
        if words.is(2, "LIB-NAME") || words.is(2, "LIB-VER") {
            return Ok(Request::Nothing);
        }
        if !words.is(2, "SYNC") {
            let option = shown(words.at(2), 128);
            return Err(format!(
                "ERR Unrecognized option '{option}', expected LIB-NAME, LIB-VER or SYNC"
            ));
        }
        let sync = match words.at(3).to_ascii_lowercase().as_slice() {
            b"always" => Sync::Always,
            b"interval" => Sync::Interval,
            b"os" => Sync::Os,
            other => {
                let other = shown(other, 128);
                return Err(format!(
                    "ERR SYNC is '{other}', expected always, interval or os"
                ));
            }
        };
        self.always = sync == Sync::Always;
        Ok(Request::Sync(sync))
    }
}

fn select(words: Words<'_>) -> Result<(), String> {
    let text = std::str::from_utf8(words.at(1)).ok();
    match text.and_then(|text| text.parse::<i64>().ok()) {
        Some(0) => Ok(()),
        Some(_) => Err("ERR DB index is out of range".to_owned()),
        None => Err("ERR value is not an integer or out of range".to_owned()),
    }
}

/// Reads the options of `RESTORE key ttl data [REPLACE] [ABSTTL] [IDLETIME s] [FREQ n]`: whether to
/// replace.
pub(super) fn restore_options(words: Words<'_>) -> Result<bool, String> {
    if words.at(2) != b"0" {
        return Err("ERR ttl is out of range, expected 0: a queue has no end".to_owned());
    }
    let (mut at, mut replace) = (4, false);
    while at < words.count() {
        // The others are about ends and eviction, of which there are none here.
        if words.is(at, "REPLACE") {
            replace = true;
        } else if (words.is(at, "IDLETIME") || words.is(at, "FREQ")) && at + 1 < words.count() {
            at += 1;
        } else if !words.is(at, "ABSTTL") {
            return Err("ERR syntax error, expected: RESTORE key 0 data [REPLACE]".to_owned());
        }
        at += 1;
    }
    Ok(replace)
}

// ---- errors ----

fn expect(words: Words<'_>, count: usize, name: &str) -> Result<(), String> {
    if words.count() == count {
        Ok(())
    } else {
        Err(wrong_number(name))
    }
}

pub(super) fn wrong_number(name: impl Display) -> String {
    format!("ERR wrong number of arguments for '{name}' command")
}

pub(super) fn unknown_subcommand(words: Words<'_>, expected: &str) -> String {
    let given = shown(words.at(1), 128);
    format!("ERR unknown subcommand '{given}', expected {expected}")
}

fn unknown(words: Words<'_>) -> String {
    let mut text = format!(
        "ERR unknown command '{}', with args beginning with: ",
        shown(words.at(0), 128)
    );
    let mut left = 128_usize;
    for word in words.several(1..words.count()) {
        if left == 0 {
            break;
        }
        let word = shown(word, left);
        left = left.saturating_sub(word.len() + 3);
        text.push_str(&format!("'{word}' "));
    }
    text
}

/// As much of an argument as an error should repeat.
fn shown(text: &[u8], most: usize) -> String {
    String::from_utf8_lossy(text.get(..most).unwrap_or(text)).into_owned()
}

fn checked_name(name: &[u8]) -> Result<Vec<u8>, String> {
    if name.iter().all(u8::is_ascii_graphic) {
        Ok(name.to_vec())
    } else {
        let text = "ERR Client names cannot contain spaces, newlines or special characters.";
        Err(text.to_owned())
    }
}
