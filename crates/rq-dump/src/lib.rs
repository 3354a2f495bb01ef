//! A queue as `DUMP` of Redis and Valkey gives it, and back.
//!
//! What is written here, every supported server restores; what any of them dumps is read here, also
//! where they refuse one another's. The queue within is a snapshot of the core
//! ([`rq_core::snapshot`]); this crate knows the server's wrapping around it, and nothing of queues.
//!
//! | file | holds |
//! |---|---|
//! | `lib` | the order of a dump's fields: [`write`], [`read`] |
//! | `reader` | the server's lengths and strings, with bounds and offsets |
//! | `lzf` | the compression of its strings |
//! | `refusal` | [`Refusal`]: why bytes are no dump of a queue |
//!
//! The bytes are in `docs/format.md`. Memory: strings are read one at a time. A compressed one takes at
//! most 88 times its bytes, which is what the compression can reach; a queue at most 16 times the bytes of its
//! snapshot.

mod lzf;
mod reader;
mod refusal;

use std::ops::RangeInclusive;

use crc::{CRC_64_REDIS, Crc, Table};
use rq_core::{Queue, effect, snapshot};

use reader::Reader;
pub use refusal::Refusal;

/// The server's mark of a module's value.
const MODULE_VALUE: u8 = 7;
/// What the type's ID begins with: its name, 6 bits a letter.
const NAME: u64 = name(b"RELIABLEQ");
/// Encoding of the value, the low bits of the type's ID; as the module's.
const ENCODING: u64 = 1;
const ENCODING_BITS: u32 = 10;
/// Marks before what a module saved: a string, and the end.
const STRING: u64 = 5;
const END: u64 = 0;
/// The version of Redis 7.0: every supported server restores it.
const WRITTEN_VERSION: u16 = 10;
/// Redis 7.0 to Valkey 9. What a module saved looks the same in all of them.
const READ_VERSIONS: RangeInclusive<u16> = 10..=80;
/// Bytes of the version, and of version and checksum together.
const VERSION_SIZE: usize = 2;
const FOOTER_SIZE: usize = VERSION_SIZE + 8;

static CHECKSUM: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_REDIS);

/// The bytes that `RESTORE` takes. The queue holds something, be it only settings ([`Queue::is_empty`]): one that holds
/// nothing does not exist, and its bytes would be refused.
#[must_use]
pub fn write(queue: &Queue) -> Vec<u8> {
    let mut out = vec![MODULE_VALUE];
    put_length(&mut out, NAME << ENCODING_BITS | ENCODING);
    snapshot::write(queue, |part| {
        put_length(&mut out, STRING);
        put_length(&mut out, part.len() as u64);
        out.extend_from_slice(part);
    });
    put_length(&mut out, END);
    out.extend_from_slice(&WRITTEN_VERSION.to_le_bytes());
    let checksum = CHECKSUM.checksum(&out);
    out.extend_from_slice(&checksum.to_le_bytes());
    out
}

/// The queue in what `DUMP` gave.
///
/// # Errors
/// A [`Refusal`] that says what was expected, and where.
pub fn read(bytes: &[u8]) -> Result<Queue, Refusal> {
    let mut reader = Reader::new(bytes);
    read_type(&mut reader)?;
    let mut skimmed = reader.clone();
    while next_part(&mut skimmed)?.is_some() {}
    check_footer(bytes, skimmed.offset())?;
    load(&mut reader)
}

fn read_type(reader: &mut Reader) -> Result<(), Refusal> {
    let kind = reader.byte("the type of a value")?;
    if kind != MODULE_VALUE {
        return Err(Refusal::OtherType { kind });
    }
    let offset = reader.offset();
    let id = reader.number("the ID of a module's type")?;
    if id >> ENCODING_BITS != NAME {
        return Err(Refusal::OtherModule { offset, id });
    }
    match id & ((1 << ENCODING_BITS) - 1) {
        ENCODING => Ok(()),
        0 => Err(Refusal::Damaged {
            offset,
            why: "encoding 0, which no release wrote,",
        }),
        encoding => Err(Refusal::LaterEncoding { offset, encoding }),
    }
}

/// The next part of the snapshot as it is stored; none at the end of the value.
fn next_part<'a>(reader: &mut Reader<'a>) -> Result<Option<reader::Text<'a>>, Refusal> {
    let offset = reader.offset();
    match reader.number("the mark of a part")? {
        STRING => reader.text().map(Some),
        END => Ok(None),
        _ => Err(Refusal::Damaged {
            offset,
            why: "neither the mark of a string (5) nor that of the end (0)",
        }),
    }
}

/// Checks what follows the value: the server's version and the checksum. One of 0 was not computed, as
/// in RDB files; the supported servers neither write nor restore such a dump.
fn check_footer(bytes: &[u8], offset: usize) -> Result<(), Refusal> {
    let footer = bytes.get(offset..).unwrap_or_default();
    let Some((&[low, high, ref checksum @ ..], behind)) = footer.split_first_chunk::<FOOTER_SIZE>()
    else {
        return Err(Refusal::CutOff {
            offset: bytes.len(),
            expected: "2 bytes of version and 8 of checksum after the value",
        });
    };
    if !behind.is_empty() {
        return Err(Refusal::Trailing {
            offset: offset + FOOTER_SIZE,
            count: behind.len(),
        });
    }
    let version = u16::from_le_bytes([low, high]);
    if !READ_VERSIONS.contains(&version) {
        return Err(Refusal::Version { offset, version });
    }
    let (offset, stored) = (offset + VERSION_SIZE, u64::from_le_bytes(*checksum));
    let computed = CHECKSUM.checksum(bytes.get(..offset).unwrap_or_default());
    if stored != 0 && stored != computed {
        return Err(Refusal::Checksum {
            offset,
            stored,
            computed,
        });
    }
    Ok(())
}

fn load(reader: &mut Reader) -> Result<Queue, Refusal> {
    let mut loader = snapshot::Loader::default();
    let mut ended = false;
    loop {
        let offset = reader.offset();
        let damaged = |why| Refusal::Damaged { offset, why };
        let Some(text) = next_part(reader)? else {
            return match ended {
                true => Ok(loader.finish()),
                false => Err(damaged("the end of the value before that of its snapshot")),
            };
        };
        if ended {
            return Err(damaged("a part behind the end of the snapshot"));
        }
        let part = text
            .bytes()
            .ok_or(damaged("a compressed string that does not expand"))?;
        if let Some(&version) = part.first()
            && version > effect::VERSION
        {
            return Err(Refusal::LaterPart { offset, version });
        }
        ended = loader
            .feed(&part)
            .map_err(|error| Refusal::Snapshot { offset, error })?;
    }
}

/// Appends a length in the shortest of the server's forms.
fn put_length(out: &mut Vec<u8>, length: u64) {
    match length {
        0..0x40 => out.push(length as u8),
        0x40..0x4000 => out.extend_from_slice(&(0x4000 | length as u16).to_be_bytes()),
        0x4000..=0xFFFF_FFFF => {
            out.push(reader::LENGTH_32);
            out.extend_from_slice(&(length as u32).to_be_bytes());
        }
        _ => {
            out.push(reader::LENGTH_64);
            out.extend_from_slice(&length.to_be_bytes());
        }
    }
}

/// A type's name as the server packs it.
const fn name(letters: &[u8; 9]) -> u64 {
    let mut packed = 0;
    let mut at = 0;
    while at < letters.len() {
        // All of ours are capital letters, which the server's alphabet begins with.
        packed = packed << 6 | (letters[at] - b'A') as u64;
        at += 1;
    }
    packed
}
