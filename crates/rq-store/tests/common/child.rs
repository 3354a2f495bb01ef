//! Tests that run themselves again in a child process, where something is different.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Says to a child which directory is for it.
pub const DIRECTORY: &str = "RQ_STORE_TEST_DIRECTORY";

/// The directory for this process, when it is such a child.
pub fn directory() -> Option<PathBuf> {
    std::env::var_os(DIRECTORY).map(PathBuf::from)
}

/// Asserts that a child has run its one test.
pub fn assert_passed(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let passed = output.status.success() && text.contains("1 passed");
    assert!(passed, "{text}{errors}");
}

/// Runs the test `name` again in a child with mounts of its own, made by `mount`, a command of the shell
/// with the directory as `$1`. Where that can't be had, it says so.
pub fn with_mount(name: &str, mount: &str, directory: &Path) {
    let inside = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", script, "sh"]);
        command.arg(directory).arg(std::env::current_exe().unwrap());
        command.args(["--exact", name, "--nocapture"]);
        command.env(DIRECTORY, directory).output()
    };
    match inside(mount) {
        Ok(output) if output.status.success() => {
            assert_passed(&inside(&format!("{mount} && shift && exec \"$@\"")).unwrap());
        }
        other => eprintln!("skipped {name}: a mount of one's own can't be had here: {other:?}"),
    }
}
