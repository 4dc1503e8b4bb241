//! Short words for the tables.

use punctual_core::Timestamp;
use punctual_core::calendar::{Position, Rule};

/// The rule of a request.
pub(crate) fn rule(json: &str) -> Rule {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// A time, written with any offset.
pub(crate) fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap_or_else(|| panic!("{text} is no time"))
}

/// The first occurrences of a rule that is set at `now`.
#[track_caller]
pub(crate) fn assert_times(json: &str, now: &str, expected: &[&str]) {
    let now = at(now);
    let times = rule(json).occurrences(Position::start(now, 0), now, expected.len());
    let expected: Vec<_> = expected.iter().map(|text| at(text)).collect();
    assert_eq!(written(&times), written(&expected), "{json} from {now}");
}

fn written(times: &[Timestamp]) -> Vec<String> {
    times.iter().map(ToString::to_string).collect()
}
