//! Expanding what the servers compress: LZF, a run of bytes or a repetition of earlier ones at a time.

/// Control bytes below this say how many bytes follow as they are, less one.
const REPETITION: u8 = 32;
/// A repetition's count in its control byte that says that the rest of it follows.
const LONG: usize = 7;
/// What a repetition's count leaves out: shorter ones are not worth it.
const LEFT_OUT: usize = 2;
/// The longest repetition, and its bytes: nothing expands to more.
const LONGEST: usize = LONG + 255 + LEFT_OUT;
const LONGEST_STORED: usize = 3;

/// The most that so many compressed bytes can expand to.
pub(crate) fn most(compressed: usize) -> usize {
    compressed.saturating_mul(LONGEST / LONGEST_STORED)
}

/// The `length` bytes that were compressed; none if these are not that.
pub(crate) fn expand(compressed: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(length);
    let mut rest = compressed;
    while let Some(control) = next(&mut rest) {
        let room = length - out.len();
        if control < REPETITION {
            let (run, behind) = rest.split_at_checked(usize::from(control) + 1)?;
            rest = behind;
            if run.len() > room {
                return None;
            }
            out.extend_from_slice(run);
        } else {
            let mut count = usize::from(control >> 5);
            if count == LONG {
                count += usize::from(next(&mut rest)?);
            }
            let distance = usize::from(u16::from_be_bytes([control & 31, next(&mut rest)?])) + 1;
            if count + LEFT_OUT > room {
                return None;
            }
            repeat(&mut out, distance, count + LEFT_OUT)?;
        }
    }
    (out.len() == length).then_some(out)
}

fn next(rest: &mut &[u8]) -> Option<u8> {
    let (&first, behind) = rest.split_first()?;
    *rest = behind;
    Some(first)
}

/// Appends `count` bytes from `distance` before the end; those may be among the ones appended.
fn repeat(out: &mut Vec<u8>, distance: usize, mut count: usize) -> Option<()> {
    let start = out.len().checked_sub(distance)?;
    while count > 0 {
        let run = count.min(out.len() - start);
        out.extend_from_within(start..start + run);
        count -= run;
    }
    Some(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_repetitions_are_expanded() {
        assert_eq!(expand(b"", 0).unwrap(), b"");
        assert_eq!(expand(b"\x02abc", 3).unwrap(), b"abc");
        // Three bytes from three before, then four from one before: an overlap.
        assert_eq!(
            expand(b"\x02abc\x20\x02\x40\x00", 10).unwrap(),
            b"abcabccccc"
        );
        // The longest repetition.
        assert_eq!(expand(b"\x00x\xe0\xff\x00", 265).unwrap(), vec![b'x'; 265]);
    }

    #[test]
    fn a_repetition_reaches_back_8_kib() {
        let mut compressed = Vec::new();
        let bytes: Vec<u8> = (0..8192u32).map(|n| (n >> 3) as u8 ^ n as u8).collect();
        for run in bytes.chunks(32) {
            compressed.push(31);
            compressed.extend_from_slice(run);
        }
        compressed.extend_from_slice(b"\x3f\xff");
        let expanded = expand(&compressed, 8195).unwrap();
        assert_eq!(expanded[..8192], bytes);
        assert_eq!(expanded[8192..], bytes[..3]);
    }

    #[test]
    fn other_lengths_and_cuts_are_refused() {
        let compressed = b"\x02abc\xe0\x05\x02\x00z";
        let length = 3 + 14 + 1;
        assert!(expand(compressed, length).is_some());
        for other in (0..40).filter(|&other| other != length) {
            assert!(expand(compressed, other).is_none(), "{other}");
        }
        for cut in 0..compressed.len() {
            assert!(expand(&compressed[..cut], length).is_none(), "{cut}");
        }
    }

    #[test]
    fn a_repetition_of_what_was_not_is_refused() {
        assert!(expand(b"\x20\x00", 3).is_none());
        assert!(expand(b"\x00a\x20\x01", 4).is_none());
    }

    #[test]
    fn nothing_expands_to_more_than_the_most() {
        assert_eq!(most(3), 264);
        assert_eq!(most(usize::MAX), usize::MAX);
    }
}
