//! A look at SQLite's write-ahead log before SQLite opens it.
//!
//! After a crash the log may end in the middle of a transaction. SQLite cuts such a tail without a
//! word; people who look for a lost task deserve one, so this reads the log the way SQLite will and
//! tells how much of it counts. The format is at <https://www.sqlite.org/fileformat2.html#walformat>.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
/// Checksums run over big-endian words if the lowest bit is set.
const MAGIC: u32 = 0x377F_0682;

/// What a write-ahead log holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Leftover {
    /// Bytes of whole transactions, which count.
    pub(super) committed_bytes: u64,
    /// Bytes after them that were being written when the server ended, which do not.
    pub(super) torn_bytes: u64,
    /// Whether what follows cannot be the tail of an unclean stop: each transaction was on disk
    /// before the next began, so at most one can be incomplete.
    pub(super) is_damaged: bool,
}

/// Reads a log. Nothing there, or nothing that counts: an empty answer.
pub(super) fn leftover(path: &Path) -> Leftover {
    let Ok(file) = File::open(path) else { return Leftover::default() };
    let mut reader = BufReader::with_capacity(1 << 16, file);
    read(&mut reader).unwrap_or_default()
}

fn read(reader: &mut impl Read) -> Option<Leftover> {
    let mut header = [0; HEADER_BYTES];
    reader.read_exact(&mut header).ok()?;
    let magic = word(&header, 0);
    let is_big_endian = magic & 1 == 1;
    if magic & !1 != MAGIC {
        return None;
    }
    let page_bytes = word(&header, 8) as usize;
    let salt = (word(&header, 16), word(&header, 20));
    let mut sum = checksum((0, 0), &header[..24], is_big_endian);
    if sum != (word(&header, 24), word(&header, 28)) || !page_bytes.is_power_of_two() {
        return None;
    }
    let mut leftover = Leftover::default();
    let mut seen_bytes = 0;
    let mut is_valid = true;
    let mut commits_after = 0;
    let mut frame = vec![0; FRAME_HEADER_BYTES + page_bytes.min(1 << 16)];
    loop {
        let got = fill(reader, &mut frame);
        let frame_salt = (word(&frame, 8), word(&frame, 12));
        // Frames of an earlier round have other salts: they are old, not torn. A damaged salt is
        // told from them by what follows.
        if got < FRAME_HEADER_BYTES {
            break;
        }
        let is_commit = word(&frame, 4) != 0;
        sum = checksum(sum, &frame[..8], is_big_endian);
        sum = checksum(sum, &frame[FRAME_HEADER_BYTES..], is_big_endian);
        is_valid &=
            frame_salt == salt && got == frame.len() && sum == (word(&frame, 16), word(&frame, 20));
        if frame_salt == salt {
            seen_bytes += got as u64;
            if is_valid && is_commit {
                leftover.committed_bytes = seen_bytes;
            }
            commits_after += u32::from(!is_valid && is_commit && got == frame.len());
        }
    }
    leftover.torn_bytes = seen_bytes - leftover.committed_bytes;
    leftover.is_damaged = commits_after > 1;
    Some(leftover)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// Fills the buffer as far as there is something, and clears the rest.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> usize {
    let mut got = 0;
    while got < buffer.len() {
        match reader.read(&mut buffer[got..]) {
            Ok(n) if n > 0 => got += n,
            _ => break,
        }
    }
    buffer[got..].fill(0);
    got
}

fn checksum(sum: (u32, u32), bytes: &[u8], is_big_endian: bool) -> (u32, u32) {
    let (mut first, mut second) = sum;
    let (words, _) = bytes.as_chunks::<4>();
    for pair in words.chunks_exact(2) {
        let value =
            |word| if is_big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) };
        first = first.wrapping_add(value(pair[0])).wrapping_add(second);
        second = second.wrapping_add(value(pair[1])).wrapping_add(first);
    }
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// A log of three transactions, as a crashed process leaves it behind.
    fn crashed_log(dir: &Path) -> Vec<u8> {
        let connection = Connection::open(dir.join("db")).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode=WAL; CREATE TABLE t (x);
                 INSERT INTO t VALUES (1); INSERT INTO t VALUES (2);",
            )
            .unwrap();
        std::fs::read(dir.join("db-wal")).unwrap()
    }

    #[test]
    fn a_whole_log_counts_and_a_torn_tail_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let log = crashed_log(dir.path());
        let path = dir.path().join("copy");
        let measured = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            leftover(&path)
        };
        let whole = measured(&log);
        assert_eq!(whole.torn_bytes, 0);
        assert_eq!(whole.committed_bytes, (log.len() - HEADER_BYTES) as u64);

        let cut = measured(&log[..log.len() - 100]);
        assert!(cut.torn_bytes > 0 && cut.committed_bytes < whole.committed_bytes, "{cut:?}");

        let mut flipped = log.clone();
        let last = flipped.len() - 1;
        flipped[last] ^= 1;
        assert_eq!(measured(&flipped).committed_bytes, cut.committed_bytes);

        let mut damaged = log.clone();
        damaged[HEADER_BYTES + FRAME_HEADER_BYTES + 100] ^= 1;
        assert!(measured(&damaged).is_damaged, "two transactions follow");
        assert!(!whole.is_damaged && !cut.is_damaged);

        assert_eq!(measured(b""), Leftover::default());
        assert_eq!(measured(&[7; 100]), Leftover::default());
    }
}
