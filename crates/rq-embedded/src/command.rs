//! Commands on queues: all of `RQ.*` but those that wait, and pops, whose rows are their caller's business.

use rq_command::execute::{self, creates, executes, key_position, look, looks};
use rq_command::parse::{self, Arguments, PushExtended};
use rq_command::reply::{self, Sink, Status};
use rq_command::{Code, Refusal, Verb};
use rq_core::effect::{Unread, Writer};
use rq_core::{Delivery, Headers, Options, Pop, Produced, Queue};

use crate::due::After;
use crate::error::Error;
use crate::keeper::HandOver;
use crate::state::State;

/// Whether a command changes what must be durable where that was asked for: all but those that look, and those that
/// deliver, which come back by themselves.
#[must_use]
pub fn is_durable(verb: Verb, words: &(impl Arguments + ?Sized)) -> bool {
    !looks(verb, words)
        && !matches!(
            verb,
            Verb::Pop | Verb::Recover | Verb::Claim | Verb::Register | Verb::Notify
        )
}

/// How messages are taken, as a pop says.
#[must_use]
pub fn pop_of<'a>(pop: &parse::Pop, words: &'a (impl Arguments + ?Sized)) -> Pop<'a> {
    Pop {
        count: pop.count,
        lease: pop.lease,
        consumer: execute::text(words, pop.consumer),
        no_ack: pop.no_ack,
        prefetch: pop.prefetch,
        max_bytes: pop.max_bytes.unwrap_or(0),
    }
}

impl State {
    /// Executes a command. What the sink was given counts only when this is no error.
    ///
    /// # Errors
    /// [`Error::Refused`], and as the core and the store say; nothing was changed then.
    pub fn command(
        &mut self,
        verb: Verb,
        words: &(impl Arguments + ?Sized),
        sink: &mut impl Sink,
    ) -> Result<(), Error> {
        match verb {
            Verb::Push => {
                let elements = execute::words(words, parse::push(words)?.elements);
                let produced = self.push(words.get(1), None, elements)?;
                reply::produced(sink, &produced);
            }
            Verb::PushExtended => {
                let produced = self.push_extended(words)?;
                reply::produced(sink, &produced);
            }
            Verb::Forward => {
                let produced = self.forward(words)?;
                reply::produced(sink, &produced);
            }
            Verb::Status => self.show_status(words, sink),
            verb if executes(verb) => return self.execute(verb, words, sink),
            _ => {
                let text = "this command is for connections to a server, not for calls of the place itself";
                return Err(Refusal::new(Code::Argument, text).into());
            }
        }
        Ok(())
    }

    /// Takes all it can from the first queue, then from the next, and tells how many messages. `visit` is told of each,
    /// and `end` after each queue whether what it was told counts. What was taken is taken, also when the store fails at a
    /// later queue.
    ///
    /// # Errors
    /// As the store says; nothing is delivered then.
    pub fn pop_all<'a, T>(
        &mut self,
        keys: impl Iterator<Item = &'a [u8]>,
        pop: &Pop<'_>,
        target: &mut T,
        visit: impl Fn(&mut T, &[u8], Delivery<'_>),
        end: impl Fn(&mut T, bool),
    ) -> Result<u64, Error> {
        let mut left = pop.count;
        for key in keys {
            let part = Pop {
                count: left,
                ..*pop
            };
            let popped = self.pop(key, &part, |delivery| visit(target, key, delivery));
            end(target, popped.is_ok());
            match popped {
                Ok(popped) => left -= popped,
                Err(error) if left == pop.count => return Err(error),
                Err(_) => break,
            }
            // Bytes are those of one queue: the next would give at least a message.
            if left == 0 || (pop.max_bytes > 0 && left < pop.count) {
                break;
            }
        }
        Ok(pop.count - left)
    }

    // ---- on one queue ----

