//! Why bytes are no dump of a queue.

use std::fmt;

/// Bytes that were refused whole. Offsets count from their first byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A value of another type than a module's, or no dump at all.
    /// Remedy: dump the key of a queue.
    OtherType {
        /// The server's number of the type.
        kind: u8,
    },
    /// A value of another module. Remedy: dump the key of a queue.
    OtherModule {
        /// Where the ID is.
        offset: usize,
        /// The ID of that module's type.
        id: u64,
    },
    /// A queue in an encoding that is not known here. Cause: a later release of reliableq wrote it.
    /// Remedy: read it with that release or a newer one.
    LaterEncoding {
        /// Where the type's ID is.
        offset: usize,
        /// The encoding.
        encoding: u64,
    },
    /// A part of a queue in a version that is not known here. Cause and remedy as above.
    LaterPart {
        /// Where the part is.
        offset: usize,
        /// The part's version.
        version: u8,
    },
    /// A dump of an older or a newer server than those that are known here.
    Version {
        /// Where the version is.
        offset: usize,
        /// The RDB version.
        version: u16,
    },
    /// The bytes changed on their way.
    Checksum {
        /// Where the checksum is.
        offset: usize,
        /// The checksum there.
        stored: u64,
        /// The one of the bytes before it.
        computed: u64,
    },
    /// The bytes end early.
    CutOff {
        /// Where something was expected that reaches beyond the end.
        offset: usize,
        /// What it was.
        expected: &'static str,
    },
    /// Bytes that no server writes.
    Damaged {
        /// Where.
        offset: usize,
        /// What is there.
        why: &'static str,
    },
    /// A part that can't follow those before it.
    Snapshot {
        /// Where the part is.
        offset: usize,
        /// What the core says.
        error: rq_core::Error,
    },
    /// More bytes than the dump has.
    Trailing {
        /// Where the dump ends.
        offset: usize,
        /// How many follow.
        count: usize,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::OtherType { kind } => write!(
                f,
                "not a dump of a queue: type {kind} at offset 0, expected 7, a module's value"
            ),
            Refusal::OtherModule { offset, id } => write!(
                f,
                "not a dump of a queue: a module's type {id:#018x} at offset {offset}, expected RELIABLEQ"
            ),
            Refusal::LaterEncoding { offset, encoding } => write!(
                f,
                "encoding {encoding} at offset {offset}, expected {}: a later release of reliableq wrote it; read it \
                 with that one",
                crate::ENCODING
            ),
            Refusal::LaterPart { offset, version } => write!(
                f,
                "a part of version {version} at offset {offset}, expected {}: a later release of reliableq wrote it; \
                 read it with that one",
                rq_core::effect::VERSION
            ),
            Refusal::Version { offset, version } => write!(
                f,
                "RDB version {version} at offset {offset}, expected {} to {}",
                crate::READ_VERSIONS.start(),
                crate::READ_VERSIONS.end()
            ),
            Refusal::Checksum {
                offset,
                stored,
                computed,
            } => write!(
                f,
                "damaged: checksum {stored:#018x} at offset {offset}, expected {computed:#018x}"
            ),
            Refusal::CutOff { offset, expected } => {
                write!(f, "cut off: expected {expected} at offset {offset}")
            }
            Refusal::Damaged { offset, why } => write!(f, "damaged: {why} at offset {offset}"),
            Refusal::Snapshot { offset, error } => {
                write!(
                    f,
                    "damaged: the part at offset {offset} is refused: {error}"
                )
            }
            Refusal::Trailing { offset, count } => write!(
                f,
                "{count} bytes too many: expected the end at offset {offset}"
            ),
        }
    }
}

impl std::error::Error for Refusal {}
