//! The shape of a command's description.

use crate::refusal::Code;

/// Which command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// `RQ.PUSH`
    Push,
    /// `RQ.PUSHEX`
    PushExtended,
    /// `RQ.POP`
    Pop,
    /// `RQ.RECOVER`
    Recover,
    /// `RQ.CLAIM`
    Claim,
    /// `RQ.REGISTER`
    Register,
    /// `RQ.NOTIFY`
    Notify,
    /// `RQ.ACK`
    Acknowledge,
    /// `RQ.NACK`
    Nack,
    /// `RQ.EXTEND`
    Extend,
    /// `RQ.FORWARD`
    Forward,
    /// `RQ.INSPECT`
    Inspect,
    /// `RQ.PEEK`
    Peek,
    /// `RQ.GET`
    Get,
    /// `RQ.RANGE`
    Range,
    /// `RQ.SPLIT`
    Split,
    /// `RQ.LEN`
    Length,
    /// `RQ.INFO`
    Info,
    /// `RQ.STATUS`
    Status,
    /// `RQ.DELETE`
    Delete,
    /// `RQ.REDRIVE`
    Redrive,
    /// `RQ.FLUSH`
    Flush,
    /// `RQ.PAUSE`
    Pause,
    /// `RQ.RESUME`
    Resume,
    /// `RQ.SETUP`
    Setup,
    /// `RQ.CONSUMER`
    Consumer,
    /// `RQ.APPLY`
    Apply,
}

/// What a command does to the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It only looks.
    Read,
    /// It changes queues, and shows what is in them.
    Write,
    /// It only looks, or changes queues, as its arguments say.
    Either,
    /// It takes messages away, and shows none of them.
    Remove,
    /// It changes queues, and takes memory: refused when there is none left.
    Grow,
    /// It changes queues on behalf of a server or an operator, not of a client.
    Admin,
}

/// Where the keys stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// One key, the first argument.
    First,
    /// Two keys, the first two arguments.
    FirstTwo,
    /// One key, the second argument.
    Second,
    /// Every argument is a key, and there may be none.
    All,
    /// They move with the options: only the parser knows.
    Moving,
    /// There are none.
    None,
}

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The name of a queue.
    Key,
    /// Any bytes.
    Text,
    /// A decimal number.
    Integer,
    /// A word that stands for itself.
    Word,
    /// Several arguments that stand together.
    Block,
    /// One of several arguments.
    OneOf,
}

/// One argument of a command.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    /// Its name in the syntax.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// The word that stands before it, or for it.
    pub token: Option<&'static str>,
    /// Whether it may be left out.
    pub optional: bool,
    /// Whether it may be repeated.
    pub multiple: bool,
    /// What a block is made of, or can be one of.
    pub parts: &'static [Argument],
}

/// One kind of reply, in both protocols.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    /// When this is the reply.
    pub when: &'static str,
    /// In RESP2.
    pub resp2: &'static str,
    /// In RESP3.
    pub resp3: &'static str,
}

/// A command.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// Which one.
    pub verb: Verb,
    /// Its name; clients may write it in any letter case.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// What it costs.
    pub complexity: &'static str,
    /// The release that brought it.
    pub since: &'static str,
    /// What it does to the data.
    pub access: Access,
    /// Whether its cost is small and bounded.
    pub fast: bool,
    /// Whether it can wait.
    pub blocking: bool,
    /// Where its keys stand.
    pub keys: Keys,
    /// Its arguments, in order.
    pub arguments: &'static [Argument],
    /// Its replies.
    pub outcomes: &'static [Outcome],
    /// Its errors, and when they are given.
    pub errors: &'static [(Code, &'static str)],
    /// What else there is to know, in Markdown.
    pub notes: &'static str,
}
