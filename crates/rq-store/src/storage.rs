//! What the store asks of a disk: files in one directory, and when they are durable.
//!
//! [`Files`](crate::Files) is the real one, [`Disk`](crate::Disk) the simulated one. Names are the store's own, plain
//! ASCII, and never contain a separator. Nothing here is durable before it was synced: what was
//! written to a file before [`File::sync`], and which files there are, under which names, before
//! [`Storage::sync_directory`].

use std::fmt;
use std::io;

/// A directory for one store.
pub trait Storage {
    /// A file of it.
    type File: File;

    /// Takes the lock of the directory until this value is dropped, without waiting; false when
    /// somebody else has it.
    ///
    /// # Errors
    /// What the system says.
    fn lock(&mut self) -> io::Result<bool>;

    /// Whether the directory is where it was when its lock was taken, and the lock with it.
    ///
    /// # Errors
    /// What the system says, when that does not tell.
    fn is_there(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// What tells the directory from all others, where that can be told.
    fn place(&self) -> Option<(u64, u64)> {
        None
    }

    /// The names of all files.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::NotFound`] when there is no directory.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Makes the directory where there is none.
    ///
    /// # Errors
    /// What the system says.
    fn make_directory(&self) -> io::Result<()>;

    /// Opens a file to read it.
    ///
    /// # Errors
    /// What the system says.
    fn open(&self, name: &str) -> io::Result<Self::File>;

    /// Opens a file to read and write it.
    ///
    /// # Errors
    /// What the system says.
    fn edit(&self, name: &str) -> io::Result<Self::File>;

    /// Makes an empty file to read and write it; one that is there is emptied.
    ///
    /// # Errors
    /// What the system says.
    fn create(&self, name: &str) -> io::Result<Self::File>;

    /// Gives a file another name; what had that name is gone.
    ///
    /// # Errors
    /// What the system says.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// What the system says.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes durable which files there are, and their names.
    ///
    /// # Errors
    /// What the system says. Nothing is known to be durable then, nor after a later success.
    fn sync_directory(&self) -> io::Result<()>;
}

/// An open file. Clones are the same open file.
pub trait File: Clone + fmt::Debug {
    /// Its bytes now.
    ///
    /// # Errors
    /// What the system says.
    fn length(&self) -> io::Result<u64>;

    /// Reads from an offset on, perhaps less than there is room for; nothing at the end.
    ///
    /// # Errors
    /// What the system says.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes at an offset, perhaps less than was given, and tells how much.
    ///
    /// # Errors
    /// What the system says; part of it may have been written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts the file to a length.
    ///
    /// # Errors
    /// What the system says.
    fn truncate(&self, length: u64) -> io::Result<()>;

    /// Makes durable what was written.
    ///
    /// # Errors
    /// What the system says. What was written before may be lost then, also when a later sync
    /// succeeds.
    fn sync(&self) -> io::Result<()>;
}

/// Writes all of it.
pub(crate) fn write_all(file: &impl File, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(offset, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                offset += count as u64;
                bytes = bytes.get(count..).unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads until the buffer is full or the file ends, and tells how much.
pub(crate) fn read_full(
    file: &impl File,
    mut offset: u64,
    mut buffer: &mut [u8],
) -> io::Result<usize> {
    let wanted = buffer.len();
    while !buffer.is_empty() {
        match file.read_at(offset, buffer) {
            Ok(0) => break,
            Ok(count) => {
                offset += count as u64;
                buffer = buffer.get_mut(count..).unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(wanted - buffer.len())
}

/// The whole of a file.
pub(crate) fn read_all(file: &impl File) -> io::Result<Vec<u8>> {
    let length = usize::try_from(file.length()?).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut bytes = vec![0; length];
    let count = read_full(file, 0, &mut bytes)?;
    bytes.truncate(count);
    Ok(bytes)
}
