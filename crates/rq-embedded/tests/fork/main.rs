//! A process that forks while it owns a file. Alone in its program, since a child keeps what other tests have open.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[allow(dead_code)]
#[path = "../endpoint/client.rs"]
mod client;
#[allow(dead_code)]
#[path = "../endpoint/file.rs"]
mod file;

use client::Reply;
use file::File;

#[test]
fn a_forked_child_keeps_nothing_open() {
    let mut file = File::new();
    let mut client = file.connect();
    client.ask("RQ.PUSH q a");
    // SAFETY: the child does nothing but wait for its end.
    let child = unsafe {
        match libc::fork() {
            0 => loop {
                libc::pause();
            },
            child => child,
        }
    };
    assert!(child > 0);
    assert_eq!(client.ask("RQ.LEN q"), Reply::Integer(1));
    file.close();
    assert!(client.is_closed());
    file.open();
    assert_eq!(file.connect().ask("RQ.LEN q"), Reply::Integer(1));
    // SAFETY: the child of above.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
}
