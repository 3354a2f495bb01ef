//! All queues in one file, so that the log before it can go.
//!
//! A frame each, numbered from 1: the floor; for each queue its name and the parts of its
//! snapshot; the end, with the numbers of queues and parts. The file gets its name once it is
//! durable, so one that is not whole was damaged later.

use std::io;

use rq_core::Id;
use rq_core::snapshot::{self, Loader};

use crate::error::Error;
use crate::frame::{self, Head};
use crate::layout::{self, HEADER, Kind};
use crate::number::{self, Reader};
use crate::queues::Queues;
use crate::storage::{File, Storage, read_full, write_all};

const FLOOR: u8 = 1;
const QUEUE: u8 = 2;
const PART: u8 = 3;
const END: u8 = 4;

/// Bytes that are collected before they are written.
const CHUNK: usize = 256 * 1024;

/// Writes all queues into an empty file and makes it durable; its bytes.
pub(crate) fn write(
    file: &impl File,
    uuid: &[u8; 16],
    through: u64,
    queues: &Queues,
) -> io::Result<u64> {
    Writer::new(file, Kind::Checkpoint(through), uuid).write(queues)
}

struct Writer<'a, F> {
    file: &'a F,
    seed: u32,
    frames: u64,
    offset: u64,
    buffer: Vec<u8>,
    outcome: io::Result<()>,
}

impl<'a, F: File> Writer<'a, F> {
    fn new(file: &'a F, kind: Kind, uuid: &[u8; 16]) -> Self {
        let header = layout::header(kind, uuid);
        Self {
            file,
            seed: layout::seed(&header),
            frames: 0,
            offset: 0,
            buffer: header.to_vec(),
            outcome: Ok(()),
        }
    }

    fn write(&mut self, queues: &Queues) -> io::Result<u64> {
        let floor = queues.floor();
        self.frame(FLOOR, |out| {
            number::put(out, floor.milliseconds);
            number::put(out, floor.sequence);
        });
        let mut parts = 0;
        for (name, queue) in queues.sorted() {
            self.frame(QUEUE, |out| out.extend_from_slice(name));
            snapshot::write(queue, |part| {
                self.frame(PART, |out| out.extend_from_slice(part));
                parts += 1;
            });
        }
        self.frame(END, |out| {
            number::put(out, queues.len() as u64);
            number::put(out, parts);
        });
        self.flush();
        std::mem::replace(&mut self.outcome, Ok(()))?;
        self.file.sync()?;
        Ok(self.offset)
    }

    fn frame(&mut self, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
        if self.outcome.is_err() {
            return;
        }
        self.frames += 1;
        let start = frame::begin(&mut self.buffer);
        self.buffer.push(kind);
        body(&mut self.buffer);
        if !frame::end(&mut self.buffer, start, self.seed, self.frames) {
            self.outcome = Err(io::ErrorKind::FileTooLarge.into());
        }
        if self.buffer.len() >= CHUNK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.outcome.is_ok() {
            self.outcome = write_all(self.file, self.offset, &self.buffer);
            self.offset += self.buffer.len() as u64;
            self.buffer.clear();
        }
    }
}

/// One frame of a checkpoint.
pub(crate) enum Entry<'a> {
    Floor(Id),
    Queue(&'a [u8]),
    Part(&'a [u8]),
    End { queues: u64, parts: u64 },
}

fn entry(body: &[u8]) -> Option<Entry<'_>> {
    let mut reader = Reader(body);
    let entry = match reader.byte()? {
        QUEUE => return Some(Entry::Queue(reader.0)),
        PART => return Some(Entry::Part(reader.0)),
        FLOOR => Entry::Floor(Id::new(reader.number()?, reader.number()?)),
        END => Entry::End {
            queues: reader.number()?,
            parts: reader.number()?,
        },
        _ => return None,
    };
    reader.is_done().then_some(entry)
}

/// Reads the frames of a checkpoint one after the other; only one is in memory.
pub(crate) struct Frames<F> {
    file: F,
    name: String,
    seed: u32,
    frames: u64,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    body: Vec<u8>,
}

impl<F: File> Frames<F> {
    /// Opens a checkpoint of this store.
    pub(crate) fn open<S: Storage<File = F>>(
        storage: &S,
        uuid: &[u8; 16],
        through: u64,
    ) -> Result<Self, Error> {
        let frames = Self::open_behind_header(storage, uuid, through)?;
        let failed = |error| Error::io("read", &frames.name, error);
        let mut header = [0; HEADER];
        let read = read_full(&frames.file, 0, &mut header).map_err(failed)?;
        let header = header.get(..read).unwrap_or_default();
        if layout::read_header(Kind::Checkpoint(through), header)? != *uuid {
            return Err(Error::corrupt(&frames.name, 0, "it is of another store"));
        }
        Ok(frames)
    }

