//! What happened to a queue since it was made.

/// Declares the counters once: their fields, names and order.
macro_rules! counters {
    ($($(#[$doc:meta])* $field:ident = $name:literal,)*) => {
        /// Counts of events, kept with the queue and written into snapshots.
        ///
        /// To add one: a line here, and a new snapshot version.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Counters {
            $($(#[$doc])* pub $field: u64,)*
        }

        impl Counters {
            /// Names of the counters, in the order of [`Counters::values`].
            pub const NAMES: [&'static str; [$($name),*].len()] = [$($name),*];
            /// Without any event.
            pub const ZERO: Counters = Counters { $($field: 0),* };

            /// The counts, in the order of [`Counters::NAMES`].
            #[must_use]
            pub fn values(&self) -> [u64; Self::NAMES.len()] {
                [$(self.$field),*]
            }

            /// Counters with these values, in the order of [`Counters::NAMES`].
            #[must_use]
            pub fn from_values(values: [u64; Self::NAMES.len()]) -> Self {
                let [$($field),*] = values;
                Self { $($field),* }
            }
        }
    };
}

counters! {
    /// Messages pushed.
    sent = "sent",
    /// Deliveries: by pop, recover and claim.
    received = "received",
    /// Deliveries that ended with their lease.
    returned_lease = "returned_lease",
    /// Deliveries that were given back.
    returned_nack = "returned_nack",
    /// Deliveries that were taken back by recover.
    returned_recover = "returned_recover",
    /// Messages that became dead letters.
    dead = "dead",
    /// Messages acknowledged, and so deleted.
    deleted = "deleted",
    /// Messages cancelled: deleted or flushed.
    cancelled = "cancelled",
    /// Messages that the queue let go by itself: time to live, caps, bounds of dead letters.
    expired = "expired",
    /// Elements that were pushed again and not stored.
    duplicates = "duplicates",
}

impl Counters {
    /// Deliveries that came to nothing.
    #[must_use]
    pub fn returned(&self) -> u64 {
        self.returned_lease
            .saturating_add(self.returned_nack)
            .saturating_add(self.returned_recover)
    }
}
