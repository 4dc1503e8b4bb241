//! Times and lengths of time as people read them.

use punctual_client::{Span, Timestamp};
use punctual_store::{Clock, SystemClock};

use crate::output::brief;

/// A time, and how long ago that was or how far away it is.
pub(crate) fn when(at: Timestamp) -> String {
    let now = SystemClock::new().now().wall;
    if at > now {
        return format!("{at} (in {})", brief(at.since(now).as_secs_f64()));
    }
    format!("{at} ({} ago)", brief(now.since(at).as_secs_f64()))
}

/// A time by the clocks of a zone; in UTC if the zone is not known here.
pub(crate) fn local(at: Timestamp, zone: &str) -> String {
    let local = jiff::Timestamp::from_millisecond(at.as_millis()).and_then(|at| at.in_tz(zone));
    let format = match at.as_millis() % 1_000 {
        0 => "%Y-%m-%dT%H:%M:%S%:z",
        _ => "%Y-%m-%dT%H:%M:%S%.3f%:z",
    };
    match local {
        Ok(local) if zone != "UTC" => local.strftime(format).to_string(),
        _ => at.to_string(),
    }
}

/// A length of time to the millisecond, as it would be given: `7d`, `1h30m`, `0.25s`.
pub(crate) fn length(span: Span) -> String {
    let millis = span.as_millis();
    if millis <= 0 || millis % 1_000 != 0 {
        return format!("{}s", millis as f64 / 1e3);
    }
    let seconds = millis / 1_000;
    let parts = [
        (seconds / 86_400, 'd'),
        (seconds / 3_600 % 24, 'h'),
        (seconds / 60 % 60, 'm'),
        (seconds % 60, 's'),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, unit)| format!("{count}{unit}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_as_they_are_given() {
        for (millis, text) in [
            (604_800_000, "7d"),
            (5_400_000, "1h30m"),
            (90_061_000, "1d1h1m1s"),
            (30_000, "30s"),
            (250, "0.25s"),
            (0, "0s"),
        ] {
            assert_eq!(length(Span::from_millis(millis)), text);
            assert_eq!(Span::parse(text).map(|span| span.as_millis()), Some(millis), "{text}");
        }
    }

    #[test]
    fn times_are_those_of_a_zone() {
        let at = Timestamp::parse("2099-01-31T17:00:00Z").unwrap();
        assert_eq!(local(at, "Europe/Berlin"), "2099-01-31T18:00:00+01:00");
        assert_eq!(local(at, "UTC"), "2099-01-31T17:00:00.000Z");
        assert_eq!(local(at, "No/Where"), "2099-01-31T17:00:00.000Z");
        assert!(when(at).contains(" (in ") && when(Timestamp::from_millis(0)).ends_with(" ago)"));
    }
}
