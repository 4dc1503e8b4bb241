//! A time zone's clock, and the rule for the local times it skips or repeats.
//!
//! A plan names local times; a clock change may skip one or repeat it. One definition rules both:
//! *a local time happens at the first moment at which the local clock reads it or something later.*
//! So a time that is skipped happens at the first moment after the gap, one that is repeated happens
//! on its first pass, and every local time happens exactly once, in order. [`Zone::moment`] is that
//! definition and [`Zone::reached`] its inverse: for every `local` and `millis`,
//! `moment(local) <= millis` if and only if `local <= reached(millis)`.
//!
//! Moments are milliseconds since the epoch. Beyond the end of what a zone can tell (about a day
//! before the end of the year 9999) there is none.

use jiff::Timestamp as Instant;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

/// A time zone of the IANA database that comes with the program.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Zone(TimeZone);

impl Zone {
    /// The zone of that name, if there is one.
    pub(super) fn named(name: &str) -> Option<Self> {
        let zone = TimeZone::get(name).ok()?;
        zone.iana_name().is_some().then_some(Self(zone))
    }

    /// Its name, as the database spells it.
    pub(super) fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// Returns the local date and time.
    pub(super) fn reading(&self, millis: i64) -> Option<DateTime> {
        Some(self.0.to_datetime(Instant::from_millisecond(millis).ok()?))
    }

    /// The first moment at which the local clock reads `local` or something later.
    pub(super) fn moment(&self, local: DateTime) -> Option<i64> {
        let candidates = self.0.to_ambiguous_timestamp(local);
        match candidates.offset() {
            AmbiguousOffset::Gap { before, after } => self.change(local, before, after),
            _ => Some(candidates.earlier().ok()?.as_millisecond()),
        }
    }

    /// The latest local time that has happened by that moment: what the clock reads, or on a second
    /// pass the end of the first.
    pub(super) fn reached(&self, millis: i64) -> Option<DateTime> {
        let instant = Instant::from_millisecond(millis).ok()?;
        let offset = self.0.to_offset(instant);
        let reading = offset.to_datetime(instant);
        match self.0.to_ambiguous_timestamp(reading).offset() {
            AmbiguousOffset::Fold { before, after } if offset == after => {
                let last = self.change(reading, before, after)? - 1;
                Some(before.to_datetime(Instant::from_millisecond(last).ok()?))
            }
            _ => Some(reading),
        }
    }

    /// The moment of the clock change that skips or repeats `local`.
    ///
    /// It lies between the two moments that `local` names with the offset from before and from after
    /// the change, so it is found by halving. (The list of changes that jiff keeps for a zone lacks
    /// some, such as the one of Ciudad Juárez in November 2022.)
    fn change(&self, local: DateTime, before: Offset, after: Offset) -> Option<i64> {
        let one = before.to_timestamp(local).ok()?.as_millisecond();
        let other = after.to_timestamp(local).ok()?.as_millisecond();
        let (mut not_yet, mut changed) = (one.min(other), one.max(other));
        while changed - not_yet > 1 {
            let middle = not_yet + (changed - not_yet) / 2;
            if self.0.to_offset(Instant::from_millisecond(middle).ok()?) == after {
                changed = middle;
            } else {
                not_yet = middle;
            }
        }
        Some(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::ToSpan;

    /// Every clock change of every zone from 1970 to 2050, which is past the tables and into the
    /// rules that continue them.
    fn changes() -> impl Iterator<Item = (Zone, Instant)> {
        let (first, last) = (Instant::UNIX_EPOCH, "2050-01-01T00:00:00Z".parse().unwrap());
        jiff::tz::db().available().filter_map(|name| Zone::named(name.as_str())).flat_map(
            move |zone| {
                let changes: Vec<_> = zone
                    .0
                    .following(first)
                    .map(|change| change.timestamp())
                    .take_while(|change| *change < last)
                    .map(|change| (zone.clone(), change))
                    .collect();
                changes
            },
        )
    }

    #[test]
    fn each_local_time_happens_when_the_clock_first_reaches_it() {
        let mut gaps = 0;
        let mut folds = 0;
        for (zone, change) in changes() {
            let millis = change.as_millisecond();
            let before = zone.reading(millis - 1).unwrap() + 1.millisecond();
            let after = zone.reading(millis).unwrap();
            if before < after {
                gaps += 1;
                let inside = before + before.duration_until(after) / 2;
                for skipped in [before, inside, after - 1.millisecond(), after] {
                    assert_eq!(zone.moment(skipped), Some(millis), "{} {skipped}", zone.name());
                }
                assert_eq!(zone.moment(before - 1.millisecond()), Some(millis - 1));
                assert_eq!(zone.moment(after + 1.millisecond()), Some(millis + 1));
                assert_eq!(zone.reached(millis - 1), Some(before - 1.millisecond()));
                assert_eq!(zone.reached(millis), Some(after));
            } else if after < before {
                folds += 1;
                let length = after.duration_until(before);
                let length_millis = i64::try_from(length.as_millis()).unwrap();
                for repeated in [after, after + length / 2, before - 1.millisecond()] {
                    let ago = i64::try_from(repeated.duration_until(before).as_millis()).unwrap();
                    assert_eq!(zone.moment(repeated), Some(millis - ago), "{}", zone.name());
                }
                assert_eq!(zone.moment(before), Some(millis + length_millis), "{}", zone.name());
                for second_pass in [millis, millis + length_millis / 2, millis + length_millis - 1]
                {
                    let reached = zone.reached(second_pass);
                    assert_eq!(reached, Some(before - 1.millisecond()), "{}", zone.name());
                }
                assert_eq!(zone.reached(millis + length_millis), Some(before));
            }
        }
        assert!(gaps > 10_000 && folds > 10_000, "{gaps} gaps, {folds} folds");
    }

    #[test]
    fn names_are_those_of_the_database() {
        for (name, spelled) in [
            ("UTC", "UTC"),
            ("america/new_york", "America/New_York"),
            ("Asia/Calcutta", "Asia/Calcutta"),
            ("EST5EDT", "EST5EDT"),
        ] {
            assert_eq!(Zone::named(name).unwrap().name(), spelled);
        }
        for name in ["", "Local", "Etc/Unknown", "+08:00", "Mars/Olympus", "UTC0", "../etc/passwd"]
        {
            assert_eq!(Zone::named(name), None, "{name}");
        }
    }

    #[test]
    fn past_the_end_of_time_there_is_nothing() {
        let zone = Zone::named("America/New_York").unwrap();
        assert_eq!(zone.moment(DateTime::MAX), None);
        assert_eq!(zone.reached(crate::Timestamp::MAX.as_millis()), None);
        assert_eq!(zone.reading(i64::MAX), None);
        assert_eq!(zone.reached(i64::MIN), None);
    }
}
