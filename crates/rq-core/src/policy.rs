//! What a queue does by itself: its settings.
//!
//! To add a setting: a field here and in [`Change`], its place in `put` and `read`, and in `docs/format.md`
//! and `docs/life.md`.

use crate::error::Error;
use crate::id::Id;
use crate::varint::{self, Reader};

/// Milliseconds for which tokens and producers are remembered, unless told otherwise.
pub const DEDUP: u64 = 600_000;
/// Durations and counts of settings are below this.
const LIMIT: u64 = Id::MILLISECONDS_END;

/// How long a message waits after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Milliseconds after the first failure; 0: no back-off.
    pub base: u64,
    /// What each further failure multiplies it by, in thousandths.
    pub factor: u32,
    /// Milliseconds at most; 0: no limit.
    pub max: u64,
}

impl Backoff {
    const NONE: Backoff = Backoff {
        base: 0,
        factor: 1000,
        max: 0,
    };
    /// The least and the largest factor, in thousandths.
    pub const FACTORS: std::ops::RangeInclusive<u32> = 1000..=1_000_000;

    /// Milliseconds to wait after so many failures, without jitter.
    #[must_use]
    pub fn after(&self, failures: u32) -> u64 {
        let most = if self.max == 0 { LIMIT / 2 } else { self.max };
        let mut delay = u128::from(self.base);
        for _ in 1..failures {
            if delay >= u128::from(most) || self.factor <= 1000 {
                break;
            }
            delay = delay * u128::from(self.factor) / 1000;
        }
        u64::try_from(delay).unwrap_or(most).min(most)
    }
}

/// The settings of a queue. 0 is none, for all but `dedup`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Milliseconds after which a delivered message returns.
    pub lease: u64,
    /// The failure that is the last one.
    pub deliveries: u32,
    /// How long a message waits after a failure.
    pub backoff: Backoff,
    /// Percent of the back-off that may be taken off.
    pub jitter: u8,
    /// Most messages held.
    pub max_length: u64,
    /// Most bytes of payloads and headers held.
    pub max_bytes: u64,
    /// Whether a cap drops messages, and does not refuse pushes.
    pub drops: bool,
    /// Milliseconds for which tokens and producers are remembered.
    pub dedup: u64,
    /// Whether messages whose time to live is over are dead, and not dropped.
    pub expired_dead: bool,
    /// Most dead letters.
    pub dead_max: u64,
    /// Milliseconds after which a dead letter goes.
    pub dead_ttl: u64,
    /// Most messages delivered, for each named consumer and for all unnamed ones.
    pub inflight: u64,
    /// Whether a queue without messages is kept for the sake of these.
    pub kept: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self::NONE
    }
}

impl Policy {
    /// That of a queue that nobody set up.
    pub const NONE: Policy = Policy {
        lease: 0,
        deliveries: 0,
        backoff: Backoff::NONE,
        jitter: 0,
        max_length: 0,
        max_bytes: 0,
        drops: false,
        dedup: DEDUP,
        expired_dead: false,
        dead_max: 0,
        dead_ttl: 0,
        inflight: 0,
        kept: false,
    };

    /// That of a queue which a push made: lease and deliveries.
    pub(crate) fn of_new((lease, deliveries): (u64, u32)) -> Policy {
        Policy {
            lease,
            deliveries,
            ..Policy::NONE
        }
    }

    /// These settings, and those of `defaults` where there are none.
    #[must_use]
    pub fn over(&self, defaults: &Policy) -> Policy {
        let or = |own: u64, default: u64| if own == 0 { default } else { own };
        Policy {
            lease: or(self.lease, defaults.lease),
            deliveries: or(self.deliveries.into(), defaults.deliveries.into()) as u32,
            backoff: if self.backoff.base == 0 {
                defaults.backoff
            } else {
                self.backoff
            },
            jitter: or(self.jitter.into(), defaults.jitter.into()) as u8,
            max_length: or(self.max_length, defaults.max_length),
            max_bytes: or(self.max_bytes, defaults.max_bytes),
            dead_max: or(self.dead_max, defaults.dead_max),
            dead_ttl: or(self.dead_ttl, defaults.dead_ttl),
            inflight: or(self.inflight, defaults.inflight),
            ..*self
        }
    }

