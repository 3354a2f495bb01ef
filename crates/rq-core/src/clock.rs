//! The time of a place, from two clocks that it reads.
//!
//! Wall time at the start plus monotonic time, drawn towards the wall clock by at most a hundredth of what passes: a
//! clock that is set moves nothing at once, and one that drifts is followed.

/// Makes one time of two clocks. It never goes back.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    /// Unix microseconds, as given last; 0: never asked.
    time: u64,
    /// Monotonic microseconds of then.
    monotonic: u64,
    /// Milliseconds that were given last.
    given: u64,
}

impl Clock {
    /// A clock that was never asked.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            time: 0,
            monotonic: 0,
            given: 0,
        }
    }

    /// What [`Clock::read`] gave last; 0: it was never asked.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.given
    }

    /// Unix milliseconds, from what the wall clock says and what the monotonic clock does, both in microseconds.
    pub fn read(&mut self, wall: u64, monotonic: u64) -> u64 {
        if self.time == 0 {
            (self.time, self.monotonic) = (wall, monotonic);
        }
        let mut passed = monotonic.saturating_sub(self.monotonic);
        // Short steps are added up first: a hundredth of them would be nothing.
        if passed >= 1000 {
            let most = passed / 100;
            let ahead = self.time.saturating_add(passed);
            self.time = wall.clamp(ahead - most, ahead.saturating_add(most));
            self.monotonic = monotonic;
            passed = 0;
        }
        self.given = self.given.max(self.time.saturating_add(passed) / 1000);
        self.given
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;
    const START: u64 = 1_700_000_000 * SECOND;

    #[test]
    fn it_follows_the_monotonic_clock_and_drifts_to_the_wall() {
        for jump in [3_600i64, -3_600, 86_400] {
            let (mut clock, mut last) = (Clock::new(), 0);
            for step in 0..10_000u64 {
                let monotonic = step * SECOND / 10;
                let set = if step < 100 { 0 } else { jump * SECOND as i64 };
                let wall = (START + monotonic).saturating_add_signed(set);
                let time = clock.read(wall, monotonic);
                assert!(time >= last);
                last = time;
            }
            let passed = last - START / 1000;
            let expected = 999_900i64 + jump.signum() * 9_899;
            assert!(
                (passed as i64 - expected).abs() < 200,
                "{passed} {expected}"
            );
        }
    }

    #[test]
    fn it_meets_a_wall_clock_that_is_near() {
        let mut clock = Clock::new();
        clock.read(START, 0);
        let time = (1..1000)
            .map(|s| clock.read(START + s * SECOND + 500_000, s * SECOND))
            .last();
        assert_eq!(time, Some(START / 1000 + 999 * 1000 + 500));
    }

    #[test]
    fn short_steps_add_up() {
        let mut clock = Clock::new();
        clock.read(START, 0);
        for n in 1..=10_000 {
            clock.read(START + n * 100, n * 100);
        }
        assert_eq!(clock.read(START + SECOND, SECOND), START / 1000 + 1000);
    }
}
