//! The time that is given to the core.

use std::sync::LazyLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// When this process first asked, by both clocks.
static START: LazyLock<(u64, Instant)> = LazyLock::new(|| {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH);
    let milliseconds = wall.map_or(0, |since| since.as_millis());
    (
        u64::try_from(milliseconds).unwrap_or(u64::MAX),
        Instant::now(),
    )
});

/// Unix time in milliseconds: the wall clock at the start, and monotonic time from then on, so
/// that a clock that is set makes no message due early or late.
#[must_use]
pub fn now() -> u64 {
    let (wall, start) = *START;
    let elapsed = start.elapsed();
    let milliseconds = elapsed.as_secs().saturating_mul(1000) + u64::from(elapsed.subsec_millis());
    wall.saturating_add(milliseconds)
}
