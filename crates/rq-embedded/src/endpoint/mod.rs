//! The endpoint of a file: other processes reach its queues over a Unix socket in it.
//!
//! It speaks RESP2 and RESP3, so that the clients of Redis, and `redis-cli -s`, work with it.
//!
//! | file | holds |
//! |---|---|
//! | `socket` | the socket in the directory of a store |
//! | `server` | the loop: connections, group commit; `serving`: waiting clients |
//! | `connection` | what came from a client, and what is to be sent |
//! | `request`, `reply` | the protocol |
//! | `commands` | which command a request is; those about the connection |
//! | `queues`, `dump` | `RQ.*`; `DUMP` and `RESTORE` |
//! | `documentation` | `COMMAND` |
//! | `waiters` | clients that wait, in the order of their arrival |

mod commands;
mod connection;
mod documentation;
mod dump;
mod queues;
mod reply;
mod request;
mod server;
mod socket;
mod waiters;

use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crate::engine::Engine;
use crate::fork;
use server::Server;
use socket::Socket;

/// A thread that answers on the socket, until this is dropped.
pub(crate) struct Endpoint {
    socket: Socket,
    stopping: Arc<AtomicBool>,
    waker: Arc<mio::Waker>,
    thread: Option<JoinHandle<()>>,
}

impl Endpoint {
    /// Starts to answer in the directory of a store, whose lock the caller holds.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn start(engine: Arc<Engine>, directory: &Path) -> io::Result<Self> {
        let socket = Socket::of(directory)?;
        let (listener, entry) = fork::open(|| socket.listen(), AsRawFd::as_raw_fd)?;
        let stopping = Arc::new(AtomicBool::new(false));
        let server = Server::new(listener, entry, Arc::clone(&stopping))?;
        let waker = server.waker();
        let wake = server.waker();
        if let Ok(mut state) = engine.lock() {
            let wake = move || drop(wake.wake());
            state.bells.set_waker(Some(Box::new(wake)));
        }
        let thread = std::thread::Builder::new().name("reliableq-endpoint".to_owned());
        let thread = thread.spawn(move || {
            block_signals();
            server.run(&engine);
            if let Ok(mut state) = engine.lock() {
                state.bells.set_waker(None);
            }
        })?;
        Ok(Self {
            socket,
            stopping,
            waker,
            thread: Some(thread),
        })
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        let _ = self.waker.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.socket.remove();
    }
}

/// Leaves signals to the threads of the program; SIGPIPE, which a client that is gone would give, to nobody.
/// Those that tell of a bug in this thread stay.
fn block_signals() {
    // SAFETY: a set of signals is plain numbers, filled before it is used.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        for bug in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL] {
            libc::sigdelset(&raw mut all, bug);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
    }
}
