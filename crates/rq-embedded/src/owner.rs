//! Who keeps queues in this process: one owner for each place, whoever opens it.
//!
//! An owner lives as long as somebody holds it. The one of a file has its lock, a thread that keeps
//! house, and an endpoint for other processes; the last to let go ends them.

use std::collections::HashMap;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::thread::JoinHandle;

use rq_store::{Files, Opened, Options, Store};

use crate::clock::Clock;
use crate::endpoint::Endpoint;
use crate::engine::{Engine, Sync};
use crate::error::Error;
use crate::fork;
use crate::house;

/// What keeps queues. It counts its users: the last one to let go closes it.
pub struct Owner {
    engine: Arc<Engine>,
    /// Changed under the lock of [`OWNERS`] only.
    users: AtomicUsize,
    file: Mutex<Option<File>>,
}

/// What belongs to the owner of a file.
struct File {
    endpoint: Endpoint,
    housekeeper: JoinHandle<()>,
    /// The lock's place among the descriptors that a forked child closes.
    entry: fork::Entry,
}

/// A place of this process, in this generation.
#[derive(PartialEq, Eq, Hash)]
enum Place {
    Memory(u64, Box<str>),
    /// Device and inode of the directory.
    File(u64, u64, u64),
}

/// The owners of this process. The lock is held for a look or an entry only, and never while the
/// process forks.
static OWNERS: LazyLock<Mutex<HashMap<Place, Weak<Owner>>>> = LazyLock::new(Mutex::default);
/// Queues in memory that have a name live as long as the process.
static NAMED: LazyLock<Mutex<Vec<Arc<Owner>>>> = LazyLock::new(Mutex::default);

impl Owner {
    fn new(engine: Arc<Engine>, file: Option<File>) -> Arc<Self> {
        Arc::new(Self {
            engine,
            users: AtomicUsize::new(1),
            file: Mutex::new(file),
        })
    }

    /// Queues in memory: those of a name, which all who give it share for as long as the process
    /// lives, or new ones. A clock is for new ones.
    ///
    /// # Errors
    /// [`Error::Damaged`]
    pub fn memory(name: Option<&str>, clock: Option<Arc<Clock>>) -> Result<Arc<Self>, Error> {
        fork::watch()?;
        let new = || Ok::<_, Error>(Self::new(Engine::memory(clock)?, None));
        let Some(name) = name else { return new() };
        let place = Place::Memory(fork::generation(), name.into());
        let _gate = fork::keep_from_forking();
        let mut owners = OWNERS.lock()?;
        if let Some(owner) = owners.get(&place).and_then(Weak::upgrade) {
            owner.users.fetch_add(1, Ordering::Relaxed);
            return Ok(owner);
        }
        let owner = new()?;
        owner.users.fetch_add(1, Ordering::Relaxed);
        owners.insert(place, Arc::downgrade(&owner));
        NAMED.lock()?.push(Arc::clone(&owner));
        Ok(owner)
    }

    /// The owner of a file in this process, where there is one.
    ///
    /// # Errors
    /// [`Error::Damaged`]
    pub fn of_file(path: &Path) -> Result<Option<Arc<Self>>, Error> {
        let Some(place) = Place::of_file(path) else {
            return Ok(None);
        };
        let _gate = fork::keep_from_forking();
        let owners = OWNERS.lock()?;
        let owner = owners.get(&place).and_then(Weak::upgrade);
        let owner = owner.filter(|owner| owner.users.load(Ordering::Relaxed) > 0);
        if let Some(owner) = &owner {
            owner.users.fetch_add(1, Ordering::Relaxed);
        }
        Ok(owner)
    }

    /// Becomes the owner of a file. `uuid` is for one that is made; without it none is made. Its queues live by the
    /// system's clock, or by another one.
    ///
    /// # Errors
    /// [`rq_store::Error::Busy`] when somebody owns it; what the store says, and the system.
    pub fn open(
        path: &Path,
        uuid: Option<[u8; 16]>,
        background: Sync,
        clock: Option<Arc<Clock>>,
    ) -> Result<(Arc<Self>, Opened), Error> {
        let options = Options {
            create: uuid,
            ..Options::default()
        };
        let ((store, opened), entry) = fork::open(
            || Ok::<_, Error>(Store::open(Files::new(path), options)?),
            |(store, _)| {
                let lock = store.storage().lock_descriptor();
                lock.map_or(-1, |lock| lock.as_raw_fd())
            },
        )?;
        let engine = Engine::of(store, background, clock)?;
        let endpoint = Endpoint::start(Arc::clone(&engine), path)?;
        let keeper = Arc::clone(&engine);
        let housekeeper = house::spawn(move || keeper.keep_house())?;
        let file = File {
            endpoint,
            housekeeper,
            entry,
        };
        let owner = Self::new(engine, Some(file));
        if let Some(place) = Place::of_file(path) {
            let _gate = fork::keep_from_forking();
            let mut owners = OWNERS.lock()?;
            owners.retain(|_, owner| owner.strong_count() > 0);
            owners.insert(place, Arc::downgrade(&owner));
        }
        Ok((owner, opened))
    }

    /// The queues.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// One user lets go; the last one closes, which may take the time of a sync.
    ///
    /// # Errors
    /// When the last changes may not be durable.
    pub fn release(&self) -> Result<(), Error> {
        let last = {
            let _gate = fork::keep_from_forking();
            let _owners = OWNERS.lock()?;
            self.users.fetch_sub(1, Ordering::Relaxed) == 1
        };
        if last { self.close() } else { Ok(()) }
    }

    fn close(&self) -> Result<(), Error> {
        let file = self.file.lock()?.take();
        self.engine.stop();
        let Some(file) = file else {
            return self.engine.finish();
        };
        drop(file.endpoint);
        let _ = file.housekeeper.join();
        fork::close(file.entry, || self.engine.finish())
    }
}

impl Place {
    fn of_file(path: &Path) -> Option<Self> {
        let found = std::fs::metadata(path).ok()?;
        Some(Place::File(fork::generation(), found.dev(), found.ino()))
    }
}
