//! A simulated disk, with power losses, failures and an end of its room.
//!
//! What was not synced may be lost when the power fails, in any order: each sector of a file and
//! each change of the directory on its own. What was not synced when a sync failed is lost for certain
//! then, whatever later syncs say. All of it is driven by the caller's numbers, so that every run can
//! be had again.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::storage::{File, Storage};

/// Bytes that reach the disk whole.
const SECTOR: usize = 512;

/// What the disk is asked to do, as faults name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Writing into a file.
    Write,
    /// Cutting a file.
    Truncate,
    /// Making a file durable.
    Sync,
    /// Making, renaming or removing a file.
    Directory,
    /// Making the directory durable.
    SyncDirectory,
}

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The device does not answer (EIO).
    Io,
    /// There is no room (ENOSPC).
    Full,
}

/// Operations that are to fail.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// Which operations are counted; all when none is named.
    pub operation: Option<Operation>,
    /// How many of them succeed before.
    pub after: u64,
    /// How they fail.
    pub failure: Failure,
    /// Whether all that follow fail, too, and not just one.
    pub forever: bool,
}

/// What is left when the power fails.
#[derive(Debug, Clone, Copy)]
pub enum Crash {
    /// Everything: only the process ended.
    Kept,
    /// Only what was synced.
    Lost,
    /// What was synced, and of the rest what this seed says.
    Random(u64),
}

/// A simulated directory. Clones are the same one, as another process sees it.
#[derive(Debug, Default)]
pub struct Disk {
    state: Arc<Mutex<State>>,
    has_lock: bool,
}

#[derive(Debug, Default)]
struct State {
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    /// Changes of the directory since it was synced.
    changes: Vec<Change>,
    inodes: Vec<Inode>,
    locked: bool,
    operations: u64,
    faults: Vec<Fault>,
    power_off_at: Option<u64>,
    capacity: Option<u64>,
}

#[derive(Debug, Clone, Default)]
struct Inode {
    now: Vec<u8>,
    durable: Vec<u8>,
    /// What happened since the file was synced.
    pending: Vec<Pending>,
}

#[derive(Debug, Clone)]
enum Pending {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

impl Pending {
    fn apply(&self, data: &mut Vec<u8>) {
        match self {
            Pending::Write(offset, bytes) => {
                let end = offset + bytes.len();
                data.resize(data.len().max(end), 0);
                data[*offset..end].copy_from_slice(bytes);
            }
            Pending::Truncate(length) => data.resize(*length, 0),
        }
    }
}

#[derive(Debug, Clone)]
enum Change {
    Create(String, usize),
    Rename(String, String),
    Remove(String),
}

impl Change {
    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            Change::Create(name, inode) => {
                names.insert(name.clone(), *inode);
            }
            Change::Rename(from, to) => {
                if let Some(inode) = names.remove(from) {
                    names.insert(to.clone(), inode);
                }
            }
            Change::Remove(name) => {
                names.remove(name);
            }
        }
    }
}

/// Random numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
    }
}

impl Inode {
    fn change(&mut self, pending: Pending) {
        pending.apply(&mut self.now);
        self.pending.push(pending);
    }

    /// The bytes after each of the changes since the last sync, the first without any of them.
    fn versions(&self) -> Vec<Vec<u8>> {
        let mut versions = vec![self.durable.clone()];
        let mut data = self.durable.clone();
        for pending in &self.pending {
            pending.apply(&mut data);
            versions.push(data.clone());
        }
        versions
    }

    /// What is left of it: a state between two changes, perhaps with the next one begun, or each sector as it
    /// was at a time of its own.
    fn crash(&self, random: &mut Random) -> Vec<u8> {
        let versions = self.versions();
        let mut left = versions[random.below(versions.len())].clone();
        match random.below(4) {
            0 => versions[versions.len() - 1].clone(),
            1 => left,
            2 => {
                let next = random.below(self.pending.len());
                let mut left = versions[next].clone();
                if let Some(Pending::Write(offset, bytes)) = self.pending.get(next) {
                    let part = bytes[..random.below(bytes.len() + 1)].to_vec();
                    Pending::Write(*offset, part).apply(&mut left);
                }
                left
            }
            _ => {
                for (n, sector) in left.chunks_mut(SECTOR).enumerate() {
                    let version = &versions[random.below(versions.len())];
                    let there = version.get(n * SECTOR..).unwrap_or_default();
                    for (at, byte) in sector.iter_mut().enumerate() {
                        *byte = there.get(at).copied().unwrap_or(0);
                    }
                }
                left
            }
        }
    }
}