    /// Milliseconds to wait after a message's last of so many failures. The jitter is drawn from ID and failures,
    /// so that whoever computes it agrees.
    #[must_use]
    pub(crate) fn delay(&self, id: Id, failures: u32) -> u64 {
        let delay = self.backoff.after(failures);
        let part = u128::from(delay) * u128::from(self.jitter.min(100)) / 100;
        let drawn = (u128::from(drawn(id, failures)) * (part + 1)) >> 64;
        delay - u64::try_from(drawn).unwrap_or(0)
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        let flags =
            u64::from(self.drops) | u64::from(self.expired_dead) << 1 | u64::from(self.kept) << 2;
        let numbers = [
            flags,
            self.lease,
            self.deliveries.into(),
            self.backoff.base,
            self.backoff.factor.into(),
            self.backoff.max,
            self.jitter.into(),
            self.max_length,
            self.max_bytes,
            self.dedup,
            self.dead_max,
            self.dead_ttl,
            self.inflight,
        ];
        numbers.iter().for_each(|&number| varint::put(out, number));
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        const OUT: Error = Error::BadEffect("a setting that is out of range");
        let flags = reader.number()?;
        let lease = reader.number()?;
        let deliveries = u32::try_from(reader.number()?).map_err(|_| OUT)?;
        let backoff = Backoff {
            base: reader.number()?,
            factor: u32::try_from(reader.number()?).map_err(|_| OUT)?,
            max: reader.number()?,
        };
        let policy = Policy {
            lease,
            deliveries,
            backoff,
            jitter: u8::try_from(reader.number()?).map_err(|_| OUT)?,
            max_length: reader.number()?,
            max_bytes: reader.number()?,
            drops: flags & 1 != 0,
            dedup: reader.number()?,
            expired_dead: flags & 2 != 0,
            dead_max: reader.number()?,
            dead_ttl: reader.number()?,
            inflight: reader.number()?,
            kept: flags & 4 != 0,
        };
        let in_range = [
            lease,
            backoff.base,
            backoff.max,
            policy.dedup,
            policy.dead_ttl,
        ]
        .iter()
        .all(|&time| time < LIMIT);
        if flags < 8
            && in_range
            && policy.jitter <= 100
            && Backoff::FACTORS.contains(&backoff.factor)
        {
            Ok(policy)
        } else {
            Err(OUT)
        }
    }
}

/// Settings that change; none: as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)] // as in `Policy`
pub struct Change {
    pub lease: Option<u64>,
    pub deliveries: Option<u32>,
    pub backoff: Option<Backoff>,
    pub jitter: Option<u8>,
    pub max_length: Option<u64>,
    pub max_bytes: Option<u64>,
    pub drops: Option<bool>,
    pub dedup: Option<u64>,
    pub expired_dead: Option<bool>,
    pub dead_max: Option<u64>,
    pub dead_ttl: Option<u64>,
    pub inflight: Option<u64>,
}

impl Change {
    /// The settings after the change. They are kept unless all of them are as those of a new queue.
    #[must_use]
    pub fn applied(&self, to: &Policy) -> Policy {
        let mut policy = Policy {
            lease: self.lease.unwrap_or(to.lease),
            deliveries: self.deliveries.unwrap_or(to.deliveries),
            backoff: self.backoff.unwrap_or(to.backoff),
            jitter: self.jitter.unwrap_or(to.jitter),
            max_length: self.max_length.unwrap_or(to.max_length),
            max_bytes: self.max_bytes.unwrap_or(to.max_bytes),
            drops: self.drops.unwrap_or(to.drops),
            dedup: self.dedup.unwrap_or(to.dedup),
            expired_dead: self.expired_dead.unwrap_or(to.expired_dead),
            dead_max: self.dead_max.unwrap_or(to.dead_max),
            dead_ttl: self.dead_ttl.unwrap_or(to.dead_ttl),
            inflight: self.inflight.unwrap_or(to.inflight),
            kept: false,
        };
        if policy.backoff.base == 0 {
            policy.backoff = Backoff::NONE;
        }
        policy.kept = policy != Policy::NONE;
        policy
    }

    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// 64 bits that look random, and follow from the arguments (the finalizer of splitmix64).
fn drawn(id: Id, failures: u32) -> u64 {
    let seed = id
        .milliseconds
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(id.sequence)
        .wrapping_mul(0xD1B5_4A32_D192_ED03)
        .wrapping_add(u64::from(failures).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_off_grows_to_its_limit() {
        let backoff = Backoff {
            base: 100,
            factor: 2500,
            max: 2000,
        };
        let delays: Vec<u64> = (1..=6).map(|f| backoff.after(f)).collect();
        assert_eq!(delays, [100, 250, 625, 1562, 2000, 2000]);
        let unbounded = Backoff { max: 0, ..backoff };
        assert!(unbounded.after(u32::MAX) < LIMIT);
        assert_eq!(Backoff::NONE.after(7), 0);
    }

    #[test]
    fn jitter_takes_off_a_part() {
        let policy = Policy {
            backoff: Backoff {
                base: 1000,
                factor: 1000,
                max: 0,
            },
            jitter: 50,
            ..Policy::NONE
        };
        let delays: Vec<u64> = (0..200).map(|n| policy.delay(Id::new(5, n), 1)).collect();
        assert!(delays.iter().all(|d| (500..=1000).contains(d)));
        assert!(delays.iter().any(|&d| d < 600) && delays.iter().any(|&d| d > 900));
    }
}