    fn execute(
        &mut self,
        verb: Verb,
        words: &(impl Arguments + ?Sized),
        sink: &mut impl Sink,
    ) -> Result<(), Error> {
        let name = words.get(key_position(verb));
        if looks(verb, words) {
            let (nothing, moment) = (Queue::default(), self.keeper.moment(self.now()));
            let queue = self.keeper.queues().get(name).unwrap_or(&nothing);
            look(verb, words, &moment, queue, &mut self.room, sink)?;
            return Ok(());
        }
        let now = self.arrive(name);
        let moment = self.keeper.moment(now);
        let room = &mut self.room;
        let operate = |queue: &mut Queue, effect: &mut dyn Writer| {
            let (waiting, bytes) = (queue.waiting(), queue.memory());
            execute::execute(verb, words, &moment, queue, (room, effect), sink)?;
            // A limit or a pause may be no more.
            let lifted = matches!(verb, Verb::Resume | Verb::Setup);
            let after = After::of(queue, &moment, waiting, lifted);
            Ok::<_, Refusal>((after, (bytes, queue.memory())))
        };
        let done = if creates(verb) {
            Some(self.keeper.create(name, operate)?)
        } else {
            self.keeper.change(name, |_| true, operate)?
        };
        match done.transpose()? {
            Some((after, bytes)) => {
                self.freed.note(bytes.0, bytes.1);
                self.follow(name, now, after);
            }
            None => {
                let (mut nothing, mut effect) = (Queue::default(), Unread::default());
                let rooms = (&mut self.room, &mut effect as &mut dyn Writer);
                execute::execute(verb, words, &moment, &mut nothing, rooms, sink)?;
            }
        }
        self.room.shrink();
        Ok(())
    }

    // ---- pushing ----

    fn push_extended(&mut self, words: &(impl Arguments + ?Sized)) -> Result<Produced, Error> {
        let push = parse::push_extended(words)?;
        let (name, elements) = (words.get(1), execute::words(words, push.elements.clone()));
        if push.is_plain() && push.producer.is_none() && push.new.is_none() {
            return self.push(name, None, elements);
        }
        let pairs = (push.headers.clone().step_by(2)).map(|at| (words.get(at), words.get(at + 1)));
        let headers = Headers::encode(pairs);
        let options = Options {
            headers: Headers::new(&headers),
            ..self.options(&push, words)
        };
        self.push(name, Some(&options), elements)
    }

    /// The options of a push, but for its headers.
    fn options<'a>(
        &self,
        push: &PushExtended,
        words: &'a (impl Arguments + ?Sized),
    ) -> Options<'a> {
        Options {
            front: push.front,
            delay: push.due.delay(self.now(), self.time.wall()),
            ttl: push.ttl,
            retries: push.retries,
            priority: push.priority,
            headers: Headers::default(),
            token: push.token.map(|at| words.get(at)),
            unique: push.unique,
            producer: push.producer.map(|(name, first)| (words.get(name), first)),
            new: push.new,
            leaving: (0, 0),
        }
    }

    /// Hands messages over to another queue.
    fn forward(&mut self, words: &(impl Arguments + ?Sized)) -> Result<Produced, Error> {
        let mut receipts = Vec::new();
        let (source, destination) = (words.get(1), words.get(2));
        let request = parse::forward(words, &mut receipts)?;
        self.arrive(destination);
        let now = self.arrive(source);
        let nothing = Queue::default();
        let queue = self.keeper.queues().get(source).unwrap_or(&nothing);
        execute::resolve(words, &request.named, queue, &mut receipts);
        let over = HandOver {
            source,
            destination,
            receipts: &receipts,
            new: request.new,
        };
        let elements = execute::words(words, request.elements);
        let pushed = elements.len() as u64;
        let produced = self.keeper.hand_over(now, over, elements)?;
        self.bells.ring(destination, pushed);
        let moment = self.keeper.moment(now);
        if let Some(queue) = self.queue(source) {
            let after = After::of(queue, &moment, queue.waiting(), false);
            self.follow(source, now, after);
        }
        self.changed();
        Ok(produced)
    }

    // ---- all queues ----

    fn show_status(&self, words: &(impl Arguments + ?Sized), sink: &mut impl Sink) {
        let keys = parse::status(words);
        if keys.is_empty() {
            let all = self.all_statuses();
            sink.array(all.len());
            for (name, status) in all {
                reply::status(sink, name, &status);
            }
        } else {
            sink.array(keys.len());
            for name in execute::words(words, keys) {
                reply::status(sink, name, &self.status(name));
            }
        }
    }

    /// A queue in numbers, whether it exists or not, with those who wait for it, are registered for it, or hold
    /// messages by a name that is none of theirs.
    fn status(&self, name: &[u8]) -> Status {
        let queue = self.queue(name);
        let away = queue.map_or(0, |queue| {
            let holders = queue.consumers(0);
            holders
                .filter(|holder| !self.bells.has_consumer(name, holder.name))
                .count()
        });
        Status::of(queue, self.bells.present(name) + away as u64)
    }

    /// All queues that hold messages or are waited for, in the order of their names.
    fn all_statuses(&self) -> Vec<(&[u8], Status)> {
        let mut names: Vec<&[u8]> = self.queues().names().chain(self.bells.names()).collect();
        names.sort_unstable();
        names.dedup();
        let all = names.into_iter().map(|name| (name, self.status(name)));
        all.filter(|(_, status)| status.is_notable()).collect()
    }
}
