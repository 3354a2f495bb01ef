//! The socket in the directory of a store.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::SocketAddr;
use std::path::{Path, PathBuf};

use mio::net::UnixListener;

/// Its name.
const NAME: &str = "socket";
/// A directory in which it is made.
const UNFINISHED: &str = "socket.new";

/// Where the socket is. Whoever holds the lock of the store may make and remove it.
pub(super) struct Socket {
    directory: PathBuf,
}

impl Socket {
    /// The path is made absolute, since the process may go elsewhere.
    pub(super) fn of(directory: &Path) -> io::Result<Self> {
        let directory = std::path::absolute(directory)?;
        Ok(Self { directory })
    }

    /// Makes the socket, in the place of one that was left behind, and listens. It is made where
    /// nobody else can come, so that it is never reached with another mode than its own.
    pub(super) fn listen(&self) -> io::Result<UnixListener> {
        self.remove_unfinished();
        let unfinished = self.directory.join(UNFINISHED);
        DirBuilder::new().mode(0o700).create(&unfinished)?;
        let made = unfinished.join(NAME);
        let listener = bind(&unfinished)?;
        fs::set_permissions(&made, Permissions::from_mode(0o600))?;
        fs::rename(&made, self.directory.join(NAME))?;
        self.remove_unfinished();
        Ok(listener)
    }

    pub(super) fn remove(&self) {
        let _ = fs::remove_file(self.directory.join(NAME));
    }

    fn remove_unfinished(&self) {
        let unfinished = self.directory.join(UNFINISHED);
        let _ = fs::remove_file(unfinished.join(NAME));
        let _ = fs::remove_dir(unfinished);
    }
}

/// Binds the socket in a directory; one whose path is too long for a socket is reached through a
/// descriptor.
fn bind(directory: &Path) -> io::Result<UnixListener> {
    let path = directory.join(NAME);
    match SocketAddr::from_pathname(&path) {
        Ok(address) => UnixListener::bind_addr(&address),
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            let opened = File::open(directory)?;
            let descriptor = opened.as_raw_fd();
            UnixListener::bind(format!("/proc/self/fd/{descriptor}/{NAME}"))
        }
        Err(error) => Err(error),
    }
}
