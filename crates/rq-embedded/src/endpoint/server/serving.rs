//! Clients that wait: what they are given, and when.

use std::time::Instant;

use rq_command::reply::Sink;

use super::super::connection::Connection;
use super::super::queues;
use super::super::waiters::Wish;
use super::{Server, refused};
use crate::engine::Engine;
use crate::state::State;

impl Server {
    pub(super) fn serve_all(&mut self, engine: &Engine) {
        if self.waiters.is_empty() {
            return;
        }
        match engine.lock() {
            Ok(mut state) => self.serve_rung(&mut state),
            Err(error) => {
                let error = refused(error);
                while let Some(client) = self.waiters.any() {
                    self.waiters.leave(None, client);
                    self.answer(client, |connection| {
                        connection.session.reply(&mut connection.out).error(&error);
                    });
                }
            }
        }
    }

    /// Gives what came to those who wait for it, in the order of their arrival. One that can't take now is passed over.
    pub(super) fn serve_rung(&mut self, state: &mut State) {
        for key in state.bells.take_rung() {
            let mut last = 0;
            while state.waiting(&key) > 0
                && let Some((number, waiter)) = self.waiters.behind(&key, last)
            {
                last = number;
                let client = waiter.client;
                if state.available(&key, &waiter.wish.pop()) > 0 && self.serve(state, &key, client)
                {
                    self.waiters.leave(Some(state), client);
                    self.answered.insert(client);
                }
            }
        }
    }

    /// Answers a client that waits, if there is something for it; whether it need not wait any more.
    fn serve(&mut self, state: &mut State, key: &[u8], client: usize) -> bool {
        let (Some(waiter), Some(connection)) =
            (self.waiters.get(client), self.connections.get_mut(&client))
        else {
            return true;
        };
        let (from, session) = (connection.out.len(), &connection.session);
        let reply = &mut session.reply(&mut connection.out);
        let taking = match &waiter.wish {
            Wish::Pop(taking) => taking,
            Wish::Notice(consumer) => {
                let first = queues::ready(state, &waiter.keys, consumer);
                reply.bytes(first.unwrap_or(key));
                return true;
            }
        };
        let how = (&taking.pop(), taking.with_meta);
        let taken = queues::take(state, std::iter::once(key), how, &mut self.room, reply);
        match taken {
            Err(refusal) => reply.error(refusal),
            Ok(false) => return false,
            Ok(true) if how.0.no_ack && session.always => {
                self.unsettled = self.unsettled.max(Some(state.stored()));
                connection.hold(from);
            }
            Ok(true) => {}
        }
        true
    }

    pub(super) fn time_out(&mut self, engine: &Engine) {
        let now = Instant::now();
        while let Some(client) = self.waiters.timed_out(now) {
            let mut state = engine.lock().ok();
            let waiter = self.waiters.leave(state.as_deref_mut(), client);
            let notice = waiter.is_some_and(|waiter| matches!(waiter.wish, Wish::Notice(_)));
            self.answer(client, |connection| {
                let reply = &mut connection.session.reply(&mut connection.out);
                if notice {
                    reply.null_bytes();
                } else {
                    reply.null();
                }
            });
        }
    }

    fn answer(&mut self, client: usize, answer: impl FnOnce(&mut Connection)) {
        if let Some(connection) = self.connections.get_mut(&client) {
            answer(connection);
            self.answered.insert(client);
        }
    }
}
