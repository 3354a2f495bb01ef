//! The loop of the endpoint.
//!
//! A round takes what came on all connections, executes it, syncs once for all who asked for that,
//! and sends the replies. The lock of the engine is held for one command at a time, and never while
//! a socket is read or written.

mod serving;

use std::collections::{BTreeSet, HashMap};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mio::event::Event;
use mio::net::UnixListener;
use mio::{Events, Interest, Poll, Token, Waker};
use rq_command::Refusal;

use super::commands::{self, Command, Operation, Outcome, Session};
use super::connection::Connection;
use super::dump;
use super::queues::{self, Room};
use super::request::Words;
use super::waiters::Waiters;
use crate::engine::Engine;
use crate::error::Error;
use crate::fork;

const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);
/// Bytes that are read from a connection before others get their turn.
const READ: usize = 256 << 10;
/// Time until a connection is accepted that was refused by the system, for want of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// The endpoint's thread has this.
pub(super) struct Server {
    poll: Poll,
    poll_entry: fork::Entry,
    listener: UnixListener,
    listener_entry: fork::Entry,
    waker: Arc<Waker>,
    stopping: Arc<AtomicBool>,
    /// By the client's number, which is the connection's token.
    connections: HashMap<usize, Connection>,
    clients: usize,
    waiters: Waiters,
    /// Connections that may have something to do.
    busy: BTreeSet<usize>,
    /// Connections that may have something to send.
    answered: BTreeSet<usize>,
    /// The last change that is to be durable before the round's replies are sent.
    unsettled: Option<u64>,
    /// There may be connections to accept.
    accepting: bool,
    input: Vec<u8>,
    room: Room,
}

