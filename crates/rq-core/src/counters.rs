//! What happened to a queue since it was made.

/// Counts of events, kept with the queue and written into snapshots.
///
/// To add one: a field here, its place in `FIELDS`, and a new snapshot version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages pushed.
    pub sent: u64,
    /// Deliveries: by pop, and again by recover.
    pub received: u64,
    /// Deliveries that were taken back because nobody acknowledged them (by recover).
    pub returned: u64,
    /// Messages that became dead letters.
    pub dead: u64,
    /// Messages acknowledged, and so deleted.
    pub deleted: u64,
}

impl Counters {
    /// Names of the counters, in the order of [`Counters::values`].
    pub const NAMES: [&'static str; 5] = ["sent", "received", "returned", "dead", "deleted"];

    /// The counts, in the order of [`Counters::NAMES`].
    #[must_use]
    pub fn values(&self) -> [u64; 5] {
        [
            self.sent,
            self.received,
            self.returned,
            self.dead,
            self.deleted,
        ]
    }

    /// Counters with these values, in the order of [`Counters::NAMES`].
    #[must_use]
    pub fn from_values(values: [u64; 5]) -> Self {
        let [sent, received, returned, dead, deleted] = values;
        Self {
            sent,
            received,
            returned,
            dead,
            deleted,
        }
    }
}
