//! A look at SQLite's write-ahead log before SQLite opens it.
//!
//! After a crash the log may end in the middle of a transaction. SQLite cuts such a tail without a
//! word; people who look for a lost task deserve one, so this reads the log the way SQLite will and
//! tells how much of it counts. SQLite also cuts what follows a damaged place, and that may have been
//! acknowledged: then this says so. The format is at
//! <https://www.sqlite.org/fileformat2.html#walformat>.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
/// Where the salts lie in the header of the log.
const SALTS: std::ops::Range<usize> = 16..24;
/// Checksums run over big-endian words if the lowest bit is set.
const MAGIC: u32 = 0x377F_0682;

/// What a write-ahead log holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Leftover {
    /// Bytes of whole transactions, which count.
    pub(super) committed_bytes: u64,
    /// Bytes after them that were being written when the server ended, which do not.
    pub(super) torn_bytes: u64,
    /// The place, in bytes, of damage before transactions that were acknowledged.
    pub(super) damaged_at: Option<u64>,
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
    let Some(mut sum) = header_sum(&header) else { return read_headless(reader, header) };
    let is_big_endian = word(&header, 0) & 1 == 1;
    let page_bytes = word(&header, 8) as usize;
    let salts = &header[SALTS];
    let mut leftover = Leftover::default();
    let mut valid_bytes = 0;
    let mut frame = vec![0; FRAME_HEADER_BYTES + page_bytes.min(1 << 16)];
    loop {
        let got = fill(reader, &mut frame);
        // Frames of an earlier round have other salts: they are old, not torn.
        let is_current = got >= FRAME_HEADER_BYTES && frame[8..16] == *salts;
        if is_current {
            sum = checksum(sum, &frame[..8], is_big_endian);
            sum = checksum(sum, &frame[FRAME_HEADER_BYTES..], is_big_endian);
        }
        let is_whole = got == frame.len() && sum == (word(&frame, 16), word(&frame, 20));
        if !is_current || !is_whole {
            let at = HEADER_BYTES as u64 + valid_bytes;
            let is_commit = is_current && is_last(&frame);
            let is_damage = got == frame.len() && is_followed(reader, &mut frame, salts, is_commit);
            leftover.damaged_at = is_damage.then_some(at);
            valid_bytes += if is_current { got as u64 } else { 0 };
            break;
        }
        valid_bytes += got as u64;
        if is_last(&frame) {
            leftover.committed_bytes = valid_bytes;
        }
    }
    leftover.torn_bytes = valid_bytes - leftover.committed_bytes;
    Some(leftover)
}

/// The checksum of a header, if it is right.
fn header_sum(header: &[u8; HEADER_BYTES]) -> Option<(u32, u32)> {
    let sum = checksum((0, 0), &header[..24], word(header, 0) & 1 == 1);
    let is_right = word(header, 0) & !1 == MAGIC
        && word(header, 8).is_power_of_two()
        && sum == (word(header, 24), word(header, 28));
    is_right.then_some(sum)
}

/// Whether a frame is the last of its transaction.
fn is_last(frame: &[u8]) -> bool {
    word(frame, 4) != 0
}

/// Whether, after a frame that is not right, more follows than one transaction. The server begins a
/// transaction only when the one before it is on disk, so a crash can spoil the last one only.
fn is_followed(
    reader: &mut impl Read,
    frame: &mut [u8],
    salts: &[u8],
    mut is_committed: bool,
) -> bool {
    while fill(reader, frame) == frame.len() {
        let is_current = frame[8..16] == *salts;
        if is_current && is_committed {
            return true;
        }
        is_committed |= is_current && is_last(frame);
    }
    false
}

/// A log whose header is not right. SQLite takes it for an empty one, and so it is if the crash came
/// when a new round was begun. But a header is on disk before the first frame that goes with it.
fn read_headless(reader: &mut impl Read, mut header: [u8; HEADER_BYTES]) -> Option<Leftover> {
    let mut frame = [0; FRAME_HEADER_BYTES];
    reader.read_exact(&mut frame).ok()?;
    // A file that was made longer and not written reads as zeros.
    let goes_with_it = header[SALTS] == frame[8..16] && header[SALTS] != [0; 8];
    header[SALTS].copy_from_slice(&frame[8..16]);
    let is_damaged = goes_with_it || header_sum(&header).is_some();
    Some(Leftover { damaged_at: is_damaged.then_some(0), ..Leftover::default() })
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
        assert_eq!((cut.damaged_at, measured(&flipped).damaged_at), (None, None));

        assert_eq!(measured(b""), Leftover::default());
        assert_eq!(measured(&[0; 10_000]), Leftover::default());
        assert_eq!(measured(&[7; 100]).damaged_at, Some(0));
    }

    #[test]
    fn damage_before_other_transactions_is_told_from_a_torn_tail() {
        let dir = tempfile::tempdir().unwrap();
        let log = crashed_log(dir.path());
        let path = dir.path().join("copy");
        let damaged_at = |at: usize| {
            let mut log = log.clone();
            log[at] ^= 4;
            std::fs::write(&path, log).unwrap();
            leftover(&path).damaged_at
        };
        let frame_bytes = FRAME_HEADER_BYTES + 4_096;
        let frames = (log.len() - HEADER_BYTES) / frame_bytes;
        assert!(frames > 3, "{frames}");
        for at in 0..HEADER_BYTES {
            assert_eq!(damaged_at(at), Some(0), "byte {at} of the header");
        }
        for frame in 0..frames {
            let start = HEADER_BYTES + frame * frame_bytes;
            // What may be the last transaction may be torn, and so may the end of the one before,
            // whose last frame is not known for one.
            let expected = (frame < frames - 2).then_some(start as u64);
            assert_eq!(damaged_at(start + 9), expected, "salt of frame {frame}");
            let expected = (frame < frames - 1).then_some(start as u64);
            assert_eq!(damaged_at(start + FRAME_HEADER_BYTES + 77), expected, "frame {frame}");
        }
    }
}
