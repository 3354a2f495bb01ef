//! A directory of the real file system.

use std::fs::{self, DirBuilder, OpenOptions, TryLockError};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::layout;
use crate::storage::{File, Storage};

/// Modes of what is made here: messages are nobody else's to read. What is there keeps its mode.
const DIRECTORY: u32 = 0o700;
const FILE: u32 = 0o600;

/// A directory, and its lock once it was taken.
///
/// The lock is `flock` on a file that is never renamed nor unlinked. It belongs to the open file,
/// not to the process: a forked child shares it, and must drop this value (which closes the file and
/// does not unlock it) lest the lock outlives its parent.
#[derive(Debug)]
pub struct Files {
    directory: PathBuf,
    lock: Option<fs::File>,
}

impl Files {
    /// The directory at a path, which need not be there yet. It stays that one when the process goes to another
    /// working directory.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        Self {
            directory: std::path::absolute(&directory).unwrap_or(directory),
            lock: None,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// The open lock file, for a forked child that has to close it where this value can't be
    /// dropped.
    #[must_use]
    pub fn lock_descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.lock.as_ref().map(AsFd::as_fd)
    }

    fn lock_file(&self) -> io::Result<fs::File> {
        let path = self.directory.join(layout::LOCK);
        match fs::File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(FILE)
                .open(&path),
            opened => opened,
        }
    }
}

fn sync_directory(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.sync_all()
}

impl Storage for Files {
    type File = OpenFile;

    fn lock(&mut self) -> io::Result<bool> {
        let file = self.lock_file()?;
        match file.try_lock() {
            Ok(()) => {
                self.lock = Some(file);
                Ok(true)
            }
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn is_there(&self) -> io::Result<bool> {
        let Some(lock) = &self.lock else {
            return Ok(true);
        };
        let held = lock.metadata()?;
        match fs::metadata(self.directory.join(layout::LOCK)) {
            Ok(named) => Ok((named.dev(), named.ino()) == (held.dev(), held.ino())),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(false),
                _ if held.nlink() == 0 => Ok(false),
                _ => Err(error),
            },
        }
    }

    fn place(&self) -> Option<(u64, u64)> {
        let directory = fs::metadata(&self.directory).ok()?;
        Some((directory.dev(), directory.ino()))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.directory)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        names.collect()
    }

    fn make_directory(&self) -> io::Result<()> {
        match DirBuilder::new().mode(DIRECTORY).create(&self.directory) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            Err(error) => return Err(error),
        }
        match self.directory.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => sync_directory(parent),
            _ => sync_directory(Path::new(".")),
        }
    }

    fn open(&self, name: &str) -> io::Result<OpenFile> {
        fs::File::open(self.directory.join(name)).map(OpenFile::new)
    }

    fn edit(&self, name: &str) -> io::Result<OpenFile> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true);
        options.open(self.directory.join(name)).map(OpenFile::new)
    }

    fn create(&self, name: &str) -> io::Result<OpenFile> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        options
            .mode(FILE)
            .open(self.directory.join(name))
            .map(OpenFile::new)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.directory.join(from), self.directory.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.directory.join(name))
    }

    fn sync_directory(&self) -> io::Result<()> {
        sync_directory(&self.directory)
    }
}

/// An open file of the real file system.
#[derive(Debug, Clone)]
pub struct OpenFile(Arc<fs::File>);

impl OpenFile {
    fn new(file: fs::File) -> Self {
        Self(Arc::new(file))
    }
}

impl File for OpenFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_at(bytes, offset)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}
