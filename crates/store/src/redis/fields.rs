//! Fields of hashes: names and values, long ones in pieces.
//!
//! Redis keeps a small hash in one compact block as long as no value is over 64 bytes. So a value over
//! that is split into pieces `name`, `name.1`, `name.2`…, unless it is so long that a block would not pay.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;

use super::names::Name;
use crate::port::StoreError;

/// The longest value that keeps a hash compact, with Redis's defaults.
pub(super) const PIECE_BYTES: usize = 64;
/// The longest value that is split; a longer payload gets a key of its own.
pub(super) const SPLIT_BYTES_MAX: usize = 1_024;

/// Fields to write, named by an `N`: names and values in turn.
#[derive(Debug)]
pub(super) struct Fields<'a, N = &'static str>(Vec<Cow<'a, [u8]>>, PhantomData<N>);

impl<N> Default for Fields<'_, N> {
    fn default() -> Self {
        Self(Vec::new(), PhantomData)
    }
}

impl<'a, N: Name> Fields<'a, N> {
    /// Adds a value that is short, or of which there are few.
    pub(super) fn set(&mut self, name: N, value: impl Into<Cow<'a, [u8]>>) {
        self.0.push(Cow::Borrowed(name.text().as_bytes()));
        self.0.push(value.into());
    }

    /// Adds a short text.
    pub(super) fn text(&mut self, name: N, value: impl ToString) {
        self.set(name, value.to_string().into_bytes());
    }

    /// Adds a value of any length.
    pub(super) fn long(&mut self, name: N, value: impl Into<Cow<'a, [u8]>>) {
        let value = value.into();
        if value.len() <= PIECE_BYTES || value.len() > SPLIT_BYTES_MAX {
            return self.set(name, value);
        }
        let name = name.text();
        for (number, piece) in value.chunks(PIECE_BYTES).enumerate() {
            let name = if number == 0 { name.to_owned() } else { format!("{name}.{number}") };
            self.0.push(Cow::Owned(name.into_bytes()));
            self.0.push(Cow::Owned(piece.to_vec()));
        }
    }

    /// Adds pieces whose names are only numbers.
    pub(super) fn numbered(&mut self, value: &'a [u8]) {
        for (number, piece) in value.chunks(PIECE_BYTES).enumerate() {
            self.0.push(Cow::Owned(number.to_string().into_bytes()));
            self.0.push(Cow::Borrowed(piece));
        }
    }

    /// These and all of another's.
    pub(super) fn and<M>(mut self, other: Fields<'a, M>) -> Fields<'a> {
        self.0.extend(other.0);
        Fields(self.0, PhantomData)
    }

    /// Names and values in turn.
    pub(super) fn flat(&self) -> &[Cow<'a, [u8]>] {
        &self.0
    }
}

/// Fields that were read: one block of names and values in turn, and where they stand in it.
pub(super) struct Read {
    block: Vec<u8>,
    fields: Vec<(Range<usize>, Range<usize>)>,
}

impl Read {
    /// Reads a block as scripts pack it: a MessagePack array of strings. None: it is not one.
    pub(super) fn unpack(block: Vec<u8>) -> Option<Self> {
        let mut at = 0;
        let count = match take_number(&block, &mut at, 1)? {
            n @ 0x90..=0x9f => n - 0x90,
            0xdc => take_number(&block, &mut at, 2)?,
            0xdd => take_number(&block, &mut at, 4)?,
            _ => return None,
        };
        let mut fields = Vec::with_capacity(count / 2);
        for _ in 0..count / 2 {
            fields.push((take_text(&block, &mut at)?, take_text(&block, &mut at)?));
        }
        Some(Self { block, fields })
    }

    /// A value that is never split.
    pub(super) fn get(&self, name: impl Name) -> Option<&[u8]> {
        self.named(name.text())
    }

    fn named(&self, name: &str) -> Option<&[u8]> {
        let is_it = |(known, _): &&(Range<usize>, _)| self.block[known.clone()] == *name.as_bytes();
        self.fields.iter().find(is_it).map(|(_, value)| &self.block[value.clone()])
    }

    /// A value with all its pieces.
    pub(super) fn long(&self, name: impl Name) -> Option<Vec<u8>> {
        let name = name.text();
        let mut value = self.named(name)?.to_vec();
        for number in 1..=SPLIT_BYTES_MAX / PIECE_BYTES {
            if value.len() != number * PIECE_BYTES {
                break;
            }
            match self.named(&format!("{name}.{number}")) {
                Some(piece) => value.extend_from_slice(piece),
                None => break,
            }
        }
        Some(value)
    }

