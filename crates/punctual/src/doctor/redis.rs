//! A store in Redis: its settings, its clock, and whether records and indexes agree.

use punctual_store::redis::{Examination, RedisStore};

use super::Check;
use crate::place::RedisPlace;

/// How far clocks may be apart before it is worth a word.
const CLOCK_OFF_MS_MAX: i64 = 5_000;

/// Looks at a store in Redis.
pub(super) async fn examine(place: &RedisPlace, is_mending: bool) -> Vec<Check> {
    let seen = match RedisStore::examine(place.options(), is_mending).await {
        Ok(seen) => seen,
        Err(error) => {
            let advice = "start Redis, or correct --store and the login";
            return vec![Check::fail("connection", vec![error.to_string()], advice)];
        }
    };
    let mut checks = vec![settings(&seen), clock(&seen)];
    checks.push(match seen.empty_shards {
        0 => records(place, seen.findings, is_mending).await,
        n if n == seen.shards => Check::fail(
            "records",
            vec!["there is no store under this prefix".to_owned()],
            "correct --store or --prefix; a server makes the store when it starts",
        ),
        n => Check::fail(
            "records",
            vec![format!("{n} of {} shards are empty", seen.shards)],
            "part of Redis has lost its data: look for a backup before servers go on",
        ),
    });
    checks
}

fn settings(seen: &Examination) -> Check {
    match &seen.objection {
        None => Check::ok("settings", &*seen.durability),
        Some(objection) => Check::fail(
            "settings",
            vec![objection.clone()],
            "change them in redis.conf, and at once with CONFIG SET",
        ),
    }
}

fn clock(seen: &Examination) -> Check {
    let ms = seen.clock_ahead_ms;
    let side = if ms < 0 { "behind" } else { "ahead of" };
    let found = format!("Redis's clock is {} ms {side} this machine's", ms.abs());
    if ms.abs() <= CLOCK_OFF_MS_MAX {
        return Check::ok("clock of Redis", found);
    }
    let advice = "Redis's clock decides what is due; set both by NTP";
    Check::fail("clock of Redis", vec![found], advice)
}

async fn records(place: &RedisPlace, findings: Vec<String>, is_mending: bool) -> Check {
    if findings.is_empty() {
        return Check::ok("records", "every record is in its indexes, every entry has its record");
    }
    if !is_mending {
        let advice = "mend the indexes from the records: punctual doctor --repair";
        return Check::fail("records", findings, advice);
    }
    // What was mended may have hidden something else.
    match RedisStore::examine(place.options(), true).await {
        Ok(seen) if seen.findings.is_empty() => {
            let found = findings.into_iter().map(|line| format!("{line}; mended")).collect();
            Check { found, ..Check::ok("records", "") }
        }
        Ok(seen) => {
            Check::fail("records", seen.findings, "repeat it; if this stays, report it as a bug")
        }
        Err(error) => Check::fail("records", vec![error.to_string()], "repeat it"),
    }
}
