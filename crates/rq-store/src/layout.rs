//! Names and first bytes of the store's files.
//!
//! Every file but the lock begins with the same header; its checksum seeds those of the frames
//! behind it, so that no frame is ever taken for one of another file. The bytes are specified in
//! `docs/store.md`. To change what follows a header: raise [`VERSION`], keep the header, and keep
//! reading what older versions wrote.

use crate::error::Error;

/// The newest format that is written and read.
pub(crate) const VERSION: u32 = 1;

pub(crate) const LOCK: &str = "lock";
pub(crate) const IDENTITY: &str = "identity";
const LOG: &str = "log-";
const CHECKPOINT: &str = "checkpoint-";
/// Files that were never finished end so; whoever opens the store removes them.
const UNFINISHED: &str = ".new";

/// What a file of the store is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The store's UUID and format.
    Identity,
    /// Records from this sequence number on.
    Log(u64),
    /// All queues, with every record up to this sequence number.
    Checkpoint(u64),
}

impl Kind {
    pub(crate) fn name(self) -> String {
        match self {
            Kind::Identity => IDENTITY.to_owned(),
            Kind::Log(first) => format!("{LOG}{first:016x}"),
            Kind::Checkpoint(through) => format!("{CHECKPOINT}{through:016x}"),
        }
    }

    /// The name under which the file is written until it is whole.
    pub(crate) fn unfinished(self) -> String {
        self.name() + UNFINISHED
    }

    /// The kind of a name; none for names that the store never gives.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let number = |digits| {
            let number = u64::from_str_radix(digits, 16).ok();
            // The first and the last number are no record's, so neighbours can be counted.
            number.filter(|&number| number > 0 && number < u64::MAX)
        };
        let kind = if let Some(digits) = name.strip_prefix(LOG) {
            Kind::Log(number(digits)?)
        } else if let Some(digits) = name.strip_prefix(CHECKPOINT) {
            Kind::Checkpoint(number(digits)?)
        } else {
            Kind::Identity
        };
        (kind.name() == name).then_some(kind)
    }

    fn magic(self) -> [u8; 8] {
        match self {
            Kind::Identity => *b"rq-ident",
            Kind::Log(_) => *b"rq-log\0\0",
            Kind::Checkpoint(_) => *b"rq-check",
        }
    }

    fn sequence(self) -> u64 {
        match self {
            Kind::Identity => 0,
            Kind::Log(sequence) | Kind::Checkpoint(sequence) => sequence,
        }
    }
}

/// Whether a file was never finished, and can go.
pub(crate) fn is_unfinished(name: &str) -> bool {
    (name.strip_suffix(UNFINISHED)).is_some_and(|finished| Kind::of(finished).is_some())
}

/// The first bytes of a file.
pub(crate) const HEADER: usize = 40;

/// The header of a file: magic, version, UUID, sequence number, checksum.
pub(crate) fn header(kind: Kind, uuid: &[u8; 16]) -> [u8; HEADER] {
    let mut out = [0; HEADER];
    let mut at = 0;
    let fields: [&[u8]; 4] = [
        &kind.magic(),
        &VERSION.to_le_bytes(),
        uuid,
        &kind.sequence().to_le_bytes(),
    ];
    for field in fields {
        out[at..at + field.len()].copy_from_slice(field);
        at += field.len();
    }
    let check = crc32c::crc32c(&out[..at]);
    out[at..].copy_from_slice(&check.to_le_bytes());
    out
}

/// The checksum of a header, the seed of the frames behind it.
pub(crate) fn seed(header: &[u8; HEADER]) -> u32 {
    let [.., a, b, c, d] = *header;
    u32::from_le_bytes([a, b, c, d])
}

/// Reads a header: the UUID in it.
///
/// # Errors
/// [`Error::Newer`] for a format of a later release, [`Error::Corrupt`] for anything else than a header of
/// this kind.
pub(crate) fn read_header(kind: Kind, bytes: &[u8]) -> Result<[u8; 16], Error> {
    let corrupt = |reason| Error::corrupt(&kind.name(), 0, reason);
    let Some((bytes, _)) = bytes.split_first_chunk::<HEADER>() else {
        return Err(corrupt("the file is shorter than its header"));
    };
    let (fields, _) = bytes.split_at(HEADER - 4);
    if crc32c::crc32c(fields) != seed(bytes) {
        return Err(corrupt("the header is damaged"));
    }
    let mut version = [0; 4];
    version.copy_from_slice(&bytes[8..12]);
    let version = u32::from_le_bytes(version);
    if bytes[..8] == kind.magic() && version > VERSION {
        let file = kind.name();
        return Err(Error::Newer { file, version });
    }
    let mut uuid = [0; 16];
    uuid.copy_from_slice(&bytes[12..28]);
    if *bytes != header(kind, &uuid) {
        return Err(corrupt("the header is that of another file"));
    }
    Ok(uuid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for kind in [
            Kind::Identity,
            Kind::Log(1),
            Kind::Log(u64::MAX - 1),
            Kind::Checkpoint(77),
        ] {
            assert_eq!(Kind::of(&kind.name()), Some(kind));
            assert_eq!(Kind::of(&kind.unfinished()), None);
            assert!(is_unfinished(&kind.unfinished()));
            assert!(!is_unfinished(&kind.name()));
        }
        for name in [
            "lock",
            "socket",
            "log-1",
            "log-",
            "log-000000000000000G",
            "log-0000000000000000",
            "checkpoint-ffffffffffffffff",
            "",
        ] {
            assert_eq!(Kind::of(name), None, "{name}");
        }
    }

    #[test]
    fn headers_of_other_files_and_versions_are_refused() {
        let uuid = [7; 16];
        let bytes = header(Kind::Log(5), &uuid);
        assert_eq!(read_header(Kind::Log(5), &bytes).unwrap(), uuid);
        for kind in [Kind::Log(6), Kind::Checkpoint(5), Kind::Identity] {
            assert!(matches!(
                read_header(kind, &bytes),
                Err(Error::Corrupt { .. })
            ));
        }
        let mut newer = bytes;
        newer[8] = 2;
        let check = crc32c::crc32c(&newer[..36]);
        newer[36..].copy_from_slice(&check.to_le_bytes());
        assert!(matches!(
            read_header(Kind::Log(5), &newer),
            Err(Error::Newer { version: 2, .. })
        ));
    }

    #[test]
    fn every_flipped_bit_of_a_header_is_seen() {
        let bytes = header(Kind::Checkpoint(3), &[9; 16]);
        for bit in 0..HEADER * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(read_header(Kind::Checkpoint(3), &damaged).is_err());
        }
    }
}
