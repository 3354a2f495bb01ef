//! Taking messages: pop, claim, recover, and who waits for what.

use std::ops::Range;

use rq_core::Receipt;

use super::Arguments;
use super::words::{Named, Words, shown, together};
use crate::refusal::Refusal;
use crate::table::Verb;

/// `RQ.POP`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pop {
    /// At most so many messages.
    pub count: u64,
    /// Milliseconds to wait, 0 for ever; none: do not wait.
    pub block: Option<u64>,
    /// Where the consumer's name is.
    pub consumer: Option<usize>,
    /// Milliseconds after which they return, 0 for never; none: as the queue says.
    pub lease: Option<u64>,
    /// Whether they are gone at once, as if acknowledged.
    pub no_ack: bool,
    /// Whether work on them begins later.
    pub prefetch: bool,
    /// Payloads of at most so many bytes, but one message if there is one.
    pub max_bytes: Option<u64>,
    /// Whether rows tell what is known of the message.
    pub with_meta: bool,
    /// Where the keys are.
    pub keys: Range<usize>,
}

/// `RQ.CLAIM`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Where the new owner's name is.
    pub consumer: usize,
    /// Milliseconds since their last delivery, at least.
    pub min_idle: u64,
    /// Milliseconds after which they return, 0 for never; none: as the queue says.
    pub lease: Option<u64>,
    /// Whether rows tell what is known of the message.
    pub with_meta: bool,
    /// Which messages.
    pub named: Named,
}

/// `RQ.RECOVER`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recover {
    /// At most so many messages.
    pub count: u64,
    /// Milliseconds since their last delivery, at least.
    pub elapsed: u64,
    /// Milliseconds after which they return, 0 for never; none: as the queue says.
    pub lease: Option<u64>,
    /// Where the new owner's name is.
    pub consumer: Option<usize>,
    /// Where the name is of the consumer whose messages are taken; none: everybody's.
    pub from: Option<usize>,
    /// Whether rows tell what is known of the message.
    pub with_meta: bool,
}

const POP_OPTIONS: &[&str] = &[
    "COUNT", "BLOCK", "CONSUMER", "LEASE", "NOACK", "PREFETCH", "MAXBYTES", "WITHMETA", "KEYS",
];

/// Reads `RQ.POP [COUNT n] [BLOCK ms] [CONSUMER c] [LEASE ms] [NOACK] [PREFETCH] [MAXBYTES b]
/// [WITHMETA] [KEYS n] key [key ...]`, and the older `RQ.POP n key [key ...]`.
///
/// # Errors
/// Says what was expected.
pub fn pop(arguments: &(impl Arguments + ?Sized)) -> Result<Pop, Refusal> {
    let mut words = Words::new(arguments, Verb::Pop, 1, 2)?;
    let mut pop = Pop::new();
    if words.left() > 1 && is_numeric(arguments.get(1)) {
        pop.count = words.positive("COUNT")?;
    } else {
        // A word in the place of an option is one as long as something follows it.
        while words.left() > 1 {
            match words.option(POP_OPTIONS)? {
                Some("KEYS") => {
                    pop.keys = words.last_list("KEYS")?;
                    return pop.checked();
                }
                Some(option) => pop.read(option, &mut words)?,
                None => break,
            }
        }
    }
    pop.keys = words.rest();
    if pop.keys.is_empty() {
        return Err(words.misplaced(&["a key"]));
    }
    // Alone it can be nothing but a key.
    if arguments.len() > 2 {
        no_options_among(arguments, pop.keys.clone())?;
    }
    pop.checked()
}

impl Pop {
    fn new() -> Self {
        Self {
            count: 1,
            block: None,
            consumer: None,
            lease: None,
            no_ack: false,
            prefetch: false,
            max_bytes: None,
            with_meta: false,
            keys: 0..0,
        }
    }

    fn read<A: Arguments + ?Sized>(
        &mut self,
        option: &str,
        words: &mut Words<'_, A>,
    ) -> Result<(), Refusal> {
        match option {
            "COUNT" => self.count = words.positive(option)?,
            "BLOCK" => self.block = Some(words.patience(option)?),
            "CONSUMER" => self.consumer = Some(words.name(option)?),
            "LEASE" => self.lease = Some(words.milliseconds(option)?),
            "NOACK" => self.no_ack = true,
            "PREFETCH" => self.prefetch = true,
            "MAXBYTES" => self.max_bytes = Some(words.positive(option)?),
            _ => self.with_meta = true,
        }
        Ok(())
    }

