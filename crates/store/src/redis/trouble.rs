//! What is wrong when Redis does not do what it was asked, and what helps.

use redis::{ErrorKind, RedisError, ServerErrorKind};

/// The hint for a slot that moves.
const MOVING: &str = "the data is being moved in its Cluster";

/// What to do about an error.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// The script is not loaded: load it.
    Load,
    /// It passes by itself; nothing was changed.
    Wait,
    /// Another connection is needed; nothing was changed.
    Reconnect,
    /// Another connection is needed, and whether the request was carried out is not known.
    ReconnectInDoubt,
    /// It is for people to solve; nothing was changed.
    Refuse,
    /// It should not happen; whether the request was carried out is not known.
    GiveUp,
}

/// What helps against an error.
pub(super) fn remedy(error: &RedisError) -> Remedy {
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::NoScript) => Remedy::Load,
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::Moved
            | ServerErrorKind::Ask,
        ) => Remedy::Wait,
        ErrorKind::Server(ServerErrorKind::ReadOnly | ServerErrorKind::MasterDown) => {
            Remedy::Reconnect
        }
        ErrorKind::Server(ServerErrorKind::NoPerm)
        | ErrorKind::AuthenticationFailed
        | ErrorKind::InvalidClientConfig
        | ErrorKind::RESP3NotSupported
        | ErrorKind::MasterNameNotFoundBySentinel => Remedy::Refuse,
        ErrorKind::ClusterConnectionNotFound => Remedy::Reconnect,
        ErrorKind::Io | ErrorKind::Parse | ErrorKind::Client => Remedy::ReconnectInDoubt,
        ErrorKind::Server(ServerErrorKind::ResponseError) | ErrorKind::Extension => {
            by_text(error.code().unwrap_or_default(), &error.to_string())
        }
        _ => Remedy::GiveUp,
    }
}

/// Errors that the client library does not know, by their code. A script passes on the code of the
/// command that failed in it.
fn by_text(code: &str, text: &str) -> Remedy {
    match code {
        "BUSY" | "UNKILLABLE" => Remedy::Wait,
        "OOM" | "NOREPLICAS" | "MISCONF" | "NOAUTH" | "WRONGPASS" => Remedy::Refuse,
        _ if is_about_moving(text) => Remedy::Wait,
        _ => Remedy::GiveUp,
    }
}

/// Whether a script failed because the slot of its shard is moving: in the words of Redis 7, and in those of
/// newer releases and Valkey.
fn is_about_moving(text: &str) -> bool {
    text.contains("non local key") || text.contains("during rehashing of")
}

/// What is wrong, for people.
pub(super) fn describe(error: &RedisError) -> String {
    let hint = match error.code() {
        Some("OOM") => "it is out of memory",
        Some("NOREPLICAS") => "too few replicas are connected to it",
        Some("MISCONF") => "it cannot write to its disk",
        Some("READONLY") => "it is a replica now",
        Some("MASTERDOWN") => "it is a replica without its primary",
        Some("LOADING") => "it is loading its data",
        Some("BUSY" | "UNKILLABLE") => "it is busy with a script",
        Some("CLUSTERDOWN") => "its Cluster is down",
        Some("TRYAGAIN" | "MOVED" | "ASK") => MOVING,
        Some("NOAUTH" | "WRONGPASS") => "it does not accept the password",
        _ if error.is_timeout() => "it does not answer",
        _ if is_about_moving(&error.to_string()) => MOVING,
        _ => return format!("Redis: {error}"),
    };
    format!("Redis: {hint} ({error})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server_error(line: &str) -> RedisError {
        match redis::parse_redis_value(format!("-{line}\r\n").as_bytes()) {
            Ok(redis::Value::ServerError(error)) => error.into(),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn every_error_of_the_server_has_its_remedy() {
        for (line, expected) in [
            ("NOSCRIPT No matching script. Please use EVAL.", Remedy::Load),
            ("LOADING Redis is loading the dataset in memory", Remedy::Wait),
            ("BUSY Redis is busy running a script.", Remedy::Wait),
            ("TRYAGAIN Multiple keys request during rehashing of slot", Remedy::Wait),
            ("CLUSTERDOWN The cluster is down", Remedy::Wait),
            (
                "ERR Script attempted to access a non local key in a cluster node script: f",
                Remedy::Wait,
            ),
            (
                "ERR Script attempted to access undeclared keys: undeclared keys were accessed during \
                 rehashing of the slot",
                Remedy::Wait,
            ),
            ("READONLY You can't write against a read only replica.", Remedy::Reconnect),
            ("MASTERDOWN Link with MASTER is down", Remedy::Reconnect),
            ("OOM command not allowed when used memory > 'maxmemory'.", Remedy::Refuse),
            ("NOREPLICAS Not enough good replicas to write.", Remedy::Refuse),
            ("MISCONF Errors writing to the AOF file", Remedy::Refuse),
            ("NOAUTH Authentication required.", Remedy::Refuse),
            ("ERR user_script:1: attempt to index nil", Remedy::GiveUp),
        ] {
            assert_eq!(remedy(&server_error(line)), expected, "{line}");
        }
        for line in ["MOVED 5292 127.0.0.1:7001", "ASK 5292 127.0.0.1:7001", "TRYAGAIN Later"] {
            let (error, hint) = (server_error(line), format!("Redis: {MOVING}"));
            assert!(describe(&error).starts_with(&hint), "{}", describe(&error));
            assert_eq!(remedy(&error), Remedy::Wait);
        }
        let lost = RedisError::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert_eq!(remedy(&lost), Remedy::ReconnectInDoubt);
    }
}