    /// Opens a checkpoint of this store, whatever its header says.
    pub(crate) fn open_behind_header<S: Storage<File = F>>(
        storage: &S,
        uuid: &[u8; 16],
        through: u64,
    ) -> Result<Self, Error> {
        let kind = Kind::Checkpoint(through);
        let name = kind.name();
        let failed = |error| Error::io("read", &kind.name(), error);
        let file = storage.open(&name).map_err(failed)?;
        Ok(Self {
            length: file.length().map_err(failed)?,
            file,
            name,
            seed: layout::seed(&layout::header(kind, uuid)),
            frames: 0,
            offset: HEADER as u64,
            body: Vec::new(),
        })
    }

    fn corrupt(&self, reason: &'static str) -> Error {
        Error::corrupt(&self.name, self.offset, reason)
    }

    /// The next frame. After damage behind a whole head, the one after it can be asked for.
    pub(crate) fn next(&mut self) -> Result<Entry<'_>, Error> {
        let at = self.offset;
        let (name, file) = (&self.name, &self.file);
        let failed = |error| Error::io("read", name, error);
        let mut head = [0; frame::HEAD];
        let read = read_full(file, at, &mut head).map_err(failed)?;
        let Some(head) = Head::read(self.seed, head.get(..read).unwrap_or_default()) else {
            return Err(self.corrupt("no whole frame"));
        };
        let end = at + frame::HEAD as u64 + u64::from(head.length);
        if head.sequence != self.frames + 1 || end > self.length {
            return Err(self.corrupt("a frame that is out of place"));
        }
        self.body.resize(head.length as usize, 0);
        let read = read_full(file, at + frame::HEAD as u64, &mut self.body).map_err(failed)?;
        (self.frames, self.offset) = (self.frames + 1, end);
        let body = self.body.get(..read).unwrap_or_default();
        let damaged = || Error::corrupt(&self.name, at, "a frame with a damaged body");
        if !head.fits(body) {
            return Err(damaged());
        }
        entry(body).ok_or_else(damaged)
    }

    /// Goes to the next head of a frame, from behind one that is damaged; false when there is none.
    pub(crate) fn resume(&mut self) -> Result<bool, Error> {
        let mut window = vec![0; CHUNK + frame::HEAD];
        let mut from = self.offset + 1;
        while from < self.length {
            let read = read_full(&self.file, from, &mut window);
            let read = read.map_err(|error| Error::io("read", &self.name, error))?;
            for (at, bytes) in (from..).zip(window[..read].windows(frame::HEAD).take(CHUNK)) {
                let Some(head) = Head::read(self.seed, bytes) else {
                    continue;
                };
                let end = at + frame::HEAD as u64 + u64::from(head.length);
                if head.sequence > self.frames && end <= self.length {
                    (self.offset, self.frames) = (at, head.sequence - 1);
                    return Ok(true);
                }
            }
            from += CHUNK as u64;
        }
        Ok(false)
    }
}

/// Reads all queues of a checkpoint, and its bytes.
pub(crate) fn load<S: Storage>(
    storage: &S,
    uuid: &[u8; 16],
    through: u64,
) -> Result<(Queues, u64), Error> {
    let mut frames = Frames::open(storage, uuid, through)?;
    let mut queues = Queues::default();
    let Entry::Floor(floor) = frames.next()? else {
        return Err(frames.corrupt("no floor"));
    };
    queues.raise(floor);
    let (mut name, mut loader): (Vec<u8>, Option<Loader>) = (Vec::new(), None);
    let mut counted = 0;
    let length = frames.length;
    loop {
        let at = frames.offset;
        let corrupt = |reason| Error::corrupt(&Kind::Checkpoint(through).name(), at, reason);
        match (frames.next()?, &mut loader) {
            (Entry::Queue(next), None) => {
                next.clone_into(&mut name);
                loader = Some(Loader::default());
            }
            (Entry::Part(part), Some(queue)) => {
                let ends = queue.feed(part);
                counted += 1;
                if ends.map_err(|_| corrupt("a part that does not fit its queue"))?
                    && let Some(whole) = loader.take()
                {
                    queues.insert(&name, whole.finish());
                }
            }
            (Entry::End { queues: all, parts }, None)
                if (all, parts) == (queues.len() as u64, counted) =>
            {
                if frames.offset == length {
                    return Ok((queues, length));
                }
                return Err(frames.corrupt("bytes behind the end"));
            }
            _ => return Err(corrupt("a frame that is out of place")),
        }
    }
}