impl State {
    /// Counts an operation: whether the power fails in it, or why it fails.
    fn begin(&mut self, operation: Operation) -> Result<bool, io::Error> {
        let number = self.operations;
        self.operations += 1;
        if let Some(at) = self.power_off_at {
            if number > at {
                return Err(power_off());
            }
            if number == at {
                return Ok(true);
            }
        }
        for n in 0..self.faults.len() {
            let fault = &mut self.faults[n];
            if fault.operation.is_some_and(|only| only != operation) {
                continue;
            }
            if fault.after > 0 {
                fault.after -= 1;
                continue;
            }
            let failure = fault.failure;
            if !fault.forever {
                self.faults.remove(n);
            }
            return Err(match failure {
                Failure::Io => io::Error::from_raw_os_error(5),
                Failure::Full => io::ErrorKind::StorageFull.into(),
            });
        }
        Ok(false)
    }

    fn change(&mut self, change: Change) -> io::Result<()> {
        let fails = self.begin(Operation::Directory)?;
        change.apply(&mut self.names);
        self.changes.push(change);
        ended(fails)
    }

    fn find(&self, name: &str) -> io::Result<usize> {
        (self.names.get(name).copied()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// How many of so many bytes there is room for, in a file that would grow by `growth`.
    fn room(&self, growth: usize) -> usize {
        let Some(capacity) = self.capacity else {
            return growth;
        };
        let used: usize = (self.names.values())
            .map(|&n| self.inodes[n].now.len())
            .sum();
        growth.min((capacity as usize).saturating_sub(used))
    }
}

fn power_off() -> io::Error {
    io::Error::other("the power is off")
}

fn ended(power_fails: bool) -> io::Result<()> {
    if power_fails {
        Err(power_off())
    } else {
        Ok(())
    }
}

impl Disk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many operations were begun that change something or make it durable.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Lets the power fail in the operation after so many more; nothing succeeds from then on.
    pub fn power_off_after(&self, operations: u64) {
        let mut state = self.state();
        state.power_off_at = Some(state.operations + operations);
    }

    /// Lets operations fail.
    pub fn fail(&self, fault: Fault) {
        self.state().faults.push(fault);
    }

    /// Takes all faults back.
    pub fn heal(&self) {
        self.state().faults.clear();
    }

    /// Sets how many bytes all files together can have.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state().capacity = bytes;
    }

    /// The disk as it is found when the power is back: nobody has it open, and faults are gone.
    #[must_use]
    pub fn crash(&self, crash: Crash) -> Disk {
        let state = self.state();
        let mut left = State {
            inodes: state.inodes.clone(),
            ..State::default()
        };
        let mut random = match crash {
            Crash::Random(seed) => Random(seed),
            _ => Random(0),
        };
        left.names = match crash {
            Crash::Kept => state.names.clone(),
            _ => state.durable_names.clone(),
        };
        if matches!(crash, Crash::Random(_)) {
            let whole = random.below(2) == 0;
            for change in &state.changes {
                if whole || random.below(2) == 0 {
                    change.apply(&mut left.names);
                }
            }
        }
        for inode in &mut left.inodes {
            inode.now = match crash {
                Crash::Kept => inode.now.clone(),
                Crash::Lost => inode.durable.clone(),
                Crash::Random(_) => inode.crash(&mut random),
            };
            inode.durable.clone_from(&inode.now);
            inode.pending.clear();
        }
        left.durable_names = left.names.clone();
        Disk {
            state: Arc::new(Mutex::new(left)),
            has_lock: false,
        }
    }