    fn checked(self) -> Result<Self, Refusal> {
        match self.no_ack {
            true if self.lease.is_some() => Err(together("NOACK", "LEASE")),
            true if self.prefetch => Err(together("NOACK", "PREFETCH")),
            _ => Ok(self),
        }
    }
}

/// Options stand before the keys. One among keys that were not announced is a mistake, or the name
/// of a queue, which only `KEYS` can tell.
fn no_options_among(
    arguments: &(impl Arguments + ?Sized),
    mut keys: Range<usize>,
) -> Result<(), Refusal> {
    let is_option = |word: &[u8]| {
        let mut options = POP_OPTIONS.iter();
        options.any(|option| word.eq_ignore_ascii_case(option.as_bytes()))
    };
    let first = keys.start;
    let Some(at) = keys.find(|&at| is_option(arguments.get(at))) else {
        return Ok(());
    };
    let behind = match at > first {
        true => format!(" behind '{}'", shown(arguments.get(first))),
        false => String::new(),
    };
    Err(Refusal::argument(format!(
        "{} stands among the keys{behind}, expected options before them; for a queue of that name announce the keys with KEYS",
        shown(arguments.get(at))
    )))
}

/// Whether an argument is meant as a number, well-formed or not.
fn is_numeric(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Reads `RQ.CLAIM key consumer min-idle [LEASE ms] [WITHMETA] IDS|TOKENS n ...`; IDs and receipts
/// are put into `receipts`.
///
/// # Errors
/// Says what was expected.
pub fn claim(
    arguments: &(impl Arguments + ?Sized),
    receipts: &mut Vec<Receipt>,
) -> Result<Claim, Refusal> {
    let mut words = Words::new(arguments, Verb::Claim, 2, 4)?;
    let mut claim = Claim {
        consumer: words.name("consumer")?,
        min_idle: words.patience("min-idle")?,
        lease: None,
        with_meta: false,
        named: Named::Receipts,
    };
    loop {
        match words.one(&["LEASE", "WITHMETA", "IDS", "TOKENS"])? {
            "LEASE" => claim.lease = Some(words.milliseconds("LEASE")?),
            "WITHMETA" => claim.with_meta = true,
            list => {
                claim.named = words.last_named(list, receipts)?;
                return Ok(claim);
            }
        }
    }
}

/// Reads `RQ.RECOVER key count elapsed [LEASE ms] [CONSUMER c] [FROM c] [WITHMETA]`.
///
/// # Errors
/// Says what was expected.
pub fn recover(arguments: &(impl Arguments + ?Sized)) -> Result<Recover, Refusal> {
    let mut words = Words::new(arguments, Verb::Recover, 2, 4)?;
    let mut recover = Recover {
        count: words.positive("count")?,
        elapsed: words.patience("elapsed")?,
        lease: None,
        consumer: None,
        from: None,
        with_meta: false,
    };
    while let Some(option) = words.only(&["LEASE", "CONSUMER", "FROM", "WITHMETA"])? {
        match option {
            "LEASE" => recover.lease = Some(words.milliseconds(option)?),
            "CONSUMER" => recover.consumer = Some(words.name(option)?),
            "FROM" => recover.from = Some(words.name(option)?),
            _ => recover.with_meta = true,
        }
    }
    Ok(recover)
}

/// Reads `RQ.REGISTER [key ...]`: the place of the keys.
pub fn register(arguments: &(impl Arguments + ?Sized)) -> Range<usize> {
    1..arguments.len().max(1)
}

/// Reads `RQ.NOTIFY milliseconds`: how long to wait, 0 for ever.
///
/// # Errors
/// Says what was expected.
pub fn notify(arguments: &(impl Arguments + ?Sized)) -> Result<u64, Refusal> {
    let mut words = Words::new(arguments, Verb::Notify, 1, 2)?;
    let milliseconds = words.patience("milliseconds")?;
    words.finish()?;
    Ok(milliseconds)
}
