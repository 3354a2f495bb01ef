//! Which command a request is, and those that are about the connection.

use std::fmt::Display;

use rq_command::reply::Sink;
use rq_command::{Access, COMMANDS, Verb};

use super::documentation;
use super::dump::{self, Restored};
use super::reply::{Protocol, Reply};
use super::request::Words;
use super::waiters::Waiter;
use crate::engine::Sync;

/// A request.
#[derive(Debug)]
pub(super) enum Command {
    /// It is about queues.
    Queues(Operation),
    /// It is about the connection.
    Connection(Topic),
}

/// A command about queues.
#[derive(Debug)]
pub(super) enum Operation {
    /// One of `RQ.*`.
    Table(Verb),
    Dump,
    /// Read before the lock is taken, since that takes its time.
    Restore(Box<Restored>),
}

/// A command about the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Hello,
    Ping,
    Client,
    Commands,
    Select,
    Quit,
}

/// What is to be done beside sending the reply.
pub(super) enum Outcome {
    /// Nothing.
    Done,
    /// Clients that asked for it get the reply when all that is stored so far is durable.
    Durable,
    /// There is no reply yet: the client waits.
    Wait(Waiter),
    /// Changes are to be durable at least so soon.
    Sync(Sync),
    /// The connection ends when the reply is sent.
    Close,
}

/// Those about the connection: name, the fewest and the most words.
const TOPICS: [(Topic, &str, usize, usize); 6] = [
    (Topic::Hello, "hello", 1, usize::MAX),
    (Topic::Ping, "ping", 1, 2),
    (Topic::Client, "client", 2, usize::MAX),
    (Topic::Commands, "command", 1, usize::MAX),
    (Topic::Select, "select", 2, 2),
    (Topic::Quit, "quit", 1, usize::MAX),
];

/// The commands of the table that clients may send.
pub(super) fn of_queues() -> impl Iterator<Item = &'static rq_command::Command> {
    COMMANDS.iter().filter(|each| each.access != Access::Admin)
}

/// Which command a request is. The number of arguments of `RQ.*` is checked by their parsers.
pub(super) fn find(words: Words<'_>) -> Result<Command, String> {
    if let Some(found) = of_queues().find(|each| words.is(0, each.name)) {
        return Ok(Command::Queues(Operation::Table(found.verb)));
    }
    if words.is(0, "dump") {
        expect(words, 2, "dump")?;
        return Ok(Command::Queues(Operation::Dump));
    }
    if words.is(0, "restore") {
        if words.count() < 4 {
            return Err(wrong_number("restore"));
        }
        let restored = Box::new(dump::read(words)?);
        return Ok(Command::Queues(Operation::Restore(restored)));
    }
    match TOPICS.iter().find(|(_, name, ..)| words.is(0, name)) {
        None => Err(unknown(words)),
        Some(&(topic, _, least, most)) if (least..=most).contains(&words.count()) => {
            Ok(Command::Connection(topic))
        }
        Some((_, name, ..)) => Err(wrong_number(name)),
    }
}

/// What a client told about itself.
pub(super) struct Session {
    pub(super) client: usize,
    pub(super) protocol: Protocol,
    /// Its pushes and acknowledgements are durable before they are answered.
    pub(super) always: bool,
    /// The queues that it is a consumer of, in the order in which it said so.
    pub(super) registered: Vec<Box<[u8]>>,
    /// The name by which it last took messages; empty for none.
    pub(super) consumer: Box<[u8]>,
    name: Vec<u8>,
}

impl Session {
    pub(super) fn new(client: usize) -> Self {
        Self {
            client,
            protocol: Protocol::default(),
            always: false,
            registered: Vec::new(),
            consumer: Box::default(),
            name: Vec::new(),
        }
    }

    /// Executes a command about the connection. An error is the whole reply.
    pub(super) fn execute(
        &mut self,
        topic: Topic,
        words: Words<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, String> {
        let reply = &mut self.reply(out);
        match topic {
            Topic::Hello => self.hello(words, out)?,
            Topic::Client => return self.client(words, out),
            Topic::Commands => documentation::execute(words, reply)?,
            Topic::Ping if words.count() == 1 => reply.status("PONG"),
            Topic::Ping => reply.bytes(words.at(1)),
            Topic::Select => {
                select(words)?;
                reply.status("OK");
            }
            Topic::Quit => {
                reply.status("OK");
                return Ok(Outcome::Close);
            }
        }
        Ok(Outcome::Done)
    }

    pub(super) fn reply<'a>(&self, out: &'a mut Vec<u8>) -> Reply<'a> {
        let protocol = self.protocol;
        Reply { out, protocol }
    }

    /// `HELLO [protocol [AUTH user password] [SETNAME name]]`
    fn hello(&mut self, words: Words<'_>, out: &mut Vec<u8>) -> Result<(), String> {
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
        Ok(())
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
    fn client(&mut self, words: Words<'_>, out: &mut Vec<u8>) -> Result<Outcome, String> {
        let mut outcome = Outcome::Done;
        if words.is(1, "SETINFO") {
            expect(words, 4, "client|setinfo")?;
            outcome = self.set_information(words)?;
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
        Ok(outcome)
    }

    /// What a library is called is taken, and told to nobody.
    fn set_information(&mut self, words: Words<'_>) -> Result<Outcome, String> {
        if words.is(2, "LIB-NAME") || words.is(2, "LIB-VER") {
            return Ok(Outcome::Done);
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
        Ok(Outcome::Sync(sync))
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