    /// The bytes of a file.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state();
        let inode = state.find(name).ok()?;
        Some(state.inodes[inode].now.clone())
    }

    /// Puts a file there, durable.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        let mut state = self.state();
        let number = state.inodes.len();
        state.inodes.push(Inode {
            now: bytes.to_vec(),
            durable: bytes.to_vec(),
            pending: Vec::new(),
        });
        state.names.insert(name.to_owned(), number);
        state.durable_names.insert(name.to_owned(), number);
    }
}

impl Clone for Disk {
    fn clone(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
            has_lock: false,
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.has_lock {
            self.state().locked = false;
        }
    }
}

impl Storage for Disk {
    type File = DiskFile;

    fn lock(&mut self) -> io::Result<bool> {
        let mut state = self.state();
        let free = !state.locked;
        state.locked = true;
        drop(state);
        self.has_lock |= free;
        Ok(free)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.state().names.keys().cloned().collect())
    }

    fn make_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn open(&self, name: &str) -> io::Result<DiskFile> {
        let inode = self.state().find(name)?;
        let disk = self.clone();
        Ok(DiskFile { disk, inode })
    }

    fn edit(&self, name: &str) -> io::Result<DiskFile> {
        self.open(name)
    }

    fn create(&self, name: &str) -> io::Result<DiskFile> {
        if let Ok(file) = self.open(name) {
            file.truncate(0)?;
            return Ok(file);
        }
        let mut state = self.state();
        let inode = state.inodes.len();
        state.inodes.push(Inode::default());
        state.change(Change::Create(name.to_owned(), inode))?;
        drop(state);
        let disk = self.clone();
        Ok(DiskFile { disk, inode })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.state();
        state.find(from)?;
        state.change(Change::Rename(from.to_owned(), to.to_owned()))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.state();
        state.find(name)?;
        state.change(Change::Remove(name.to_owned()))
    }

    fn sync_directory(&self) -> io::Result<()> {
        let mut state = self.state();
        let changes = std::mem::take(&mut state.changes);
        match state.begin(Operation::SyncDirectory) {
            Ok(false) => {
                (changes.iter()).for_each(|change| change.apply(&mut state.durable_names));
                Ok(())
            }
            Ok(true) => {
                state.changes = changes;
                Err(power_off())
            }
            Err(error) => {
                if state.power_off_at.is_some() {
                    state.changes = changes;
                }
                Err(error)
            }
        }
    }
}

/// An open file of a simulated disk.
#[derive(Debug, Clone)]
pub struct DiskFile {
    disk: Disk,
    inode: usize,
}

impl File for DiskFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.disk.state().inodes[self.inode].now.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let state = self.disk.state();
        let now = &state.inodes[self.inode].now;
        let there = now.get(offset as usize..).unwrap_or_default();
        let count = there.len().min(buffer.len());
        buffer[..count].copy_from_slice(&there[..count]);
        Ok(count)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.disk.state();
        let offset = offset as usize;
        let begun = state.begin(Operation::Write);
        let growth = (offset + bytes.len()).saturating_sub(state.inodes[self.inode].now.len());
        let written = match &begun {
            Ok(_) => bytes.len() - (growth - state.room(growth)),
            // A write that fails may have written something.
            Err(_) if state.power_off_at.is_none() => bytes.len() / 2,
            Err(_) => 0,
        };
        if written > 0 {
            let pending = Pending::Write(offset, bytes[..written].to_vec());
            state.inodes[self.inode].change(pending);
        }
        match begun? {
            true => Err(power_off()),
            false if written == 0 && !bytes.is_empty() => Err(io::ErrorKind::StorageFull.into()),
            false => Ok(written),
        }
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        let fails = state.begin(Operation::Truncate)?;
        state.inodes[self.inode].change(Pending::Truncate(length as usize));
        ended(fails)
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        let begun = state.begin(Operation::Sync);
        let is_off = state.power_off_at.is_some_and(|at| state.operations > at);
        let inode = &mut state.inodes[self.inode];
        if !is_off {
            // After a failure the system takes what it could not write for written.
            let pending = std::mem::take(&mut inode.pending);
            if begun.is_ok() {
                (pending.iter()).for_each(|change| change.apply(&mut inode.durable));
            }
        }
        begun.and_then(ended)
    }
}
