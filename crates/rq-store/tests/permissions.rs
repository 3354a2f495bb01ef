//! What this user may not do, in directories of the real file system.
//!
//! The superuser may do everything, so where that one runs the tests, each of them runs itself again in a child
//! process: of another user, or with a read-only mount of its own.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "common/child.rs"]
mod child;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rq_core::Policy;
use rq_store::{Error, Files, Options, Store, identity, repair};

/// A user without rights, by the number that systems give to `nobody`.
const NOBODY: u32 = 65534;

fn options() -> Options {
    Options {
        create: Some([5; 16]),
        segment_bytes: 500,
        checkpoint_bytes: 1 << 20,
    }
}

fn open(path: &Path) -> Result<Store<Files>, Error> {
    Store::open(Files::new(path), options()).map(|(store, _)| store)
}

fn push(store: &mut Store<Files>) -> Result<u64, Error> {
    let mut record = store.record()?;
    let elements = [&[1; 100][..]].into_iter();
    record.push(b"queue", (7, &Policy::NONE), None, elements)?;
    record.append()
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Checks that it was denied, and that the text names the file and the remedy.
fn denied<T>(outcome: Result<T, Error>, file: &str) {
    let error = outcome.err().unwrap();
    assert!(matches!(error, Error::Denied { .. }), "{error:?}");
    assert_eq!(error.file(), Some(file), "{error}");
    let named = if file == "." { "the directory" } else { file };
    let text = error.to_string();
    assert!(text.contains(named), "{text}");
    assert!(text.contains("let this user read and write"), "{text}");
}

/// Runs a test as somebody who is not the superuser, in a directory of theirs.
fn as_user(name: &str, test: impl FnOnce(&Path)) {
    if let Some(directory) = child::directory() {
        return test(&directory);
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    if fs::metadata(path).unwrap().uid() != 0 {
        return test(path);
    }
    // Others may not be let into the directory that this program is in.
    let program = path.join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    allow(&program, 0o755);
    allow(path, 0o755);
    let theirs = path.join("theirs");
    fs::create_dir(&theirs).unwrap();
    chown(&theirs, Some(NOBODY), Some(NOBODY)).unwrap();
    let mut command = Command::new(&program);
    command.args(["--exact", name, "--nocapture"]);
    command
        .env(child::DIRECTORY, &theirs)
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY);
    match command.output() {
        Ok(output) => child::assert_passed(&output),
        Err(error) => eprintln!("skipped {name}: no program can be run as user {NOBODY}: {error}"),
    }
}

fn files(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = entries
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn nobody_else_may_read_what_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("jobs.rq");
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    let mut store = open(&path).unwrap();
    // A lock, an identity, a checkpoint, and segments on both sides of one that is full.
    push(&mut store).unwrap();
    store.checkpoint().unwrap();
    for _ in 0..9 {
        push(&mut store).unwrap();
    }
    assert_eq!(mode(&path), 0o700);
    let made = files(&path);
    assert!(made.len() > 4, "{made:?}");
    for (file, _) in &made {
        assert_eq!(mode(file), 0o600, "{file:?}");
    }
    // What was there before keeps its mode.
    drop(store);
    allow(&path, 0o750);
    drop(open(&path).unwrap());
    assert_eq!(mode(&path), 0o750);
}

#[test]
fn a_store_is_not_made_where_this_user_may_not_write() {
    as_user(
        "a_store_is_not_made_where_this_user_may_not_write",
        |path| {
            let parent = path.join("parent");
            fs::create_dir(&parent).unwrap();
            allow(&parent, 0o555);
            denied(open(&parent.join("jobs.rq")), ".");
            denied(open(&parent), "lock");
            assert_eq!(fs::read_dir(&parent).unwrap().count(), 0);
        },
    );
}

#[test]
fn each_file_that_may_not_be_used_is_named() {
    as_user("each_file_that_may_not_be_used_is_named", |path| {
        let path = path.join("jobs.rq");
        let mut store = open(&path).unwrap();
        push(&mut store).unwrap();
        store.checkpoint().unwrap();
        push(&mut store).unwrap();
        let uuid = store.uuid();
        drop(store);
        let before = files(&path);
        let checkpoint = "checkpoint-0000000000000001";
        for (name, mode) in [
            ("lock", 0o000),
            ("identity", 0o000),
            (checkpoint, 0o000),
            ("log-0000000000000002", 0o000),
            ("log-0000000000000002", 0o444),
        ] {
            allow(&path.join(name), mode);
            denied(open(&path), name);
            allow(&path.join(name), 0o644);
        }
        for name in ["identity", checkpoint, "log-0000000000000002"] {
            let to = path.with_file_name("repaired.rq");
            allow(&path.join(name), 0o000);
            denied(repair(Files::new(&path), Files::new(&to), options()), name);
            allow(&path.join(name), 0o644);
            assert!(!to.exists());
        }
        allow(&path, 0o000);
        denied(open(&path), ".");
        denied(identity(&Files::new(&path)), "identity");
        allow(&path, 0o755);
        assert_eq!(files(&path), before, "something was changed");
        assert_eq!(open(&path).unwrap().uuid(), uuid);
    });
}

/// A store whose directory was made read-only takes records as long as it needs no new file.
#[test]
fn an_open_store_goes_on_when_its_directory_may_be_written_again() {
    as_user(
        "an_open_store_goes_on_when_its_directory_may_be_written_again",
        |path| {
            let path = path.join("jobs.rq");
            let mut store = open(&path).unwrap();
            allow(&path, 0o555);
            let mut pushed = 0;
            let refused = loop {
                match push(&mut store) {
                    Ok(_) => pushed += 1,
                    Err(error) => break error,
                }
            };
            let next = format!("log-{:016x}.new", pushed + 1);
            denied::<()>(Err(refused), &next);
            denied(store.checkpoint(), &next);
            assert_eq!(store.sync().unwrap(), pushed);
            assert_eq!(store.queues().get(b"queue").unwrap().len(), pushed);
            assert_eq!(store.poisoned(), None);
            allow(&path, 0o755);
            push(&mut store).unwrap();
            drop(store);
            let store = open(&path).unwrap();
            assert_eq!(store.queues().get(b"queue").unwrap().len(), pushed + 1);
        },
    );
}

#[test]
fn a_read_only_file_system_is_said_to_be_one() {
    const NAME: &str = "a_read_only_file_system_is_said_to_be_one";
    if let Some(path) = child::directory() {
        let path = path.as_path();
        for opened in [open(path), open(&path.join("new"))] {
            let error = opened.err().unwrap();
            assert!(matches!(error, Error::Denied { .. }), "{error:?}");
            let text = error.to_string();
            assert!(text.contains("mount the file system for writing"), "{text}");
            assert!(
                text.contains(error.file().unwrap().trim_matches('.')),
                "{text}"
            );
        }
        // Reading needs no right to write.
        assert_eq!(identity(&Files::new(path)).unwrap(), [5; 16]);
        let to = std::env::temp_dir().join(format!("rq-store-{}", std::process::id()));
        let repaired = repair(Files::new(path), Files::new(&to), options()).unwrap();
        fs::remove_dir_all(&to).unwrap();
        assert_eq!((repaired.messages, repaired.losses.len()), (1, 0));
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(directory.path()).unwrap();
    push(&mut store).unwrap();
    drop(store);
    let mount = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\"";
    child::with_mount(NAME, mount, directory.path());
}
