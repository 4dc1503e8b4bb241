//! What an acknowledgement of Redis is worth, read from its settings at start.

use std::collections::BTreeMap;

use redis::{RedisResult, Value, cmd};

use super::connection::Connection;
use super::trouble::{Remedy, remedy};

/// The one setting of `maxmemory-policy` under which nothing is removed.
const NO_EVICTION: &str = "noeviction";
/// What a user may do about a Redis that is objected to.
const OUTRIGHT: &str = "or allow it outright with --allow-unsafe-redis";

/// What the settings of one server say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Durability {
    eviction: String,
    persistence: Persistence,
}

/// How a server keeps its data over a stop, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Persistence {
    /// It does not tell its settings.
    Untold,
    None,
    Snapshots,
    LogWithoutSync,
    LogEverySecond,
    LogAlways,
}

impl Durability {
    /// Reads the settings of all servers that take writes; the weakest of them counts.
    pub(super) async fn read(connection: &mut Connection) -> RedisResult<Self> {
        let mut get = cmd("CONFIG");
        get.arg("GET").arg("maxmemory-policy").arg("append*").arg("save");
        let servers = match connection.send_to_all(&get).await {
            Ok(servers) => servers,
            // Where somebody else runs Redis, its settings may be nobody's business.
            Err(trouble) if matches!(remedy(&trouble), Remedy::Refuse | Remedy::GiveUp) => {
                return Ok(Self::untold());
            }
            Err(trouble) => return Err(trouble),
        };
        let all = servers.into_iter().map(|server| Self::of(&settings(server)));
        // Any eviction counts; then the weakest persistence.
        let weakest = all.min_by_key(|server| (server.eviction == NO_EVICTION, server.persistence));
        Ok(weakest.unwrap_or_else(Self::untold))
    }

    fn untold() -> Self {
        Self { eviction: NO_EVICTION.to_owned(), persistence: Persistence::Untold }
    }

    fn of(settings: &BTreeMap<String, String>) -> Self {
        let get = |name: &str| settings.get(name).map_or("", String::as_str);
        let persistence = match (get("appendonly"), get("appendfsync"), get("save")) {
            ("yes", "always", _) => Persistence::LogAlways,
            ("yes", "everysec", _) => Persistence::LogEverySecond,
            ("yes", _, _) => Persistence::LogWithoutSync,
            (_, _, "") => Persistence::None,
            _ => Persistence::Snapshots,
        };
        Self { eviction: get("maxmemory-policy").to_owned(), persistence }
    }

    /// Why this store should not be used, if there is a reason.
    pub(super) fn objection(&self) -> Option<String> {
        if self.eviction != NO_EVICTION {
            return Some(format!(
                "Redis would remove tasks when its memory is full (maxmemory-policy {}); \
                 set maxmemory-policy to noeviction, {OUTRIGHT}",
                self.eviction
            ));
        }
        let lost = match self.persistence {
            Persistence::Untold => {
                return Some(format!(
                    "Redis does not tell its settings, so it may lose tasks; \
                     permit CONFIG GET, {OUTRIGHT}"
                ));
            }
            Persistence::None => "everything",
            Persistence::Snapshots => "everything since its last snapshot",
            _ => return None,
        };
        Some(format!("Redis would lose {lost} when it stops; set appendonly to yes, {OUTRIGHT}"))
    }

    /// What an acknowledgement is worth, in a few words.
    pub(super) fn describe(&self, wait_replicas: u32) -> String {
        let mut text = match self.persistence {
            Persistence::Untold => "Redis does not tell what it keeps",
            Persistence::None => "Redis keeps it in memory only: a stop loses everything",
            Persistence::Snapshots => {
                "Redis saves snapshots: a crash loses all answers since the last one"
            }
            Persistence::LogWithoutSync => {
                "Redis logs it (appendfsync no): a crash of its machine loses what was not yet written"
            }
            Persistence::LogEverySecond => {
                "Redis logs it (appendfsync everysec): a crash may lose up to about 2 seconds of answers"
            }
            Persistence::LogAlways => {
                "Redis logs it (appendfsync always): every answer is on its disk"
            }
        }
        .to_owned();
        match wait_replicas {
            0 => {}
            1 => text.push_str(", and 1 replica has it in memory"),
            n => text.push_str(&format!(", and {n} replicas have it in memory")),
        }
        if self.eviction != NO_EVICTION {
            text.push_str("; it removes tasks when its memory is full");
        }
        text
    }
}

fn settings(value: Value) -> BTreeMap<String, String> {
    redis::from_redis_value(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(policy: &str, appendonly: &str, appendfsync: &str, save: &str) -> Durability {
        let pairs = [
            ("maxmemory-policy", policy),
            ("appendonly", appendonly),
            ("appendfsync", appendfsync),
            ("save", save),
        ];
        Durability::of(&pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
    }

    #[test]
    fn what_would_lose_tasks_is_objected_to() {
        for (policy, appendonly, is_fine) in [
            ("noeviction", "yes", true),
            ("noeviction", "no", false),
            ("allkeys-lru", "yes", false),
        ] {
            let durability = of(policy, appendonly, "everysec", "");
            assert_eq!(durability.objection().is_none(), is_fine, "{durability:?}");
        }
        assert!(of("noeviction", "no", "", "3600 1").objection().unwrap().contains("snapshot"));
        assert!(Durability::untold().objection().unwrap().contains("CONFIG GET"));
    }

    #[test]
    fn what_an_answer_is_worth_is_said() {
        assert!(of("noeviction", "yes", "always", "").describe(0).contains("every answer"));
        assert!(of("noeviction", "yes", "everysec", "").describe(2).contains("2 replicas"));
        assert!(of("allkeys-lru", "no", "", "").describe(0).contains("loses everything"));
    }
}