    /// A value whose pieces are numbered from 0.
    pub(super) fn numbered(&self) -> Vec<u8> {
        let mut value = Vec::new();
        for number in 0..=SPLIT_BYTES_MAX / PIECE_BYTES {
            match self.named(&number.to_string()) {
                Some(piece) => value.extend_from_slice(piece),
                None => break,
            }
        }
        value
    }

    /// A value as text.
    pub(super) fn text(&self, name: impl Name) -> Option<&str> {
        std::str::from_utf8(self.get(name)?).ok()
    }

    /// A value with all its pieces as text.
    pub(super) fn long_text(&self, name: impl Name) -> Option<String> {
        String::from_utf8(self.long(name)?).ok()
    }

    /// A value that can be parsed.
    pub(super) fn parse<T: std::str::FromStr>(&self, name: impl Name) -> Option<T> {
        self.text(name)?.parse().ok()
    }
}

/// A number of so many bytes, the first the highest.
fn take_number(block: &[u8], at: &mut usize, bytes: usize) -> Option<usize> {
    let number = block.get(*at..*at + bytes)?;
    *at += bytes;
    Some(number.iter().fold(0, |number, byte| (number << 8) | usize::from(*byte)))
}

/// Where the next text stands.
fn take_text(block: &[u8], at: &mut usize) -> Option<Range<usize>> {
    let bytes = match take_number(block, at, 1)? {
        n @ 0xa0..=0xbf => n - 0xa0,
        0xd9 => take_number(block, at, 1)?,
        0xda => take_number(block, at, 2)?,
        0xdb => take_number(block, at, 4)?,
        _ => return None,
    };
    let text = *at..*at + bytes;
    *at = text.end;
    (text.end <= block.len()).then_some(text)
}

/// A record that cannot be read.
pub(super) fn corrupt(place: impl Into<String>, reason: impl ToString) -> StoreError {
    StoreError::Corrupt { place: place.into(), reason: reason.to_string() }
}

/// Milliseconds as seconds with a fraction.
pub(super) fn seconds(millis: i64) -> String {
    format!("{}.{:03}", millis / 1_000, millis % 1_000)
}

/// Seconds with a fraction as milliseconds. `0` stands for none at all.
pub(super) fn millis(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut thousandths = fraction.chars().chain("000".chars());
    let mut millis: i64 = whole.parse().ok()?;
    for _ in 0..3 {
        millis = millis.checked_mul(10)?.checked_add(thousandths.next()?.to_digit(10)?.into())?;
    }
    Some(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_back() {
        for (ms, text) in [(0, "0.000"), (1_800_000_000_123, "1800000000.123"), (7, "0.007")] {
            assert_eq!(seconds(ms), text);
            assert_eq!(millis(text), Some(ms));
        }
        assert_eq!(millis("0"), Some(0));
        assert_eq!(millis("30.5"), Some(30_500));
        assert_eq!(millis("x"), None);
    }

    #[test]
    fn values_of_any_length_read_back() {
        for bytes in [0, 1, 63, 64, 65, 128, 129, 1_000, 1_024, 1_025, 5_000] {
            let value: Vec<u8> = (0..bytes).map(|n| (n % 251) as u8).collect();
            let mut fields = Fields::<&str>::default();
            fields.long("v", &value[..]);
            fields.set("v.x", &b"another"[..]);
            let is_compact = fields.flat().iter().all(|text| text.len() <= PIECE_BYTES);
            assert_eq!(is_compact, bytes <= SPLIT_BYTES_MAX, "{bytes}");
            // A large hash has its fields in any order.
            let mut pairs: Vec<_> = fields.flat().chunks(2).collect();
            pairs.reverse();
            let mut block = vec![0xdc, 0, u8::try_from(2 * pairs.len()).unwrap()];
            for text in pairs.into_iter().flatten() {
                block.push(0xda);
                block.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
                block.extend_from_slice(text);
            }
            let read = Read::unpack(block.clone()).unwrap();
            assert_eq!(read.long("v"), Some(value), "{bytes}");
            for cut in 0..block.len() {
                assert!(Read::unpack(block[..cut].to_vec()).is_none(), "cut at {cut}");
            }
        }
    }

    #[test]
    fn every_way_to_pack_a_text_is_read() {
        let mut block = vec![0x96, 0xa1, b'a', 0xa0, 0xd9, 1, b'b', 0xda, 0, 1, b'c'];
        block.extend([0xdb, 0, 0, 0, 1, b'd', 0xa1, b'e']);
        let read = Read::unpack(block).unwrap();
        assert_eq!(read.get("a"), Some(&b""[..]));
        assert_eq!((read.get("b"), read.get("d")), (Some(&b"c"[..]), Some(&b"e"[..])));
        assert!(Read::unpack(vec![0x80]).is_none());
        assert!(Read::unpack(vec![0x92, 0x01, 0x02]).is_none());
    }
}
