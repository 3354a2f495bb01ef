//! The unit of a file: a length, a sequence number, and a body, each checksummed.
//!
//! ```text
//! length (u32) · sequence (u64) · check of these (u32) · check of the body (u32) · body
//! ```
//!
//! The first checksum starts from the file's seed and the second from the first: a frame is whole only
//! in its own file, and a body only behind its own head. A damaged length is told from a
//! damaged body, so that a reader knows where the next frame is.

/// Bytes before a body.
pub(crate) const HEAD: usize = 20;

/// What stands before a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// Bytes of the body.
    pub(crate) length: u32,
    pub(crate) sequence: u64,
    check: u32,
    body_check: u32,
}

impl Head {
    /// Reads a head; none when it is not whole.
    pub(crate) fn read(seed: u32, bytes: &[u8]) -> Option<Self> {
        let (fields, checks) = bytes.get(..HEAD)?.split_at(12);
        let number = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes).ok();
        let check = number(checks.get(..4)?)?;
        if crc32c::crc32c_append(seed, fields) != check {
            return None;
        }
        Some(Self {
            length: number(fields.get(..4)?)?,
            sequence: u64::from_le_bytes(fields.get(4..)?.try_into().ok()?),
            check,
            body_check: number(checks.get(4..)?)?,
        })
    }

    /// Whether this is the body that was written behind it.
    pub(crate) fn fits(&self, body: &[u8]) -> bool {
        body.len() == self.length as usize
            && crc32c::crc32c_append(self.check, body) == self.body_check
    }
}

/// A whole frame at the start of `bytes`.
pub(crate) fn read(seed: u32, bytes: &[u8]) -> Option<(Head, &[u8])> {
    let head = Head::read(seed, bytes)?;
    let body = bytes.get(HEAD..HEAD.checked_add(head.length as usize)?)?;
    head.fits(body).then_some((head, body))
}

/// Makes room for the head of a frame whose body is to be appended; its start.
pub(crate) fn begin(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD]);
    start
}

/// Completes the frame that was begun at `start`; false when the body is too long for one.
#[must_use]
pub(crate) fn end(out: &mut [u8], start: usize, seed: u32, sequence: u64) -> bool {
    let Some((head, body)) = (out.get_mut(start..)).and_then(|f| f.split_at_mut_checked(HEAD))
    else {
        return false;
    };
    let Ok(length) = u32::try_from(body.len()) else {
        return false;
    };
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4..12].copy_from_slice(&sequence.to_le_bytes());
    let check = crc32c::crc32c_append(seed, &head[..12]);
    head[12..16].copy_from_slice(&check.to_le_bytes());
    let body_check = crc32c::crc32c_append(check, body);
    head[16..].copy_from_slice(&body_check.to_le_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let start = begin(&mut out);
        out.extend_from_slice(body);
        assert!(end(&mut out, start, 42, 7));
        out
    }

    #[test]
    fn a_frame_is_whole_in_its_own_file_only() {
        let bytes = frame(b"hello");
        let (head, body) = read(42, &bytes).unwrap();
        assert_eq!((head.sequence, head.length, body), (7, 5, &b"hello"[..]));
        assert!(read(43, &bytes).is_none());
        for end in 0..bytes.len() {
            assert!(read(42, &bytes[..end]).is_none());
        }
        assert!(read(42, &[0; 64]).is_none());
    }

    #[test]
    fn damage_of_the_head_is_told_from_damage_of_the_body() {
        let bytes = frame(b"hello");
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(read(42, &damaged).is_none());
            // The length and the sequence stay known when only the body or its check is damaged.
            assert_eq!(Head::read(42, &damaged).is_some(), bit / 8 >= 16);
        }
    }
}