impl Server {
    pub(super) fn new(
        mut listener: UnixListener,
        listener_entry: fork::Entry,
        stopping: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let (poll, poll_entry) = fork::open(Poll::new, AsRawFd::as_raw_fd)?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let registry = poll.registry();
        registry.register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            poll,
            poll_entry,
            listener,
            listener_entry,
            waker,
            stopping,
            connections: HashMap::new(),
            clients: 0,
            waiters: Waiters::default(),
            busy: BTreeSet::new(),
            answered: BTreeSet::new(),
            unsettled: None,
            accepting: true,
            input: vec![0; READ],
            room: Room::default(),
        })
    }

    /// What wakes the loop, from any thread.
    pub(super) fn waker(&self) -> Arc<Waker> {
        Arc::clone(&self.waker)
    }

    /// Answers until it is told to end.
    pub(super) fn run(mut self, engine: &Engine) {
        let mut events = Events::with_capacity(1024);
        while !self.stopping.load(Ordering::Relaxed) {
            match self.poll.poll(&mut events, self.patience()) {
                Ok(()) => self.round(engine, &events),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.end(engine);
    }

    fn end(mut self, engine: &Engine) {
        let clients: Vec<usize> = self.connections.keys().copied().collect();
        for client in clients {
            self.drop_connection(engine, client);
        }
        let (listener, poll) = (self.listener, self.poll);
        fork::close(self.listener_entry, || drop(listener));
        fork::close(self.poll_entry, || drop(poll));
    }

    /// How long there is nothing to do, unless something happens.
    fn patience(&self) -> Option<Duration> {
        if !self.busy.is_empty() {
            return Some(Duration::ZERO);
        }
        let due = self.waiters.next_time_out();
        let left = due.map(|due| due.saturating_duration_since(Instant::now()));
        let pause = self.accepting.then_some(PAUSE);
        left.into_iter().chain(pause).min()
    }

    fn round(&mut self, engine: &Engine, events: &Events) {
        for event in events {
            self.note(event);
        }
        self.accept();
        // Those first who are gone, so that they take nothing.
        self.drop_gone(engine);
        self.serve_all(engine);
        for client in std::mem::take(&mut self.busy) {
            self.attend(engine, client);
        }
        self.time_out(engine);
        self.settle_and_send(engine);
    }

    fn note(&mut self, event: &Event) {
        match event.token() {
            LISTENER => self.accepting = true,
            WAKER => {}
            Token(client) => {
                let Some(connection) = self.connections.get_mut(&client) else {
                    return;
                };
                let hung_up = event.is_read_closed() || event.is_write_closed() || event.is_error();
                if event.is_readable() || hung_up {
                    connection.wake(hung_up);
                }
                self.busy.insert(client);
            }
        }
    }

    // ---- connections ----

    fn accept(&mut self) {
        while self.accepting {
            let accept = || self.listener.accept().map(|(stream, _)| stream);
            match fork::open(accept, AsRawFd::as_raw_fd) {
                Ok((stream, entry)) => {
                    self.clients += 1;
                    let client = self.clients;
                    let connection = Connection::new(stream, entry, client, self.poll.registry());
                    if let Ok(connection) = connection {
                        self.connections.insert(client, connection);
                        self.busy.insert(client);
                    }
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => self.accepting = false,
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {}
                    // Tried again after a pause.
                    _ => return,
                },
            }
        }
    }

    fn drop_gone(&mut self, engine: &Engine) {
        let gone = |client: &&usize| {
            let connection = self.connections.get(client);
            connection.is_some_and(|it| it.hung_up) && self.waiters.is_waiting(**client)
        };
        let gone: Vec<usize> = self.busy.iter().filter(gone).copied().collect();
        for client in gone {
            self.drop_connection(engine, client);
        }
    }

    fn drop_connection(&mut self, engine: &Engine, client: usize) {
        if self.waiters.is_waiting(client) {
            let mut state = engine.lock().ok();
            self.waiters.leave(state.as_deref_mut(), client);
        }
        if let Some(mut connection) = self.connections.remove(&client) {
            if !connection.session.registered.is_empty()
                && let Ok(mut state) = engine.lock()
            {
                queues::unregister(&mut state, &mut connection.session);
            }
            connection.close(self.poll.registry());
        }
    }

    /// Reads from a connection, and executes what came.
    fn attend(&mut self, engine: &Engine, client: usize) {
        self.answered.insert(client);
        if self.waiters.is_waiting(client) {
            return;
        }
        // Taken out, so that others can be answered by what it asks.
        let Some(mut connection) = self.connections.remove(&client) else {
            return;
        };
        let received = connection.receive(&mut self.input);
        self.converse(engine, &mut connection);
        connection.closing |= received.is_err();
        let gone = connection.hung_up && self.waiters.is_waiting(client);
        self.connections.insert(client, connection);
        if gone {
            self.drop_connection(engine, client);
        }
    }

    fn converse(&mut self, engine: &Engine, connection: &mut Connection) {
        connection.unread = true;
        while connection.is_open() && !self.waiters.is_waiting(connection.session.client) {
            match connection.requests.next() {
                Ok(true) => self.execute(engine, connection),
                Ok(false) => {
                    connection.all_read();
                    break;
                }
                Err(malformed) => {
                    let error = format!("ERR {malformed}");
                    connection.session.reply(&mut connection.out).error(error);
                    connection.closing = true;
                }
            }
        }
        connection.requests.shrink();
    }

    // ---- commands ----

    fn execute(&mut self, engine: &Engine, connection: &mut Connection) {
        let words = connection.requests.words();
        let (session, out) = (&mut connection.session, &mut connection.out);
        let from = out.len();
        let outcome = commands::find(words).and_then(|command| match command {
            Command::Connection(topic) => session.execute(topic, words, out),
            Command::Queues(operation) => self.operate(engine, &operation, words, session, out),
        });
        match outcome {
            Ok(Outcome::Durable) if session.always => connection.hold(from),
            Ok(Outcome::Close) => connection.closing = true,
            Ok(Outcome::Sync(sync)) => {
                if let Ok(mut state) = engine.lock() {
                    state.raise_sync(sync);
                }
            }
            Ok(_) => {}
            Err(error) => {
                out.truncate(from);
                session.reply(out).error(error);
            }
        }
        connection.requests.done();
    }

    /// Executes a command about queues, and what follows from it for those who wait.
    fn operate(
        &mut self,
        engine: &Engine,
        operation: &Operation,
        words: Words<'_>,
        session: &mut Session,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, String> {
        let mut state = engine.lock().map_err(refused)?;
        let outcome = match operation {
            Operation::Table(verb) => {
                queues::execute(&mut state, *verb, words, session, &mut self.room, out)
            }
            Operation::Dump => {
                dump::dump(&state, words, &mut session.reply(out));
                Ok(Outcome::Done)
            }
            Operation::Restore(restored) => {
                dump::restore(&mut state, words, restored, &mut session.reply(out))
            }
        };
        let outcome = match outcome.map_err(|refusal| refusal.to_string())? {
            Outcome::Wait(waiter) => {
                self.waiters.enter(&mut state, waiter);
                Outcome::Done
            }
            outcome => outcome,
        };
        if session.always && matches!(outcome, Outcome::Durable) {
            self.unsettled = self.unsettled.max(Some(state.stored()));
        }
        self.serve_rung(&mut state);
        Ok(outcome)
    }
}

fn refused(error: Error) -> String {
    Refusal::from(error).to_string()
}

/// Replies.
impl Server {
    /// Sends what needs no sync, then syncs once for all the rest.
    fn settle_and_send(&mut self, engine: &Engine) {
        let answered = std::mem::take(&mut self.answered);
        let is_settled =
            |client: &usize| (self.connections.get(client)).is_some_and(Connection::is_settled);
        let (settled, unsettled): (Vec<usize>, Vec<usize>) =
            answered.into_iter().partition(is_settled);
        for client in settled {
            self.send(engine, client);
        }
        let Some(change) = self.unsettled.take() else {
            return;
        };
        let failed = engine.settle(change).err().map(Refusal::from);
        for client in unsettled {
            if let Some(connection) = self.connections.get_mut(&client) {
                connection.settle(failed.as_ref());
            }
            self.send(engine, client);
        }
    }

    fn send(&mut self, engine: &Engine, client: usize) {
        let Some(connection) = self.connections.get_mut(&client) else {
            return;
        };
        match connection.send(self.poll.registry()) {
            Ok(true) if connection.is_busy() && !self.waiters.is_waiting(client) => {
                self.busy.insert(client);
            }
            Ok(true) => {}
            Ok(false) | Err(_) => self.drop_connection(engine, client),
        }
    }
}
