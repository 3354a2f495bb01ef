//! The socket as a file, and the life of the endpoint.

use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;

use crate::client::Reply;
use crate::file::File;

#[test]
fn only_the_owner_reaches_the_socket() {
    let file = File::new();
    let found = std::fs::metadata(file.socket()).unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    assert!(!file.path().join("socket.new").exists());
}

#[test]
fn closing_ends_connections_and_removes_the_socket() {
    let mut file = File::new();
    let (mut idle, mut waiting) = (file.connect(), file.connect());
    idle.ask("RQ.PUSH q a");
    waiting.begin("RQ.POP BLOCK 0 other");
    file.close();
    assert!(idle.is_closed());
    assert!(waiting.is_closed());
    assert!(!file.socket().exists());
    file.open();
    assert_eq!(file.connect().ask("RQ.POP q").payloads(), ["a"]);
}

#[test]
fn what_a_killed_owner_left_is_replaced() {
    let mut file = File::new();
    file.close();
    drop(UnixListener::bind(file.socket()).unwrap());
    let unfinished = file.path().join("socket.new");
    std::fs::create_dir(&unfinished).unwrap();
    drop(UnixListener::bind(unfinished.join("socket")).unwrap());
    file.open();
    assert_eq!(file.connect().ask("PING"), Reply::Status("PONG".to_owned()));
    assert!(!unfinished.exists());
}

#[test]
fn a_path_may_be_longer_than_a_socket_address() {
    let name = "directory-with-a-long-name/".repeat(8);
    let mut file = File::at(&name);
    assert!(file.socket().as_os_str().len() > 200);
    assert_eq!(file.connect().ask("PING"), Reply::Status("PONG".to_owned()));
    file.close();
    assert!(!file.socket().exists());
}
